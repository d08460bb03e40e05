/*
 * labels - a column of labels, text or numbers, numbered from 0 in order of first appearance.
 */
#ifndef SCORE_LABELS_H
#define SCORE_LABELS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings.h"
#include "stream/stream.h"

/* The index of column `wanted`; if NULL, of the first of `usual` (NULL-terminated).  Dies if absent. */
int labels_column(
    const struct reader *reader, const char *wanted, const char *const *usual);

/* The number of the label at `index` of an array (values.h).  Dies if the value is missing, or if there are more
 * than `most` different labels. */
int32_t labels_number(struct strings *names, const struct reader *reader, int column,
    const struct array *array, int64_t index, int32_t most);

/* The numeric value of a label; NaN if it is not a number. */
long double labels_value(const struct strings *names, int64_t label);

/* Whether all labels are numbers.  (Labels from TSV and CSV are text.) */
bool labels_are_numbers(const struct strings *names);

/* The label numbers [count] in scikit-learn's order: by value if all labels are numbers, else by bytes.  This order
 * breaks ties between classes.  The caller frees it. */
int32_t *labels_sorted(const struct strings *names);

#endif
