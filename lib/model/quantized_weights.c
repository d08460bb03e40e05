#include "model/quantized_weights.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "folder/fingerprint.h"
#include "folder/folder.h"
#include "model/adapters.h"
#include "model/model_struct.h"
#include "model/weights_cache.h"

struct quantized_weights {
	struct weights_cache *kept;
	char *rows; /* NULL: they are mapped */
	size_t bytes;
};

/* Marks [weights.count] of the tensors that become int8. */
static unsigned char *
choose(const struct model *model)
{
	static const enum block_parameter kept[] = { BLOCK_ROUTER, BLOCK_SHARED_GATE,
		BLOCK_CONV };
	unsigned char *marks = adapters_layers(model);
	size_t blocks = model_block_index(model, model->spec.layers, -1);

	for (size_t b = 0; b < blocks; b++)
		for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
			int tensor = model->weights.blocks[b][kept[i]].tensor;
			if (tensor >= 0)
				marks[tensor] = 0;
		}
	return marks;
}

static size_t
row_size(const struct parameter *p)
{
	return nn_row_size(DTYPE_I8, (size_t)p->columns);
}

/* A tensor of the cache: rows of bytes. */
static struct safetensor
describe(const struct parameter *p)
{
	return (struct safetensor){ .name = p->name,
		.dtype = DTYPE_U8,
		.rank = 2,
		.shape = { p->rows, (int64_t)row_size(p) },
		.count = mem_multiply((size_t)p->rows, row_size(p), p->name) };
}

static void
quantize(const struct model *model, int tensor, void *to)
{
	const struct parameter *p = &model->weights.tensors[tensor];
	const struct safetensor *stored = model->weights.stored[tensor];

	if (!nn_quantize(
		to, stored->data, stored->dtype, (size_t)p->rows, (size_t)p->columns))
		die("%s: tensor '%s' holds values that are not finite (NaN or infinity)",
		    safetensors_name(model->file), p->name);
	safetensors_let_go(stored);
}

static void
keep_rows(
    const struct model *model, struct weights_cache *kept, const unsigned char *marks)
{
	const struct weights *weights = &model->weights;
	struct safetensor *all = mem_new((size_t)weights->count, sizeof *all);
	size_t most = 0;
	int count = 0;

	for (int i = 0; i < weights->count; i++) {
		if (!marks[i])
			continue;
		all[count] = describe(&weights->tensors[i]);
		most = all[count].count > most ? all[count].count : most;
		count++;
	}
	char *rows = mem_new(most, 1);
	struct safetensors_writer *writer = weights_cache_begin(kept, all, count);
	count = 0;
	for (int i = 0; i < weights->count; i++) {
		if (!marks[i])
			continue;
		quantize(model, i, rows);
		safetensors_put(writer, rows, all[count++].count);
	}
	weights_cache_finish(kept, writer);
	free(rows);
	free(all);
}

void
quantized_weights_load(struct model *model, bool keep)
{
	const struct weights *weights = &model->weights;
	struct quantized_weights *quantized = model->quantized =
	    mem_zero(1, sizeof *quantized);
	unsigned char *marks = choose(model);
	size_t at = 0, most = 0;
	char *of = mem_format(
	    "%016" PRIx64 " %d", fingerprint_quick(model->file, false), NN_QUANT_GROUP);

	quantized->kept = weights_cache_open(model, FOLDER_INT8, of, keep);
	free(of);
	if (keep && !weights_cache_path(quantized->kept))
		keep_rows(model, quantized->kept, marks);
	bool mapped = weights_cache_path(quantized->kept) != NULL;
	for (int i = 0; i < weights->count; i++) {
		size_t size = marks[i] ? describe(&weights->tensors[i]).count : 0;
		most = size > most ? size : most;
		quantized->bytes += size;
	}
	if (!mapped)
		quantized->rows = nn_alloc(quantized->bytes);
	char *made = mapped ? NULL : mem_new(most, 1);
	for (int i = 0; i < weights->count; i++) {
		struct safetensor rows = describe(&weights->tensors[i]);
		if (!marks[i])
			continue;
		model->data[i].dtype = DTYPE_I8;
		if (mapped) {
			model->data[i].at =
			    nn_bytes_of(weights_cache_find(quantized->kept, &rows),
				rows.count, 1, &model->copied[i]);
			continue;
		}
		quantize(model, i, made);
		nn_upload(quantized->rows + at, made, rows.count);
		model->data[i].at = quantized->rows + at;
		at += rows.count;
	}
	free(made);
	weights_cache_inform(model, quantized->kept, quantized->bytes);
	free(marks);
}

const char *
quantized_weights_file(const struct quantized_weights *quantized)
{
	return quantized ? weights_cache_path(quantized->kept) : NULL;
}

void
quantized_weights_free(struct quantized_weights *quantized)
{
	if (!quantized)
		return;
	weights_cache_close(quantized->kept);
	nn_free(quantized->rows, quantized->bytes);
	free(quantized);
}
