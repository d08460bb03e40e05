/*
 * labels - the column of labels, text or numbers, counted in the order in which they come.
 */
#ifndef SCORE_LABELS_H
#define SCORE_LABELS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings.h"
#include "stream/stream.h"

/* The column `wanted`, or unless that is given the first of the usual ones (NULL-terminated); dies
 * when there is none. */
int labels_column(
    const struct reader *reader, const char *wanted, const char *const *usual);

/* The number of a value (as in values.h); dies where there is none, and when there are more than `most`. */
int32_t labels_number(struct strings *names, const struct reader *reader, int column,
    const struct array *array, int64_t index, int32_t most);

/* A label as a number; NaN: it is none. */
long double labels_value(const struct strings *names, int64_t label);

/* Whether all are numbers, as those of TSV and CSV may be, which are text. */
bool labels_are_numbers(const struct strings *names);

/* The numbers [count] of the labels in scikit-learn's order, by value where all are numbers, else by bytes; it decides
 * between equal scores.  To be freed. */
int32_t *labels_sorted(const struct strings *names);

#endif
