/*
 * print - values of a stream as text and JSON, appended to a buffer.
 */
#ifndef STREAM_PRINT_H
#define STREAM_PRINT_H

#include <stdint.h>

#include "base/buffer.h"
#include "stream/stream.h"

void print_text(struct buffer *to, const char *text);
void print_format(struct buffer *to, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Number `index` of data in the fewest digits that read back equal; bool as true, false; NaN, Infinity,
 * -Infinity. */
void print_number(struct buffer *to, enum dtype dtype, const void *data, int64_t index);

/* A JSON string.  Control characters, including U+0080 to U+009F, are escaped; each invalid part of the UTF-8 becomes
 * U+FFFD. */
void print_string(struct buffer *to, const char *bytes, size_t length);

/* A row of a column as JSON: lists and shapes are nested lists; NaN and infinity are null. */
void print_row(struct buffer *to, const struct column *column, const struct array *array,
    int64_t row);

/* A row as a JSON object of the columns chosen [count]; chosen NULL: of the first `count` columns. */
void print_object(struct buffer *to, const struct reader *reader, const int *chosen,
    int count, const struct array *arrays, int64_t row);

#endif
