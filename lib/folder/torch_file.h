/*
 * torch_file - weights as torch.save writes them since torch 1.6: a zip file of storages, and a pickled
 * table that says which tensor is which part of which.
 *
 * Nothing is run: the table is read as data (pickle.h), and what no table of weights has is refused,
 * by name.  So are older files, files of a machine of the other byte order, and tables that hold
 * something else than tensors by their names.  Tensors lie in the map, and share what they share in
 * the file; one whose elements are not one after another (transposed, say) is copied in order.
 */
#ifndef FOLDER_TORCH_FILE_H
#define FOLDER_TORCH_FILE_H

#include <stddef.h>

#include "folder/safetensors.h"

struct torch_tensor {
	struct safetensor tensor;
	const char *unknown; /* its dtype's name where tensor.h lacks it, or NULL */
	size_t bytes;
};

struct torch_file {
	struct torch_tensor *tensors; /* in the order of the table */
	int count;
	const char *table; /* the pickle */
	size_t table_size;
	/* of the rest, nobody but torch_file.c knows */
	struct pickle *pickle; /* has the names */
	char *copies;	       /* of shared memory, which madvise cannot empty */
	size_t copied;
};

/* path: for messages.  map: the whole file, which must stay while the tensors are used. */
struct torch_file *torch_file_read(const char *path, const char *map, size_t size);
void torch_file_free(struct torch_file *file);

#endif
