#include "stream/gather.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* A row's elements first .. last - 1. */
struct element_range {
	int64_t first, last;
};

static struct element_range
elements_of(const struct column *column, const struct array *array, int64_t row)
{
	struct element_range range = { row, row + 1 };

	for (int d = 0; d < column->depth; d++) {
		range.first = array->offsets[d][range.first];
		range.last = array->offsets[d][range.last];
	}
	return range;
}

/* Appends lists first..last-1 to offsets that have `count` entries. */
static void
append_lengths(
    int64_t *offsets, int64_t count, const int64_t *from, int64_t first, int64_t last)
{
	for (int64_t i = first; i < last; i++, count++)
		offsets[count] = offsets[count - 1] + from[i + 1] - from[i];
}

static int64_t *
begin_offsets(struct gather *gather, int depth, int64_t lists)
{
	gather->offsets[depth] = mem_grow(gather->offsets[depth],
	    &gather->offsets_capacity[depth], (size_t)lists + 1, sizeof(int64_t));
	gather->offsets[depth][0] = 0;
	return gather->offsets[depth];
}

static void
gather_offsets(struct gather *gather, const struct column *column, int index,
    const struct row_ref *refs, int64_t rows)
{
	if (!column->depth)
		return;
	int64_t *outer = begin_offsets(gather, 0, rows), lists = 0;
	for (int64_t i = 0; i < rows; i++)
		append_lengths(outer, i + 1, refs[i].columns[index].offsets[0],
		    refs[i].row, refs[i].row + 1);
	if (column->depth == 1)
		return;
	int64_t *inner = begin_offsets(gather, 1, outer[rows]);
	for (int64_t i = 0; i < rows; i++) {
		const struct array *array = &refs[i].columns[index];
		const int64_t *from = array->offsets[0] + refs[i].row;
		append_lengths(inner, lists + 1, array->offsets[1], from[0], from[1]);
		lists += from[1] - from[0];
	}
}

struct array
gather_rows(struct gather *gather, const struct column *column, int index,
    const struct row_ref *refs, int64_t rows)
{
	size_t size = column_element_size(column), used = 0, total = 0;

	for (int64_t i = 0; i < rows; i++)
		total += gather_bytes(column, &refs[i].columns[index], refs[i].row);
	gather_offsets(gather, column, index, refs, rows);
	gather->data = mem_grow(gather->data, &gather->capacity, total + 1, 1);
	for (int64_t i = 0; i < rows; i++) {
		const struct array *array = &refs[i].columns[index];
		struct element_range range = elements_of(column, array, refs[i].row);
		size_t bytes = (size_t)(range.last - range.first) * size;
		if (bytes)
			memcpy(gather->data + used,
			    (const char *)array->data + (size_t)range.first * size,
			    bytes);
		used += bytes;
	}
	return (struct array){ { column->depth > 0 ? gather->offsets[0] : NULL,
				   column->depth > 1 ? gather->offsets[1] : NULL },
		gather->data };
}

size_t
gather_bytes(const struct column *column, const struct array *array, int64_t row)
{
	struct element_range range = elements_of(column, array, row);

	return (size_t)(range.last - range.first) * column_element_size(column);
}

void
gather_free(struct gather *gather)
{
	for (int d = 0; d < STREAM_DEPTH; d++)
		free(gather->offsets[d]);
	free(gather->data);
}
