/*
 * condition - a condition on rows (mts rows --where): a comparison (comparison.h) with a column that has one value per
 * row or, without a column of that name, with an attribute of the records.
 *
 * An ordering comparison dies, naming row and column, on text that is not a number.  f32, f16 and bf16 compare
 * as floats, so that 0.1 equals what is printed as 0.1; booleans allow = and != true or false; ~ searches a
 * number as printed.  Without the attribute only != and !~ hold.
 */
#ifndef MTS_CONDITION_H
#define MTS_CONDITION_H

#include <stdbool.h>
#include <stdint.h>

#include "stream/stream.h"

struct condition;

/* Parses a condition, which is copied; a usage error if it is invalid. */
struct condition *condition_new(const char *text);

/* Finds the column; dies if its values cannot be compared so.  Call it before condition_apply. */
void condition_bind(struct condition *condition, const struct reader *reader);

/* Clears pass[row] of the rows where the condition does not hold; tests only rows with pass[row] set.  pass [rows].
 * `before`: number of rows in earlier records, for messages. */
void condition_apply(
    struct condition *condition, const struct record *record, int64_t before, bool *pass);

/* At the end of the stream: dies if the name was neither a column nor an attribute of any record. */
void condition_end(const struct condition *condition);
void condition_free(struct condition *condition);

#endif
