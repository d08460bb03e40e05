/*
 * text_column - a column of texts that is built for a record: bytes, and their offsets.
 */
#ifndef STREAM_TEXT_COLUMN_H
#define STREAM_TEXT_COLUMN_H

#include "base/buffer.h"
#include "stream/stream.h"

struct text_column {
	struct buffer bytes;
	struct numbers offsets; /* [texts + 1] */
};

/* Call it before the first text, and to start again. */
void text_column_clear(struct text_column *column);

/* Adds a text; or ends one that was appended to `bytes`. */
void text_column_add(struct text_column *column, const char *text, size_t length);
void text_column_end(struct text_column *column);

/* Borrowed until the next change. */
struct array text_column_array(const struct text_column *column);
void text_column_free(struct text_column *column);

#endif
