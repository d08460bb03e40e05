/*
 * safetensors - weights on disk, mapped into memory; and written back as safetensors.
 *
 * Every rule of the format is enforced on reading (names unique, offsets tile the data
 * without hole or overlap, sizes agree with shapes, nothing outside the file), before
 * anything is used.  Sharded checkpoints (model.safetensors.index.json) read as one.  A file whose
 * name ends in .bin is one of torch.save (torch_file.h), and its tensors are handed out alike.
 * Tensors of a dtype that tensor.h does not have are checked too, but not listed; to ask
 * for one by name is an error.
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
	const void *data; /* in the map; aligned only as the file happens to be */
};

struct safetensors;

/* One file; or a folder: what safetensors_in finds there.  Dies naming the file and the tensor; a
 * Git LFS pointer is called what it is. */
struct safetensors *safetensors_open(const char *path);

/* The weights of a folder, to be freed: model.safetensors, else the index of its shards, else
 * pytorch_model.bin, else the index of such; NULL: there are none. */
char *safetensors_in(const char *folder);

/* NULL when no tensor has that name. */
const struct safetensor *safetensors_find(
    const struct safetensors *file, const char *name);

/* The same, but dies when there is none. */
const struct safetensor *safetensors_need(
    const struct safetensors *file, const char *name);
int safetensors_count(const struct safetensors *file);

/* In the order of the file. */
const struct safetensor *safetensors_at(const struct safetensors *file, int index);
const char *safetensors_name(const struct safetensors *file); /* for messages */

/* A value of __metadata__, of the first shard; NULL: there is none. */
const char *safetensors_note(const struct safetensors *file, const char *key);

/* The sizes of the files and the times of their last change, to be freed: if they are equal later, nobody has written
 * to the files since, as far as the file system tells. */
char *safetensors_state(const struct safetensors *file);

/* The tensor's pages leave memory, until somebody reads it again. */
void safetensors_let_go(const struct safetensor *tensor);
void safetensors_close(struct safetensors *file); /* pointers into the map die */

/* Write tensors in the given order to path (beside it, then renamed), the data aligned to 64 bytes,
 * with __metadata__ {"format":"pt"} and the given further pair (or NULL).  "-" is standard
 * output. */
void safetensors_write(const char *path, const struct safetensor *tensors, int count,
    const char *key, const char *value);

/* The same where not all data are at hand at once: of the tensors only the description is read,
 * their data follow in the same order, in pieces of any size. */
struct safetensors_writer;
struct safetensors_writer *safetensors_create(const char *path,
    const struct safetensor *tensors, int count, const char *key, const char *value);
void safetensors_put(struct safetensors_writer *writer, const void *data, size_t bytes);
void safetensors_finish(struct safetensors_writer *writer);

/* Instead of safetensors_put: the name, to be freed, under which this process, or others, too, write the data until
 * safetensors_finish, tensor after tensor from byte *data of the file on. */
char *safetensors_place(struct safetensors_writer *writer, bool others, size_t *data);

#endif
