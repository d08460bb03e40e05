/*
 * labels - the column of labels, text or numbers, counted in the order in which they come.
 */
#ifndef LABELS_H
#define LABELS_H

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

#endif
