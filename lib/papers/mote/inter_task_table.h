/*
 * inter_task_table - inter-task similarity as a table: a line per pair of tasks, "ONE:OTHER", and a line "all" of each text's mean
 * over the pairs (MoTE, section 5.2).
 *
 *	texts, mean, deviation	number, mean and standard deviation (n - 1) of the cosines
 *	min, q1, median, q3, max	quantiles, as numpy.quantile interpolates them
 * and with a second model, whose numbers are prefixed "against_":
 *	difference		of the means, below 0 if the first model's is lower
 *	welch_t, _df, _p	one-sided, that the first model's mean is lower (MoTE, expression 1)
 *	paired_t, _df, _p	two-sided, of each text's difference (significance.h)
 * Undefined numbers, such as t of constant cosines, are empty cells, in JSON null.
 */
#ifndef PAPERS_MOTE_INTER_TASK_TABLE_H
#define PAPERS_MOTE_INTER_TASK_TABLE_H

#include <stdbool.h>

#include "papers/mote/inter_task.h"
#include "score/per_query.h"

struct inter_task_options {
	const char *field;
	bool any_model, json;
	const char *per_text; /* file of each text's cosines; NULL: none */
};

/* Reads the streams, and those of another model if there are any, and prints the table. */
void inter_task_compare(const char *const *paths, int count, const char *const *against,
    int against_count, const struct inter_task_options *options);

#endif
