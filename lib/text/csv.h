/*
 * csv - comma-separated values, RFC 4180: a value in double quotes may hold commas, line ends
 * and, doubled, quotes.
 *
 * A record ends at the first line end with an even number of quotes before it, so that files
 * can be read without looking at single values.
 */
#ifndef TEXT_CSV_H
#define TEXT_CSV_H

#include <stddef.h>
#include <stdint.h>

#include "text/tree.h"

/* The values of a record without its line end, a list of strings; dies on a quote inside a value
 * that does not begin with one, and on text behind a closing quote. */
struct tree *csv_values(
    const char *record, size_t length, const char *file, int64_t number);

#endif
