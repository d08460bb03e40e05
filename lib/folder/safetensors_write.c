#include "folder/safetensors.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/output.h"
#include "text/json.h"

/* a cache line, so that mapped tensors are aligned */
enum { ALIGNMENT = 64 };

static const char *const names[DTYPE_COUNT] = {
	[DTYPE_F32] = "F32",
	[DTYPE_F16] = "F16",
	[DTYPE_BF16] = "BF16",
	[DTYPE_F64] = "F64",
	[DTYPE_I8] = "I8",
	[DTYPE_I32] = "I32",
	[DTYPE_I64] = "I64",
	[DTYPE_U8] = "U8",
	[DTYPE_BOOL] = "BOOL",
};

struct safetensors_writer {
	struct output *output;
	size_t header;	/* bytes before the data */
	size_t missing; /* bytes of data not yet written */
};

size_t
safetensors_bytes(const struct safetensor *tensor)
{
	return mem_multiply(tensor->count, dtype_size(tensor->dtype), tensor->name);
}

/* Writes a tensor's description; moves *at from the start to the end of its data. */
static struct tree *
describe(const struct safetensor *tensor, size_t *at)
{
	struct tree *tree = tree_object(), *list;

	tree_set(tree, "dtype", tree_of_string(names[tensor->dtype]));
	list = tree_set(tree, "shape", tree_list());
	for (int i = 0; i < tensor->rank; i++)
		tree_add(list, tree_of_integer(tensor->shape[i]));
	list = tree_set(tree, "data_offsets", tree_list());
	tree_add(list, tree_of_integer((int64_t)*at));
	*at = mem_add(*at, safetensors_bytes(tensor), tensor->name);
	tree_add(list, tree_of_integer((int64_t)*at));
	return tree;
}

struct safetensors_writer *
safetensors_create(const char *path, const struct safetensor *tensors, int count,
    const char *key, const char *value)
{
	struct safetensors_writer *writer = mem_zero(1, sizeof *writer);
	struct tree *header = tree_object(), *metadata;

	metadata = tree_set(header, "__metadata__", tree_object());
	tree_set(metadata, "format", tree_of_string("pt"));
	if (key)
		tree_set(metadata, key, tree_of_string(value));
	for (int i = 0; i < count; i++) {
		/* duplicate names would be a bug of the caller */
		struct tree *tree =
		    tree_add(header, describe(&tensors[i], &writer->missing));
		tree->key = mem_string(tensors[i].name);
	}
	char *text = json_text(header, 0);
	size_t length = strlen(text);
	uint64_t padded = sizeof padded + length + ALIGNMENT - 1;
	padded -= padded % ALIGNMENT + sizeof padded;
	writer->output = output_open(path, true);
	output_write(writer->output, &padded, sizeof padded);
	output_write(writer->output, text, length);
	for (; length < padded; length++)
		output_write(writer->output, " ", 1);
	writer->header = sizeof padded + padded;
	tree_free(header);
	free(text);
	return writer;
}

void
safetensors_put(struct safetensors_writer *writer, const void *data, size_t bytes)
{
	output_write(writer->output, data, bytes);
	writer->missing -= bytes;
}

void
safetensors_put_whole(struct safetensors_writer *writer, const struct safetensor *tensor)
{
	safetensors_put(writer, tensor->data, safetensors_bytes(tensor));
}

char *
safetensors_place(struct safetensors_writer *writer, bool others, size_t *data)
{
	writer->missing = 0;
	*data = writer->header;
	return output_place(writer->output, others);
}

void
safetensors_finish(struct safetensors_writer *writer)
{
	if (writer->missing)
		die("%s: %zu bytes of its tensors are missing; this is a fault of the program",
		    output_name(writer->output), writer->missing);
	output_finish(writer->output);
	free(writer);
}

void
safetensors_write(const char *path, const struct safetensor *tensors, int count,
    const char *key, const char *value)
{
	struct safetensors_writer *writer =
	    safetensors_create(path, tensors, count, key, value);

	for (int i = 0; i < count; i++)
		safetensors_put_whole(writer, &tensors[i]);
	safetensors_finish(writer);
}
