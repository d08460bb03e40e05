#include "train/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "folder/safetensors.h"
#include "nn/nn.h"
#include "ranks/ranks.h"
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

/* The file that all ranks write, made by the first. */
struct shared_file {
	char path[PATH_MAX];
	uint64_t data; /* bytes before the first tensor */
};

static struct shared_file
find_file(struct safetensors_writer *writer)
{
	size_t ranks = (size_t)ranks_count(), data = 0;
	struct shared_file own = { .path = "" }, *all = mem_new(ranks, sizeof *all);

	if (writer) {
		char *name = safetensors_place(writer, ranks > 1, &data);
		snprintf(own.path, sizeof own.path, "%s", name);
		own.data = data;
		free(name);
	}
	ranks_gather(all, &own, sizeof own);
	own = all[0];
	free(all);
	return own;
}

static void
put_at(int file, const char *path, const void *data, size_t bytes, size_t at)
{
	for (ssize_t done; bytes; bytes -= (size_t)done, at += (size_t)done) {
		done = pwrite(file, data, bytes, (off_t)at);
		if (done < 0)
			die("%s:", path);
		data = (const char *)data + done;
	}
}

/* Writes floats of nn memory, a strip at a time. */
static void
put_floats(int file, const char *path, const float *values, size_t count, size_t at)
{
	enum { STRIP = 1 << 18 };
	float *host = mem_new(STRIP, sizeof *host);

	for (size_t i = 0; i < count; i += STRIP) {
		size_t bytes = (count - i < STRIP ? count - i : STRIP) * sizeof *host;
		nn_download(host, values + i, bytes);
		put_at(file, path, host, bytes, at + i * sizeof *host);
	}
	free(host);
}

/* Writes this rank's parts of values and moments. */
static void
put_parts(int file, const char *path, const struct checkpoint_arrays *arrays, size_t data)
{
	struct model *model = arrays->model;
	const struct optim *optim = arrays->optim;
	size_t block = model_size(model) * sizeof(float);

	for (size_t i = 0; i < optim_parts(optim); i++) {
		struct optim_part part = optim_part(optim, i);
		size_t at = data + part.offset * sizeof(float);
		put_floats(file, path, model_values(model) + part.offset, part.count, at);
		put_floats(file, path, part.first, part.count, at + block);
		put_floats(file, path, part.second, part.count, at + 2 * block);
		if (arrays->average)
			put_floats(file, path, weight_average_part(arrays->average, i),
			    part.count, at + 3 * block);
	}
}

static void
rank_barrier(void)
{
	char own = 0, *all = mem_new((size_t)ranks_count(), 1);

	ranks_gather(all, &own, 1);
	free(all);
}

void
checkpoint_write(
    const char *path, const struct checkpoint_arrays *arrays, const struct tree *state)
{
	size_t size = model_size(arrays->model), units = optim_units(arrays->optim);
	size_t blocks = arrays->average ? 4 : 3;
	char *text = json_text(state, 0);
	struct safetensor tensors[6] = {
		vector("values", DTYPE_F32, size),
		vector("exp_avg", DTYPE_F32, size),
		vector("exp_avg_sq", DTYPE_F32, size),
		vector("ema", DTYPE_F32, size),
	};
	tensors[blocks] = vector("counts", DTYPE_I64, units);
	tensors[blocks + 1] = vector("state", DTYPE_U8, strlen(text));
	struct safetensors_writer *writer =
	    ranks_own() ? NULL
			: safetensors_create(path, tensors, blocks + 2, NULL, NULL);
	struct shared_file shared = find_file(writer);
	int file = open(shared.path, O_WRONLY | O_CLOEXEC);

	if (file < 0)
		die("%s: all ranks write to it, on a file system that they share:",
		    shared.path);
	put_parts(file, path, arrays, shared.data);
	if (writer) {
		size_t at = shared.data + blocks * size * sizeof(float);
		size_t bytes = units * sizeof(int64_t);
		put_at(file, path, optim_counts(arrays->optim), bytes, at);
		put_at(file, path, text, strlen(text), at + bytes);
	}
	if ((fsync(file) && errno != EINVAL && errno != EROFS) || close(file))
		die("%s:", path);
	rank_barrier();
	if (writer)
		safetensors_finish(writer);
	rank_barrier();
	free(text);
}

static const struct safetensor *
need(struct safetensors *file, const char *path, const char *name, enum dtype dtype)
{
	const struct safetensor *tensor = safetensors_find(file, name);

	if (!tensor || tensor->dtype != dtype)
		die("%s: is not a checkpoint of train: it has no tensor \"%s\" (%s)",
		    path, name, dtype_name(dtype));
	return tensor;
}

struct tree *
checkpoint_state(const char *path)
{
	if (access(path, F_OK) != 0)
		return NULL;

	struct safetensors *file = safetensors_open(path);
	const struct safetensor *text = need(file, path, "state", DTYPE_U8);
	struct tree *state = json_parse(text->data, text->count, path, 0);
	safetensors_close(file);
	return state;
}

/* A tensor with a float for each parameter element. */
static const float *
need_block(struct safetensors *file, const char *path, const char *name,
    const struct model *model)
{
	const struct safetensor *block = need(file, path, name, DTYPE_F32);

	if (block->count != model_size(model))
		die("%s: \"%s\" has %zu elements, the model has %zu; it is of another model",
		    path, name, block->count, model_size(model));
	return block->data;
}

void
checkpoint_restore(const char *path, const struct checkpoint_arrays *arrays)
{
	struct model *model = arrays->model;
	struct optim *optim = arrays->optim;
	struct safetensors *file = safetensors_open(path);
	const struct safetensor *counts = need(file, path, "counts", DTYPE_I64);
	size_t units = optim_units(optim);

	if (counts->count != units)
		die("%s: has %zu parameters, the model has %zu; it is of another model",
		    path, counts->count, units);
	memcpy(optim_counts(optim), counts->data, units * sizeof(int64_t));
	const float *values = need_block(file, path, "values", model),
		    *first = need_block(file, path, "exp_avg", model),
		    *second = need_block(file, path, "exp_avg_sq", model),
		    *average =
			arrays->average ? need_block(file, path, "ema", model) : NULL;
	nn_upload(model_values(model), values, model_size(model) * sizeof(float));
	for (size_t i = 0; i < optim_parts(optim); i++) {
		struct optim_part part = optim_part(optim, i);
		size_t bytes = part.count * sizeof(float);
		nn_upload(part.first, first + part.offset, bytes);
		nn_upload(part.second, second + part.offset, bytes);
		if (average)
			nn_upload(weight_average_part(arrays->average, i),
			    average + part.offset, bytes);
	}
	safetensors_close(file);
}
