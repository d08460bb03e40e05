/*
 * reservoir - a random sample of the rows of a stream (reservoir sampling), or all of them, sorted.
 *
 * The rows are in a spool on disk; memory holds 48 bytes per row, 8 per key, and each distinct text of text keys
 * (strings.h).  A sample of n of m rows has n rows in memory and about n (1 + ln (m / n)) in the spool.
 */
#ifndef MTS_RESERVOIR_H
#define MTS_RESERVOIR_H

#include <stdint.h>

#include "mts/order.h"
#include "stream/stream.h"

struct reservoir;

/* sample: number of rows to sample, uniformly (Vitter 1985, algorithm R); 0: keep all.  reservoir_free frees the
 * order. */
struct reservoir *reservoir_new(
    const struct reader *reader, struct order *order, int64_t sample, uint64_t seed);

/* Adds rows rows[0] < rows[1] < ... of a record; `before`: number of rows in earlier records. */
void reservoir_add(struct reservoir *reservoir, const struct record *record,
    const int64_t *rows, int64_t count, int64_t before);

/* Writes the rows, sorted by the order and then by row number, in records of at most 1024 rows with equal
 * attributes. */
void reservoir_put(struct reservoir *reservoir, struct writer *writer);
void reservoir_free(struct reservoir *reservoir);

#endif
