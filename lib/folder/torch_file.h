/*
 * torch_file - reads weights of torch.save since torch 1.6: a zip file of storages, and a pickled dict of tensors,
 * which are views of storages.
 *
 * The pickle is parsed as data (pickle.h); nothing in it is run.  Refused: functions that no dict of tensors needs,
 * files of torch before 1.6, big-endian files, values that are not tensors.  Tensors point into the map and may share
 * memory, as in the file; a tensor that is not contiguous is copied.
 */
#ifndef FOLDER_TORCH_FILE_H
#define FOLDER_TORCH_FILE_H

#include <stddef.h>

#include "folder/safetensors.h"

struct torch_tensor {
	struct safetensor tensor;
	const char *unknown; /* name of a dtype that tensor.h lacks; else NULL */
	size_t bytes;
};

struct torch_file {
	struct torch_tensor *tensors; /* in the order of the dict */
	int count;
	/* private to torch_file.c */
	struct pickle *pickle; /* owns the names */
	char *
	    copies; /* copied tensors; shared memory, whose bytes madvise(MADV_DONTNEED) keeps */
	size_t copied;
};

/* path: for messages.  map: the whole file; borrowed until torch_file_free. */
struct torch_file *torch_file_read(const char *path, const char *map, size_t size);
void torch_file_free(struct torch_file *file);

#endif
