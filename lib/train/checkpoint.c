#include "train/checkpoint.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "folder/safetensors.h"
#include "nn/nn.h"
#include "text/json.h"

static struct safetensor
vector(const char *name, enum dtype dtype, size_t count)
{
	return (struct safetensor){
		.name = name,
		.dtype = dtype,
		.rank = 1,
		.shape = { (int64_t)count },
		.count = count,
	};
}

void
checkpoint_write(
    const char *path, struct model *model, struct optim *optim, const struct tree *state)
{
	size_t size = model_size(model), parameters = optim_pieces(optim);
	const float *blocks[] = { model_values(model), optim_first(optim),
		optim_second(optim) };
	char *text = json_text(state, 0);
	struct safetensor tensors[] = {
		vector("values", DTYPE_F32, size),
		vector("exp_avg", DTYPE_F32, size),
		vector("exp_avg_sq", DTYPE_F32, size),
		vector("counts", DTYPE_I64, parameters),
		vector("state", DTYPE_U8, strlen(text)),
	};
	struct safetensors_writer *writer =
	    safetensors_create(path, tensors, 5, NULL, NULL);

	for (int i = 0; i < 3; i++)
		model_put(writer, blocks[i], size, DTYPE_F32);
	safetensors_put(writer, optim_counts(optim), parameters * sizeof(int64_t));
	safetensors_put(writer, text, strlen(text));
	safetensors_finish(writer);
	free(text);
}

static const struct safetensor *
need(struct safetensors *file, const char *path, const char *name, enum dtype dtype)
{
	const struct safetensor *tensor = safetensors_find(file, name);

	if (!tensor || tensor->dtype != dtype)
		die("%s: is no checkpoint of train: it has no tensor \"%s\" (%s)", path,
		    name, dtype_name(dtype));
	return tensor;
}

struct tree *
checkpoint_state(const char *path)
{
	if (access(path, F_OK) != 0)
		return NULL;

	struct safetensors *file = safetensors_open(path);
	const struct safetensor *text = need(file, path, "state", DTYPE_U8);
	struct tree *state = json_parse(text->data, text->count, path, 1);
	safetensors_close(file);
	return state;
}

void
checkpoint_restore(const char *path, struct model *model, struct optim *optim)
{
	static const char *const names[] = { "values", "exp_avg", "exp_avg_sq" };
	float *blocks[] = { model_values(model), optim_first(optim),
		optim_second(optim) };
	struct safetensors *file = safetensors_open(path);
	const struct safetensor *counts = need(file, path, "counts", DTYPE_I64);
	size_t size = model_size(model), parameters = optim_pieces(optim);

	if (counts->count != parameters)
		die("%s: has %zu parameters, the model has %zu; it is of another model",
		    path, counts->count, parameters);
	memcpy(optim_counts(optim), counts->data, parameters * sizeof(int64_t));
	for (int i = 0; i < 3; i++) {
		const struct safetensor *block = need(file, path, names[i], DTYPE_F32);
		if (block->count != size)
			die("%s: \"%s\" has %zu elements, the model has %zu; it is of "
			    "another model",
			    path, names[i], block->count, size);
		nn_upload(blocks[i], block->data, size * sizeof(float));
	}
	safetensors_close(file);
}
