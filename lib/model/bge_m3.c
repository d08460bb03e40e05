#include "model/bge_m3.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "folder/folder.h"
#include "folder/safetensors.h"
#include "model/weights.h"
#include "nn/nn.h"

enum { OUTPUTS = 1 << 16 };

const char bge_m3_sparse[] = "sparse_linear.pt", bge_m3_vectors[] = "colbert_linear.pt";

bool
bge_m3_is(const char *dir)
{
	bool first = folder_has(dir, bge_m3_sparse);

	if (first != folder_has(dir, bge_m3_vectors))
		die("%s/%s: is not there, but %s is; a model of BGE-M3's kind has both",
		    dir, first ? bge_m3_vectors : bge_m3_sparse,
		    first ? bge_m3_sparse : bge_m3_vectors);
	return first;
}

/* A tensor of the layer, as f32 in nn memory. */
static float *
take(const struct safetensors *file, const struct safetensor *tensor)
{
	size_t bytes = tensor->count * sizeof(float);
	float *host = safetensors_floats(tensor), *made = nn_alloc(bytes);

	weights_demand_finite(safetensors_name(file), tensor, tensor->name);
	nn_upload(made, host, bytes);
	free(host);
	return made;
}

struct bge_m3_linear
bge_m3_read(const char *dir, const char *name, size_t in, size_t out)
{
	char *path = mem_format("%s/%s", dir, name);
	struct safetensors *file = safetensors_open(path);
	const struct safetensor *weight = safetensors_need(file, "weight"),
				*bias = safetensors_need(file, "bias");
	bool matrix = weight->rank == 2 && weight->shape[1] == (int64_t)in &&
		      weight->shape[0] >= 1 && weight->shape[0] <= OUTPUTS &&
		      (!out || weight->shape[0] == (int64_t)out);
	bool fits = matrix && bias->rank == 1 && bias->shape[0] == weight->shape[0];

	if (!fits || !dtype_is_float(weight->dtype) || !dtype_is_float(bias->dtype))
		die("%s: 'weight' and 'bias' are not a linear layer of floats from the model's %zu channels to %s",
		    path, in, out == 1 ? "one number" : "a vector");
	if (safetensors_count(file) != 2)
		die("%s: has other tensors than 'weight' and 'bias'", path);
	struct bge_m3_linear linear = { .weight = take(file, weight),
		.bias = take(file, bias),
		.in = in,
		.out = bias->count };
	safetensors_close(file);
	free(path);
	return linear;
}

void
bge_m3_free(struct bge_m3_linear *linear)
{
	nn_free(linear->weight, linear->in * linear->out * sizeof *linear->weight);
	nn_free(linear->bias, linear->out * sizeof *linear->bias);
}
