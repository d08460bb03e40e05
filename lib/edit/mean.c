#include "edit/mean.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "edit/alike.h"
#include "folder/folder.h"
#include "model/model_struct.h"
#include "model/save.h"

static bool
same_shape(const struct safetensor *a, const struct safetensor *b)
{
	return a->rank == b->rank &&
	       !memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape);
}

/* Dies unless b has the tensors of a, in their shapes. */
static void
demand_same_tensors(const struct model *a, const struct model *b)
{
	if (a->weights.count != b->weights.count)
		die("%s: has %d tensors, %s %d; models of one shape have a mean", b->dir,
		    b->weights.count, a->dir, a->weights.count);
	for (int i = 0; i < a->weights.count; i++) {
		const char *x = a->weights.tensors[i].name,
			   *y = b->weights.tensors[i].name;
		if (strcmp(x, y) ||
		    !same_shape(a->weights.stored[i], b->weights.stored[i]))
			die("%s: the tensor '%s' is not as '%s' of %s is; models of one shape have a mean",
			    b->dir, y, x, a->dir);
	}
}

void *
mean_of_tensors(const struct safetensor *const *tensors, int count)
{
	const struct safetensor *first = tensors[0];
	size_t n = first->count;
	double *sum = mem_zero(n, sizeof *sum);
	float *values = mem_new(n, sizeof *values);
	void *stored = mem_new(n, dtype_size(first->dtype));

	for (int m = 0; m < count; m++) {
		tensor_to_f32(values, tensors[m]->data, tensors[m]->dtype, n);
		for (size_t j = 0; j < n; j++)
			sum[j] += (double)values[j];
	}
	for (size_t j = 0; j < n; j++)
		values[j] = (float)(sum[j] / count);
	tensor_from_f32(stored, first->dtype, values, n);
	free(values);
	free(sum);
	return stored;
}

/* The tensor of that name and shape in weights.extra; NULL: there is none. */
static const struct safetensor *
extra_like(const struct model *model, const struct safetensor *wanted)
{
	const struct weights *weights = &model->weights;

	for (int i = 0; i < weights->extra_count; i++)
		if (!strcmp(weights->extra[i].name, wanted->name) &&
		    same_shape(&weights->extra[i], wanted) &&
		    dtype_is_float(weights->extra[i].dtype))
			return &weights->extra[i];
	return NULL;
}

/* Sets chosen[means, count], the tensors of each mean; returns the number of means.  A pooler or a head that a model lacks is
 * left out. */
static int
choose_tensors(const struct model *models, int count, const struct safetensor **chosen)
{
	const struct weights *weights = &models->weights;
	int means = 0;

	for (int i = 0; i < weights->own; i++, means++)
		for (int m = 0; m < count; m++)
			chosen[means * count + m] = models[m].weights.stored[i];
	for (int i = 0; i < weights->extra_count; i++) {
		const struct safetensor **row = &chosen[means * count];
		int has = 0;
		while (has < count &&
		       (row[has] = extra_like(&models[has], &weights->extra[i])))
			has++;
		if (has < count)
			warn(
			    "%s: lacks the tensor '%s' of %s, which is not a part of an embedding: it is left out",
			    models[has].dir, weights->extra[i].name, models->dir);
		means += has == count;
	}
	return means;
}

static void
write_means(const struct model *models, int count, const char *folder)
{
	const struct weights *weights = &models->weights;
	size_t most = (size_t)weights->own + (size_t)weights->extra_count;
	const struct safetensor **chosen = mem_new(most * (size_t)count, sizeof *chosen);
	struct safetensor *tensors = mem_new(most, sizeof *tensors);
	char *path = mem_format("%s/model.safetensors", folder);
	int means = choose_tensors(models, count, chosen);

	for (int i = 0; i < means; i++) {
		tensors[i] = *chosen[i * count];
		if (i < weights->own)
			tensors[i].name = weights->tensors[i].name;
	}
	struct safetensors_writer *writer =
	    safetensors_create(path, tensors, means, NULL, NULL);
	for (int i = 0; i < means; i++) {
		void *mean = mean_of_tensors(&chosen[i * count], count);
		safetensors_put(writer, mean, safetensors_bytes(&tensors[i]));
		free(mean);
	}
	safetensors_finish(writer);
	free(path);
	free(tensors);
	free(chosen);
}

/* Puts the means of the modules behind the pooling into the stored tensors of the first model, where model_begin_folder finds
 * them.  Returns the means, which the caller frees with their data. */
static struct safetensor *
mean_of_heads(struct model *models, int count)
{
	struct weights *weights = &models->weights;
	size_t heads = (size_t)(weights->count - weights->own);
	struct safetensor *means = mem_zero(heads + 1, sizeof *means);
	const struct safetensor **row = mem_new((size_t)count, sizeof *row);

	for (size_t i = 0; i < heads; i++) {
		size_t at = (size_t)weights->own + i;
		for (int m = 0; m < count; m++)
			row[m] = models[m].weights.stored[at];
		means[i] = *row[0];
		means[i].data = mean_of_tensors(row, count);
	}
	for (size_t i = 0; i < heads; i++)
		weights->stored[(size_t)weights->own + i] = &means[i];
	free(row);
	return means;
}

void
model_mean(const char *const *from, int count, const char *dir)
{
	struct model *models = mem_zero((size_t)count, sizeof *models);

	for (int m = 0; m < count; m++) {
		model_open_stored(&models[m], from[m]);
		if (m) {
			demand_same_tensors(models, &models[m]);
			demand_alike(models, &models[m]);
		}
	}
	struct safetensor *heads = mean_of_heads(models, count);
	char *folder = model_begin_folder(models, dir);
	write_means(models, count, folder);
	folder_commit(folder, dir);
	for (int i = 0; i < models->weights.count - models->weights.own; i++)
		free((void *)heads[i].data);
	free(heads);
	for (int m = 0; m < count; m++)
		model_close_stored(&models[m]);
	free(models);
}
