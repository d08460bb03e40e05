/* A LoRA adapter folded into the weights of its model: W + scale B A in the place of W. */
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "folder/folder.h"
#include "model/model_internal.h"

static void
put_f32(float *to, const struct safetensor *from)
{
	float *host = mem_new(from->count, sizeof *host);

	tensor_to_f32(host, from->data, from->dtype, from->count);
	nn_upload(to, host, from->count * sizeof *host);
	free(host);
}

/* W + scale B A, in the type of W. */
static void
put_merged(struct safetensors_writer *writer, const struct safetensor *w,
    const struct adapter_pair *pair, const char *adapter)
{
	size_t rank = (size_t)pair->rank, in = pair->a->count / rank;
	float *a = nn_alloc(pair->a->count * sizeof *a);
	float *b = nn_alloc(pair->b->count * sizeof *b);
	float *merged = nn_alloc(w->count * sizeof *merged);

	put_f32(a, pair->a);
	put_f32(b, pair->b);
	put_f32(merged, w);
	nn_product_nn(
	    merged, b, a, pair->b->count / rank, in, rank, (float)pair->scale, 1);
	if (!nn_finite(merged, w->count))
		die("%s: with it, the tensor '%s' holds values that are not finite (NaN "
		    "or infinity)",
		    adapter, w->name);
	model_put(writer, merged, w->count, w->dtype);
	nn_free(a, pair->a->count * sizeof *a);
	nn_free(b, pair->b->count * sizeof *b);
	nn_free(merged, w->count * sizeof *merged);
}

/* The pair of each tensor of the model; NULL: it has none. */
static const struct adapter_pair **
pairs_of(const struct model *model, const struct adapter *adapter)
{
	const struct adapter_pair **pairs =
	    mem_zero((size_t)model->weights.count, sizeof *pairs);

	for (int i = 0; i < adapter_count(adapter); i++) {
		const struct adapter_pair *pair = adapter_at(adapter, i);
		int tensor = gates_tensor(model, adapter, pair);
		if (pairs[tensor])
			die("%s: the tensor '%s' has two pairs", adapter_name(adapter),
			    model->weights.tensors[tensor].name);
		pairs[tensor] = pair;
	}
	return pairs;
}

void
model_merge(const char *from, const char *dir, const char *lora)
{
	struct model model;

	model_open_stored(&model, from);
	struct adapter *adapter = gates_adapter(&model, lora);
	const struct weights *weights = &model.weights;
	const struct adapter_pair **pairs = pairs_of(&model, adapter);
	char *folder = model_begin_folder(&model, dir);
	struct safetensor *tensors = mem_new((size_t)weights->own, sizeof *tensors);

	for (int i = 0; i < weights->own; i++) {
		tensors[i] = *weights->stored[i];
		tensors[i].name = weights->tensors[i].name;
	}
	struct safetensors_writer *writer =
	    model_create_weights(&model, folder, tensors, weights->own, NULL);
	for (int i = 0; i < weights->own; i++)
		if (pairs[i])
			put_merged(writer, &tensors[i], pairs[i], adapter_name(adapter));
		else
			safetensors_put(writer, tensors[i].data,
			    tensors[i].count * dtype_size(tensors[i].dtype));
	model_finish_weights(&model, writer, NULL);
	folder_commit(folder, dir);
	adapter_close(adapter);
	free(pairs);
	free(tensors);
	model_close_stored(&model);
}
