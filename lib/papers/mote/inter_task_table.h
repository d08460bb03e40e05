/*
 * inter_task_table - what inter_task(.h) found, as a table: a line a pair of tasks, "ONE:OTHER", and one
 * of each text's mean over the pairs, "all".
 *
 *	texts, mean, deviation	number, mean and standard deviation (n - 1) of the cosines
 *	min, q1, median, q3, max	quantiles, as numpy.quantile interpolates them
 * and with a second model, whose numbers have "against_" before their names:
 *	difference		of the means, below 0 where the first model's is lower
 *	welch_t, _df, _p	one-sided, that the first model's mean is lower (MoTE, expression 1)
 *	paired_t, _df, _p	two-sided, of each text's difference (significance.h)
 * What there is not, as t of cosines that do not vary, is an empty cell, in JSON null.
 */
#ifndef PAPERS_MOTE_INTER_TASK_TABLE_H
#define PAPERS_MOTE_INTER_TASK_TABLE_H

#include <stdbool.h>

#include "papers/mote/inter_task.h"
#include "score/per_query.h"

struct inter_task_table;

/* `against`: NULL, or another model's.  Both are borrowed.  Dies as inter_task_lists. */
struct inter_task_table *inter_task_table_new(
    const struct inter_task *inter_task, const struct inter_task *against);

/* To standard output. */
void inter_task_table_print(const struct inter_task_table *table, bool json);

/* The cosines of each text, a column a line of the table; those of the second model are called
 * "against ONE:OTHER".  Finishes the file. */
void inter_task_table_write(const struct inter_task_table *table, struct per_query *to);
void inter_task_table_free(struct inter_task_table *table);

/* All of that: read the streams, and those of another model unless there are none of it, and print. */
struct inter_task_options {
	const char *field;
	bool any_model, json;
	const char *per_text; /* a path; NULL: not wanted */
};
void inter_task_compare(const char *const *paths, int count, const char *const *against,
    int against_count, const struct inter_task_options *options);

#endif
