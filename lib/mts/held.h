/*
 * held - rows that are held back until all have been seen: a sample of them, or all of them sorted.
 *
 * The rows themselves lie in a spool; memory holds 48 bytes of each and 8 more for each key, and
 * for keys of text each text once (strings.h).  Of a sample of n of m rows, n are in memory and
 * about n (1 + ln (m / n)) in the spool.
 */
#ifndef MTS_HELD_H
#define MTS_HELD_H

#include <stdint.h>

#include "mts/order.h"
#include "stream/stream.h"

struct held;

/* sample: hold so many, each set of them as likely (Vitter 1985, algorithm R); 0: hold all.  The order is
 * taken over. */
struct held *held_new(
    const struct reader *reader, struct order *order, int64_t sample, uint64_t seed);

/* Rows rows[0] < rows[1] < ... of a record; `before`: rows of the stream before it. */
void held_add(struct held *held, const struct record *record, const int64_t *rows,
    int64_t count, int64_t before);

/* Write them, in order and then as they came, in records of at most 1024 rows that have the same
 * attributes. */
void held_put(struct held *held, struct writer *writer);
void held_free(struct held *held);

#endif
