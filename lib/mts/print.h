/*
 * print - how values of a stream are written as text and JSON.
 */
#ifndef MTS_PRINT_H
#define MTS_PRINT_H

#include <stdint.h>
#include <stdio.h>

#include "stream/stream.h"

/* Number `index` of data of that dtype in the fewest digits that read back equal; true, false for
 * bool; NaN, Infinity, -Infinity. */
void print_number(FILE *to, enum dtype dtype, const void *data, int64_t index);

/* A JSON string, control characters (U+0080 to U+009F are such, too) escaped; each invalid part of the UTF-8 becomes U+FFFD. */
void print_string(FILE *to, const char *bytes, size_t length);

/* A row of a column as JSON: lists and shapes are nested lists; what is not finite is null. */
void print_row(
    FILE *to, const struct column *column, const struct array *array, int64_t row);

#endif
