#include "stream/cursor.h"

#include <stdlib.h>

#include "base/mem.h"

struct cursor {
	struct reader *reader;
	struct record record;
	int64_t at, taken;
	struct array *arrays;	  /* [columns] the rows taken last */
	struct row_slice *slices; /* [columns] */
};

struct array
row_slice_take(struct row_slice *slice, const struct column *column,
    const struct array *from, int64_t first, int64_t rows)
{
	struct array made = { .data = NULL };

	for (int d = 0; d < column->depth; d++) {
		const int64_t *offsets = from->offsets[d] + first;
		int64_t *copy = slice->offsets[d] = mem_grow(slice->offsets[d],
		    &slice->capacity[d], (size_t)rows + 1, sizeof *copy);
		for (int64_t i = 0; i <= rows; i++)
			copy[i] = offsets[i] - offsets[0];
		first = offsets[0];
		rows = copy[rows];
		made.offsets[d] = copy;
	}
	if (from->data)
		made.data = (const char *)from->data +
			    (size_t)first * column_element_size(column);
	return made;
}

void
row_slice_free(struct row_slice *slice)
{
	for (int d = 0; d < STREAM_DEPTH; d++)
		free(slice->offsets[d]);
}

struct cursor *
cursor_new(struct reader *reader)
{
	struct cursor *cursor = mem_zero(1, sizeof *cursor);
	size_t columns = (size_t)stream_columns(reader);

	cursor->reader = reader;
	cursor->arrays = mem_zero(columns, sizeof *cursor->arrays);
	cursor->slices = mem_zero(columns, sizeof *cursor->slices);
	return cursor;
}

int64_t
cursor_left(struct cursor *cursor)
{
	while (cursor->at == cursor->record.rows) {
		cursor->at = cursor->record.rows = 0;
		if (!stream_next(cursor->reader, &cursor->record))
			return 0;
	}
	return cursor->record.rows - cursor->at;
}

const struct tree *
cursor_attributes(const struct cursor *cursor)
{
	return cursor->record.attributes;
}

int64_t
cursor_taken(const struct cursor *cursor)
{
	return cursor->taken;
}

const struct array *
cursor_take(struct cursor *cursor, int64_t rows)
{
	for (int i = 0; i < stream_columns(cursor->reader); i++)
		cursor->arrays[i] =
		    row_slice_take(&cursor->slices[i], stream_column(cursor->reader, i),
			&cursor->record.columns[i], cursor->at, rows);
	cursor->at += rows;
	cursor->taken += rows;
	return cursor->arrays;
}

void
cursor_free(struct cursor *cursor)
{
	for (int i = 0; i < stream_columns(cursor->reader); i++)
		row_slice_free(&cursor->slices[i]);
	free(cursor->slices);
	free(cursor->arrays);
	free(cursor);
}
