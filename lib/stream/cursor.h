/*
 * cursor - the rows of a stream in slices of any length, across records: for programs that ignore record
 * boundaries or read several streams side by side.
 */
#ifndef STREAM_CURSOR_H
#define STREAM_CURSOR_H

#include <stdint.h>

#include "stream/stream.h"

/*
 * Rows first..first+rows-1 of an array, as an array that starts at row 0.  Offsets are copied to the
 * slice, data are borrowed.  Valid until the slice is used again.
 */
struct row_slice {
	int64_t *offsets[STREAM_DEPTH];
	size_t capacity[STREAM_DEPTH];
};
struct array row_slice_take(struct row_slice *slice, const struct column *column,
    const struct array *from, int64_t first, int64_t rows);
void row_slice_free(struct row_slice *slice);

struct cursor;

/* Borrows the reader; read it only by this cursor. */
struct cursor *cursor_new(struct reader *reader);

/* The number of rows left in the current record, stepping over empty records; 0 at the end. */
int64_t cursor_left(struct cursor *cursor);

/* Attributes of the current record, borrowed until cursor_left steps on. */
const struct tree *cursor_attributes(const struct cursor *cursor);

/* The number of rows taken so far. */
int64_t cursor_taken(const struct cursor *cursor);

/* The next rows, at most cursor_left, as arrays [columns] that start at row 0.  Borrowed until the next call
 * for this cursor; data are aligned to their dtype only. */
const struct array *cursor_take(struct cursor *cursor, int64_t rows);

void cursor_free(struct cursor *cursor);

#endif
