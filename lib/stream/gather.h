/*
 * gather - copies chosen rows of one or many records into a column.
 */
#ifndef STREAM_GATHER_H
#define STREAM_GATHER_H

#include <stddef.h>
#include <stdint.h>

#include "stream/stream.h"

/* A row of a record. */
struct row_ref {
	const struct array *columns; /* of the record, borrowed */
	int64_t row;
};

/* Memory for one column's rows; starts as zeros, owned by the caller. */
struct gather {
	int64_t *offsets[STREAM_DEPTH];
	char *data;
	size_t offsets_capacity[STREAM_DEPTH], capacity;
};

/* Copies column `index` of the rows, in this order; valid until the gather is used again. */
struct array gather_rows(struct gather *gather, const struct column *column, int index,
    const struct row_ref *refs, int64_t rows);

/* Bytes of the data of one row. */
size_t gather_bytes(const struct column *column, const struct array *array, int64_t row);
void gather_free(struct gather *gather);

#endif
