/* The matrices of linear layers in eight bits: made when a folder is opened, or kept in a file beside its weights. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "folder/folder.h"
#include "model/model_internal.h"

/* What the file says it was made of: the weights, and how they are grouped. */
static const char note[] = "int8_of";

struct quantized {
	char *path;
	char of[32];
	struct safetensors *file; /* NULL: they are in memory */
	char *rows;
	size_t bytes;
};

/* Marks the tensors that are made so. */
static unsigned char *
choose(const struct model *model)
{
	static const enum block_parameter kept[] = { BLOCK_ROUTER, BLOCK_SHARED_GATE };
	unsigned char *marks = gates_layers(model);
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

/* As the file has it: rows of bytes. */
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

/* The file, when it is there and of these weights. */
static struct safetensors *
open_kept(const struct model *model, const struct quantized *quantized, bool keep)
{
	if (access(quantized->path, F_OK))
		return NULL;
	struct safetensors *file = safetensors_open(quantized->path);
	const char *of = safetensors_note(file, note);
	if (of && !strcmp(of, quantized->of))
		return file;
	warn("%s: was not made of the weights of %s; %s", quantized->path, model->dir,
	    keep ? "it is made anew" : "it is not used (--weights-cache makes it anew)");
	safetensors_close(file);
	return NULL;
}

static void
write_kept(const struct model *model, const struct quantized *quantized,
    const unsigned char *marks)
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
	struct safetensors_writer *writer =
	    safetensors_create(quantized->path, all, count, note, quantized->of);
	count = 0;
	for (int i = 0; i < weights->count; i++) {
		if (!marks[i])
			continue;
		quantize(model, i, rows);
		safetensors_put(writer, rows, all[count++].count);
	}
	safetensors_finish(writer);
	free(rows);
	free(all);
}

/* A matrix where it lies in the file. */
static const void *
find(const struct quantized *quantized, const struct safetensor *wanted)
{
	const struct safetensor *tensor = safetensors_need(quantized->file, wanted->name);

	if (tensor->dtype != wanted->dtype || tensor->rank != wanted->rank ||
	    memcmp(tensor->shape, wanted->shape, 2 * sizeof *wanted->shape))
		die("%s: tensor '%s' is not the rows that are expected; remove the file",
		    quantized->path, wanted->name);
	return tensor->data;
}

void
quantized_load(struct model *model, bool keep)
{
	const struct weights *weights = &model->weights;
	struct quantized *quantized = model->quantized = mem_zero(1, sizeof *quantized);
	unsigned char *marks = choose(model);
	size_t at = 0, most = 0;

	quantized->path = mem_format("%s/" FOLDER_INT8, model->folder);
	snprintf(quantized->of, sizeof quantized->of, "%016" PRIx64 " %d",
	    safetensors_fingerprint(model->file), NN_GROUP);
	quantized->file = open_kept(model, quantized, keep);
	if (!quantized->file && keep) {
		write_kept(model, quantized, marks);
		quantized->file = safetensors_open(quantized->path);
	}
	for (int i = 0; i < weights->count; i++) {
		size_t size = marks[i] ? describe(&weights->tensors[i]).count : 0;
		most = size > most ? size : most;
		quantized->bytes += size;
	}
	if (!quantized->file)
		quantized->rows = nn_alloc(quantized->bytes);
	char *made = quantized->file ? NULL : mem_new(most, 1);
	for (int i = 0; i < weights->count; i++) {
		const struct parameter *p = &weights->tensors[i];
		struct safetensor rows = describe(p);
		if (!marks[i])
			continue;
		if (quantized->file) {
			model->data[i] = nn_matrix_of_rows(find(quantized, &rows),
			    (size_t)p->rows, (size_t)p->columns, &model->copied[i]);
			continue;
		}
		quantize(model, i, made);
		nn_upload(quantized->rows + at, made, rows.count);
		model->data[i] =
		    (struct nn_matrix){ .at = quantized->rows + at, .dtype = DTYPE_I8 };
		at += rows.count;
	}
	free(made);
	inform("%s: %zu MB of weights in eight bits, %s %s", model->dir,
	    quantized->bytes >> 20, quantized->file ? "mapped from" : "not kept in",
	    quantized->path);
	free(marks);
}

const char *
quantized_file(const struct quantized *quantized)
{
	return quantized && quantized->file ? quantized->path : NULL;
}

void
quantized_free(struct quantized *quantized)
{
	if (!quantized)
		return;
	safetensors_close(quantized->file);
	nn_free(quantized->rows, quantized->bytes);
	free(quantized->path);
	free(quantized);
}
