/*
 * condition - a condition on rows (--where of mts rows and near): a comparison (comparison.h) with a column that has one value per
 * row or, without a column of that name, with an attribute of the records.
 *
 * An ordering comparison dies, naming row and column, on text that is not a number.  f32, f16 and bf16 compare
 * as floats, so that 0.1 equals what is printed as 0.1; booleans allow = and != true or false; ~ searches a
 * number as printed.  Without the attribute only != and !~ hold.
 */
#ifndef STREAM_CONDITION_H
#define STREAM_CONDITION_H

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

/* Conditions on the rows of a stream; a row passes if all conditions hold. */
struct conditions;
struct conditions *conditions_open(
    const char *const *texts, int count, const struct reader *reader);

/* Goes on with another stream, whose columns may differ; conditions_rows begins at 0 again. */
void conditions_bind(struct conditions *conditions, const struct reader *reader);

/* Whether each of the next record's rows passes, [rows], borrowed until the next record. */
const bool *conditions_pass(struct conditions *conditions, const struct record *record);

/* The number of rows so far. */
int64_t conditions_rows(const struct conditions *conditions);

/* At the end of the last stream: condition_end of each. */
void conditions_end(const struct conditions *conditions);
void conditions_close(struct conditions *conditions); /* or NULL */

#endif
