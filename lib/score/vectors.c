#include "score/vectors.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "score/similarity.h"

struct lists *
lists_open(struct reader *reader, const char *field, bool unit)
{
	struct lists *lists = mem_zero(1, sizeof *lists);

	lists->reader = reader;
	lists->unit = unit;
	lists->depth = values_find_embedding(reader, field, 1) >= 0;
	lists->column = values_embedding(reader, field, lists->depth);
	lists->width = values_width(reader, lists->column);
	return lists;
}

static const char *
name(const struct lists *lists)
{
	return stream_column(lists->reader, lists->column)->name;
}

void
lists_agree(const struct lists *lists, const struct lists *other)
{
	if (lists->width != other->width)
		die("%s: %s has width %d and %s has %d; encode both with one model",
		    stream_name(lists->reader), name(lists), lists->width, name(other),
		    other->width);
}

void
lists_load(struct lists *lists, const struct record *record)
{
	const struct column *column = stream_column(lists->reader, lists->column);
	int64_t rows = record->rows;

	lists->array = &record->columns[lists->column];
	int64_t count = column_elements(column, lists->array, rows);
	const float *from = values_floats(column, lists->array, count, &lists->room);
	lists->vectors = from;
	if (lists->unit && count) {
		size_t bytes = (size_t)lists->width * sizeof *lists->units.data;
		lists->units.data = mem_grow(
		    lists->units.data, &lists->units.capacity, (size_t)count, bytes);
		lists->vectors = lists->units.data;
	}
	for (int64_t i = 0; i < count; i++, from += lists->width) {
		values_refuse_nan(lists->reader, lists->column, i, from, lists->width);
		if (lists->unit)
			lists->zero +=
			    similarity_unit(lists->units.data + i * lists->width, from,
				lists->width) == 0;
	}
}

struct list
lists_row(const struct lists *lists, int64_t row)
{
	const int64_t *offsets = lists->array->offsets[0];
	int64_t first = lists->depth ? offsets[row] : row;
	int64_t end = lists->depth ? offsets[row + 1] : row + 1;

	return (
	    struct list){ lists->vectors ? lists->vectors + first * lists->width : NULL,
		end - first, lists->width };
}

void
lists_close(struct lists *lists)
{
	if (lists->zero)
		warn("%s: %lld vectors of %s are zero: their cosines are 0",
		    stream_name(lists->reader), (long long)lists->zero, name(lists));
	free(lists->room.data);
	free(lists->units.data);
	free(lists);
}
