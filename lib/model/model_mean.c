/* A model whose weights are the means of those of several. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "folder/folder.h"
#include "model/model_internal.h"

/* Die unless both folders have the file, with the same bytes, or neither. */
static void
demand_same_file(const struct model *a, const struct model *b, const char *name)
{
	char *paths[] = { mem_format("%s/%s", a->dir, name),
		mem_format("%s/%s", b->dir, name) };
	size_t lengths[2] = { 0 };
	char *files[] = { file_read(paths[0], &lengths[0]),
		file_read(paths[1], &lengths[1]) };

	if (!files[0] != !files[1] || lengths[0] != lengths[1] ||
	    (files[0] && memcmp(files[0], files[1], lengths[0])))
		die("%s: is not %s; models of one tokenizer have a mean", paths[1],
		    paths[0]);
	for (int i = 0; i < 2; i++) {
		free(paths[i]);
		free(files[i]);
	}
}

/* Die unless b has the tensors of a, in their shapes. */
static void
demand_same_tensors(const struct model *a, const struct model *b)
{
	for (int i = 0; i < HEAD_MODULES; i++)
		if (a->head_files[i] || b->head_files[i])
			die("%s: has weights behind its pooling, of which no mean is "
			    "made",
			    a->head_files[i] ? a->dir : b->dir);
	if (a->weights.own != b->weights.own)
		die("%s: has %d tensors, %s %d; models of one shape have a mean", b->dir,
		    b->weights.own, a->dir, a->weights.own);
	for (int i = 0; i < a->weights.own; i++) {
		const struct safetensor *x = a->weights.stored[i],
					*y = b->weights.stored[i];
		if (strcmp(x->name, y->name) || x->rank != y->rank ||
		    memcmp(x->shape, y->shape, (size_t)x->rank * sizeof *x->shape))
			die("%s: the tensor '%s' is not as '%s' of %s is; models of one "
			    "shape have a mean",
			    b->dir, y->name, x->name, a->dir);
	}
}

/* Of tensor i, in double precision and in the type of the first model. */
static void
put_mean(struct safetensors_writer *writer, const struct model *models, int count, int i)
{
	const struct safetensor *first = models->weights.stored[i];
	size_t n = first->count;
	double *sum = mem_zero(n, sizeof *sum);
	float *values = mem_new(n, sizeof *values);
	void *stored = mem_new(n, dtype_size(first->dtype));

	for (int m = 0; m < count; m++) {
		const struct safetensor *one = models[m].weights.stored[i];
		tensor_to_f32(values, one->data, one->dtype, n);
		for (size_t j = 0; j < n; j++)
			sum[j] += (double)values[j];
	}
	for (size_t j = 0; j < n; j++)
		values[j] = (float)(sum[j] / count);
	tensor_from_f32(stored, first->dtype, values, n);
	safetensors_put(writer, stored, n * dtype_size(first->dtype));
	free(stored);
	free(values);
	free(sum);
}

void
model_mean(const char *const *from, int count, const char *dir)
{
	static const char *const files[] = { "tokenizer.json", "vocab.txt", "vocab.json",
		"merges.txt", "sentencepiece.bpe.model", "spiece.model" };
	struct model *models = mem_zero((size_t)count, sizeof *models);

	for (int m = 0; m < count; m++) {
		model_open_stored(&models[m], from[m]);
		if (m) {
			demand_same_tensors(models, &models[m]);
			/* other ids would say nothing of these weights */
			for (size_t i = 0; i < sizeof files / sizeof *files; i++)
				demand_same_file(models, &models[m], files[i]);
		}
	}
	char *folder = model_begin_folder(models, dir);
	char *path = mem_format("%s/model.safetensors", folder);
	int own = models->weights.own;
	struct safetensor *tensors = mem_new((size_t)own, sizeof *tensors);
	for (int i = 0; i < own; i++)
		tensors[i] = *models->weights.stored[i];
	struct safetensors_writer *writer =
	    safetensors_create(path, tensors, own, NULL, NULL);
	for (int i = 0; i < own; i++)
		put_mean(writer, models, count, i);
	safetensors_finish(writer);
	folder_commit(folder, dir);
	for (int m = 0; m < count; m++)
		model_close_stored(&models[m]);
	free(models);
	free(tensors);
	free(path);
}
