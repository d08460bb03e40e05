/*
 * csv - comma-separated values, RFC 4180: a quoted value may contain commas, line ends and doubled quotes.
 *
 * A record ends at the first line end with an even number of quotes before it (cut.h).
 */
#ifndef TEXT_CSV_H
#define TEXT_CSV_H

#include <stddef.h>
#include <stdint.h>

#include "text/tree.h"

/* Returns the values of a record, which is given without its line end, as a list of strings.  Dies on a quote inside an
 * unquoted value and on text after a closing quote. */
struct tree *csv_values(
    const char *record, size_t length, const char *file, int64_t number);

#endif
