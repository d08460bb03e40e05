/*
 * order - the keys by which rows are sorted.
 *
 * A key is an int64_t, smaller where the row comes earlier: whole numbers and booleans as they are,
 * reals in the order of their values with NaN behind all others, whether the order rises or falls;
 * text in the order of its bytes.  Rows whose keys are all equal are left to the caller.
 */
#ifndef MTS_ORDER_H
#define MTS_ORDER_H

#include <stdint.h>

#include "stream/stream.h"

struct order;

/* By the first name, where that is equal by the second, ...; "-NAME" falls.  Dies where a column is
 * not there, or has not one value a row. */
struct order *order_new(const struct reader *reader, const char *const *names, int count);

int order_count(const struct order *order);

/* The keys [count] of one row; those of text hold only after order_settle. */
void order_keys(
    struct order *order, const struct record *record, int64_t row, int64_t *keys);

/* When all rows are known: make keys [rows, count] final. */
void order_settle(struct order *order, int64_t *keys, int64_t rows);
void order_free(struct order *order);

#endif
