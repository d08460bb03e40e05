/*
 * query_comparison - compares systems on the same queries, by their tables of per_query.h: the first with each
 * other, with significance tests (significance.h).
 *
 * Queries are matched by id and metrics by name; those in only one file are left out with a warning.  For each metric:
 * both means, the difference, the paired t and p, the p of the randomisation test, the bootstrap interval over queries
 * and the standard error of the difference; TSV has all digits.
 *
 * Tables of text pairs have "label" or "gold" and similarities instead of scores: for their metrics (pair_metrics.h) there
 * are only the bootstrap's interval and error.
 */
#ifndef MTEB_QUERY_COMPARISON_H
#define MTEB_QUERY_COMPARISON_H

#include <stdio.h>

#include "mteb/model_comparison.h"

/* Reads at least two files. */
void query_comparison_print(
    char *const *files, int count, const struct comparison_options *options, FILE *out);

#endif
