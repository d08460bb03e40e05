/*
 * gather - rows from here and there as one column: those of a record that are kept, or those of
 * many records in another order.
 */
#ifndef STREAM_GATHER_H
#define STREAM_GATHER_H

#include <stddef.h>
#include <stdint.h>

#include "stream/stream.h"

/* A row, and the columns that it is a row of. */
struct place {
	const struct array *columns;
	int64_t row;
};

/* What was gathered of one column; grows, and belongs to the caller.  Zeroed: nothing yet. */
struct gather {
	int64_t *offsets[STREAM_DEPTH];
	char *data;
	size_t offsets_capacity[STREAM_DEPTH], capacity;
};

/* Column `index` of the rows that are named, in that order: copied, and valid until the gather is
 * used again. */
struct array gather_rows(struct gather *gather, const struct column *column, int index,
    const struct place *places, int64_t rows);

/* Bytes that one row adds. */
size_t gather_bytes(const struct column *column, const struct array *array, int64_t row);
void gather_free(struct gather *gather);

#endif
