/*
 * cursor - the rows of a stream in pieces of any length: for programs to which the borders of
 * records mean nothing, or that read several streams side by side.
 */
#ifndef STREAM_CURSOR_H
#define STREAM_CURSOR_H

#include <stdint.h>

#include "stream/stream.h"

/*
 * Rows first..first+rows-1 of an array as one that starts at row 0: offsets are copied to
 * the slice, data borrowed.  Valid until the slice is used again.
 */
struct slice {
	int64_t *offsets[STREAM_DEPTH];
	size_t capacity[STREAM_DEPTH];
};
struct array slice_rows(struct slice *slice, const struct column *column,
    const struct array *from, int64_t first, int64_t rows);
void slice_free(struct slice *slice);

struct cursor;

/* On a reader that is borrowed, and read by nobody else. */
struct cursor *cursor_new(struct reader *reader);

/* Rows of the current record that were not taken; steps over records without any; 0 at the end. */
int64_t cursor_left(struct cursor *cursor);

/* Attributes of the record that cursor_left looked at; borrowed until it steps on. */
const struct tree *cursor_attributes(const struct cursor *cursor);

/* Rows taken so far. */
int64_t cursor_taken(const struct cursor *cursor);

/* The next rows, at most cursor_left, as arrays of the stream's columns that start at row 0.
 * Borrowed until the next call for this cursor; data are aligned only to their dtype. */
const struct array *cursor_take(struct cursor *cursor, int64_t rows);

void cursor_free(struct cursor *cursor);

#endif
