/*
 * labels - a column of labels, text or numbers, numbered from 0 in order of first appearance.
 */
#ifndef SCORE_LABELS_H
#define SCORE_LABELS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings.h"
#include "search/vectors.h"

/* The index of column `wanted`; if NULL, of the first of `usual` (NULL-terminated).  Dies if absent; what: "labels", or
 * "numbers", for the message. */
int labels_column(const struct reader *reader, const char *wanted,
    const char *const *usual, const char *what);

/* A stream with a vector and a label, or a number, in each row. */
struct labelled_stream {
	struct reader *reader;
	struct vectors *vectors;
	int label;
};

/* Opens the stream: the vectors of `field`, the column as labels_column. */
struct labelled_stream labels_open(const char *path, const char *field,
    const char *wanted, const char *const *usual, const char *what);
void labels_close(struct labelled_stream *stream);

/* The number at `index` of a record's column; dies unless it is finite.  use: "to score with", for the message. */
double labels_finite(const struct reader *reader, int column, const struct record *record,
    int64_t index, const char *use);

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
