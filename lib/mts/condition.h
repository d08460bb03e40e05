/*
 * condition - what is asked of a row (comparison.h), of a column that has one value a row or, where
 * there is none of that name, of an attribute of the records.
 *
 * Text and numbers as comparison.h says; an order asked of text that is no number dies, naming row
 * and column.  f32, f16 and bf16 compare as floats, so that 0.1 is what is printed as 0.1; booleans
 * are = and != true or false; ~ looks into a number as it is printed.  Where a record has no such
 * attribute, only != and !~ hold.
 */
#ifndef MTS_CONDITION_H
#define MTS_CONDITION_H

#include <stdbool.h>
#include <stdint.h>

#include "stream/stream.h"

struct condition;

/* A usage fault where it is none.  The text is copied. */
struct condition *condition_new(const char *text);

/* Find its column, and whether the column's values can be compared so; dies saying why not.  Before
 * condition_apply. */
void condition_bind(struct condition *condition, const struct reader *reader);

/* Take away from `pass` [record->rows] the rows where it does not hold; looks only at the others.
 * `before`: rows of the stream before the record, for messages. */
void condition_apply(
    struct condition *condition, const struct record *record, int64_t before, bool *pass);

/* At the stream's end: dies where the name was neither a column nor an attribute of any record. */
void condition_end(const struct condition *condition);
void condition_free(struct condition *condition);

#endif
