#include "stream/stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "stream/stream_format.h"

size_t
column_element_size(const struct column *column)
{
	size_t size = dtype_size(column->dtype);

	for (int i = 0; i < column->rank; i++)
		size = mem_multiply(size, (size_t)column->shape[i], column->name);
	return size;
}

int64_t
column_lists(const struct column *column, const struct array *array, int64_t rows)
{
	return column->depth == 2 ? array->offsets[0][rows] : rows;
}

const int64_t *
column_list_offsets(const struct column *column, const struct array *array)
{
	return column->depth ? array->offsets[column->depth - 1] : NULL;
}

int64_t
column_elements(const struct column *column, const struct array *array, int64_t rows)
{
	if (column->depth == 0)
		return rows;
	return column_list_offsets(column, array)[column_lists(column, array, rows)];
}

uint64_t
stream_pad(uint64_t bytes)
{
	return (bytes + STREAM_ALIGNMENT - 1) & ~(uint64_t)(STREAM_ALIGNMENT - 1);
}

bool
stream_sizes(const struct column *column, uint64_t rows, struct counts counts,
    uint64_t sizes[STREAM_DEPTH + 1])
{
	uint64_t most = (uint64_t)STREAM_RECORD, element = column_element_size(column);

	/* no product below overflows: the greatest is 2^34 x 2^31 */
	if (rows >= most || counts.lists >= most || counts.elements > most)
		return false;
	sizes[0] = column->depth > 0 ? (rows + 1) * sizeof(int64_t) : 0;
	sizes[1] = column->depth > 1 ? (counts.lists + 1) * sizeof(int64_t) : 0;
	sizes[2] =
	    counts.elements <= most / element ? counts.elements * element : most + 1;
	return sizes[0] <= most && sizes[1] <= most && sizes[2] <= most;
}

static const char *
offsets_fault(const int64_t *offsets, int64_t lists, uint64_t count)
{
	bool fall = false;

	if (offsets[0] != 0)
		return "the first offset is not 0";
	for (int64_t i = 0; i < lists; i++)
		fall |= offsets[i] > offsets[i + 1];
	if (fall)
		return "the offsets fall";
	if ((uint64_t)offsets[lists] != count)
		return "the last offset is not the number of elements";
	return NULL;
}

const char *
stream_fault(const struct column *column, const struct array *array, int64_t rows,
    struct counts counts)
{
	const char *fault = NULL;

	if (column->depth == 0 && counts.elements != (uint64_t)rows)
		return "it does not have one element a row";
	if (column->depth < 2 && counts.lists)
		return "it has lists within lists, against its depth";
	if (column->depth == 1)
		fault = offsets_fault(array->offsets[0], rows, counts.elements);
	if (column->depth == 2)
		fault = offsets_fault(array->offsets[0], rows, counts.lists);
	if (column->depth == 2 && !fault)
		fault = offsets_fault(
		    array->offsets[1], (int64_t)counts.lists, counts.elements);
	if (fault || column->dtype != DTYPE_BOOL)
		return fault;
	const unsigned char *data = array->data;
	unsigned char all = 0;
	for (size_t i = 0, n = counts.elements * column_element_size(column); i < n; i++)
		all |= data[i];
	return all > 1 ? "a bool is neither 0 nor 1" : NULL;
}

const char *
column_fault(const struct column *column)
{
	size_t length = strlen(column->name);
	int64_t size = (int64_t)dtype_size(column->dtype);

	if (length < 1 || length > STREAM_NAME)
		return "its name is not 1 to 255 bytes long";
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)column->name[i] < 32 || column->name[i] == 127)
			return "its name has a control character";
	if (column->depth < 0 || column->depth > STREAM_DEPTH)
		return "its depth is not 0, 1 or 2";
	if (column->rank < 0 || column->rank > STREAM_RANK)
		return "its shape has more than 4 dimensions";
	if (column->text &&
	    (column->dtype != DTYPE_U8 || column->depth < 1 || column->rank))
		return "text must be lists of u8, with no shape";
	for (int i = 0; i < column->rank; i++) {
		if (column->shape[i] < 1)
			return "a dimension of its shape is below 1";
		if (column->shape[i] > STREAM_ELEMENT / size)
			return "an element is larger than 2^31 bytes";
		size *= column->shape[i];
	}
	return NULL;
}

const char *
column_difference(const struct column *a, const struct column *b)
{
	if (strcmp(a->name, b->name))
		return "names";
	if (a->dtype != b->dtype || a->text != b->text)
		return "dtypes";
	if (a->depth != b->depth)
		return "depths";
	if (a->rank != b->rank ||
	    memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape))
		return "shapes";
	return NULL;
}

char *
column_text(const struct column *column)
{
	char shape[STREAM_RANK * 24 + 1] = "";

	for (int i = 0; i < column->rank; i++) {
		char *more =
		    mem_format("%s%lld", i ? "," : "", (long long)column->shape[i]);
		strcat(shape, more);
		free(more);
	}
	char *text = mem_format("%s (%s%s%s%s%s)", column->name,
	    column->text ? "text" : dtype_name(column->dtype), column->rank ? " [" : "",
	    shape, column->rank ? "]" : "",
	    column->depth == 0	 ? ""
	    : column->depth == 1 ? ", depth 1"
				 : ", depth 2");
	utf8_plain(text);
	return text;
}

struct tree *
column_tree(const struct column *column)
{
	struct tree *tree = tree_object();

	tree_set(tree, "name", tree_of_string(column->name));
	tree_set(tree, "dtype", tree_of_string(dtype_name(column->dtype)));
	if (column->text)
		tree_set(tree, "text", tree_of_boolean(true));
	if (column->depth)
		tree_set(tree, "depth", tree_of_integer(column->depth));
	if (column->rank) {
		struct tree *shape = tree_set(tree, "shape", tree_list());
		for (int i = 0; i < column->rank; i++)
			tree_add(shape, tree_of_integer(column->shape[i]));
	}
	return tree;
}
