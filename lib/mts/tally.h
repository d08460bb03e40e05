/*
 * tally - how many records and rows have which attributes.
 */
#ifndef MTS_TALLY_H
#define MTS_TALLY_H

#include <stdbool.h>

#include "base/buffer.h"
#include "stream/stream.h"

/* Memory grows with the number of different values. */
struct tally;

struct tally *tally_new(void);
void tally_add(struct tally *tally, const struct record *record);

/* Whether there is an attribute. */
bool tally_any(const struct tally *tally);

/* A table on standard output: of each attribute the values of most rows, at most 10, and what has none. */
void tally_print(const struct tally *tally);

/* {NAME: [{"value": VALUE, "records": N, "rows": N}, ...], ...}, the values of most rows first; null:
 * records without the attribute. */
void tally_json(const struct tally *tally, struct buffer *to);
void tally_free(struct tally *tally);

#endif
