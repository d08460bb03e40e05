/*
 * safetensors - maps weights into memory; writes safetensors files.
 *
 * The reader checks the format before anything is used: names are unique, offsets cover the data without gap or
 * overlap, sizes agree with shapes, nothing lies outside the file.  The shards of model.safetensors.index.json are
 * read as one file. Files that end in .bin or .pt are those of torch.save (torch_file.h).  Tensors of a dtype that tensor.h
 * lacks are checked but not listed; safetensors_find dies on them.
 */
#ifndef FOLDER_SAFETENSORS_H
#define FOLDER_SAFETENSORS_H

#include <stdbool.h>
#include <stdint.h>

#include "stream/tensor.h"

enum { SAFETENSORS_RANK = 8 };

struct safetensor {
	const char *name;
	enum dtype dtype;
	int rank;
	int64_t shape[SAFETENSORS_RANK];
	size_t count;	  /* elements */
	const void *data; /* in the map; alignment is the file's */
};

struct safetensors;

/* Opens a file, or the weights of a folder (safetensors_in).  Dies on a malformed file, naming file and tensor, and on
 * a Git LFS pointer. */
struct safetensors *safetensors_open(const char *path);

/* The path of a folder's weights, to be freed: model.safetensors, else its index of shards, else pytorch_model.bin,
 * else its index; NULL: there are none. */
char *safetensors_in(const char *folder);

/* Returns NULL if no tensor has that name. */
const struct safetensor *safetensors_find(
    const struct safetensors *file, const char *name);

/* As safetensors_find, but dies if there is none. */
const struct safetensor *safetensors_need(
    const struct safetensors *file, const char *name);
int safetensors_count(const struct safetensors *file);

/* index: in the order of the file. */
const struct safetensor *safetensors_at(const struct safetensors *file, int index);
const char *safetensors_name(const struct safetensors *file); /* for messages */

/* A value of __metadata__ of the first shard; NULL: there is none. */
const char *safetensors_note(const struct safetensors *file, const char *key);

/* Sizes and modification times of the files as a text, to be freed.  Equal texts: the files have not changed. */
char *safetensors_state(const struct safetensors *file);

/* The values as f32 [count], to be freed. */
float *safetensors_floats(const struct safetensor *tensor);

/* The bytes of the data; dies on overflow. */
size_t safetensors_bytes(const struct safetensor *tensor);

/* Drops the tensor's pages from memory; the next access reads them again. */
void safetensors_let_go(const struct safetensor *tensor);
void safetensors_close(struct safetensors *file); /* tensors become invalid */

/* Writes tensors in the given order, with data aligned to 64 bytes and __metadata__ {"format":"pt"}, to which `key` and
 * `value` are added unless NULL.  The file is written whole or not at all; "-" is standard output. */
void safetensors_write(const char *path, const struct safetensor *tensors, int count,
    const char *key, const char *value);

/* The same in steps, if not all data are in memory: safetensors_create reads only the tensors' descriptions;
 * safetensors_put takes their data in the same order, in blocks of any size; safetensors_put_whole all data of one tensor. */
struct safetensors_writer;
struct safetensors_writer *safetensors_create(const char *path,
    const struct safetensor *tensors, int count, const char *key, const char *value);
void safetensors_put(struct safetensors_writer *writer, const void *data, size_t bytes);
void safetensors_put_whole(
    struct safetensors_writer *writer, const struct safetensor *tensor);
void safetensors_finish(struct safetensors_writer *writer);

/* Instead of safetensors_put: returns a path, to be freed, at which the data can be written until safetensors_finish,
 * tensor after tensor from byte *data on.  others: by other processes, too. */
char *safetensors_place(struct safetensors_writer *writer, bool others, size_t *data);

#endif
