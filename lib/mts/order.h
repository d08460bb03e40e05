/*
 * order - sort keys of rows (mts rows --sort).
 *
 * A key is an int64_t, smaller for earlier rows: integers and booleans as they are, reals by value with NaN last in
 * either direction, text by its bytes.  The caller orders rows with equal keys.
 */
#ifndef MTS_ORDER_H
#define MTS_ORDER_H

#include <stdint.h>

#include "stream/stream.h"

struct order;

/* Sorts by the first column, ties by the second, ...; "-NAME": descending.  Dies if a column is absent or does not have
 * one value per row. */
struct order *order_new(const struct reader *reader, const char *const *names, int count);

int order_count(const struct order *order);

/* Writes the keys [count] of one row; keys of text are final only after order_commit. */
void order_keys(
    struct order *order, const struct record *record, int64_t row, int64_t *keys);

/* After the last row: makes keys [rows, count] final. */
void order_commit(struct order *order, int64_t *keys, int64_t rows);
void order_free(struct order *order);

#endif
