/*
 * head - a stream for people: what its header says, and its first rows.
 */
#ifndef MTS_HEAD_H
#define MTS_HEAD_H

#include <stdint.h>

#include "stream/stream.h"

/* Columns, properties and history, a line each, on standard output. */
void head_header(const struct reader *reader);

/* The first `rows` rows with the attributes of their records; long values are shortened.
 * Reads no further than that. */
void head_rows(struct reader *reader, int64_t rows);

#endif
