/*
 * view - a stream for people: what its header says, and its first rows.
 */
#ifndef VIEW_H
#define VIEW_H

#include <stdint.h>

#include "stream/stream.h"

/* Columns, properties and history, a line each, on standard output. */
void view_header(const struct reader *reader);

/* The first `rows` rows with the attributes of their records; long values are shortened.
 * Reads no further than that. */
void view_rows(struct reader *reader, int64_t rows);

#endif
