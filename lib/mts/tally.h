/*
 * tally - counts of records and rows by attribute and value.
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

/* Whether any record had an attribute. */
bool tally_any(const struct tally *tally);

/* Prints a table to standard output: for each attribute the 10 most frequent values, and the records without it. */
void tally_print(const struct tally *tally);

/* {NAME: [{"value": VALUE, "records": N, "rows": N}, ...], ...}, most rows first; value null: records without the
 * attribute. */
void tally_json(const struct tally *tally, struct buffer *to);
void tally_free(struct tally *tally);

#endif
