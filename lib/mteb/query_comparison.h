/*
 * query_comparison - two systems on the same queries: tables of per_query(.h), the first of them
 * against each other one; and what of the differences may be chance (significance.h).
 *
 * Queries are matched by their ids, metrics by their names; those that only one file has are left
 * out, with a warning.  For each metric: both means, the difference, the paired t and p, the p
 * of the randomisation test, the bootstrap's interval over queries, the mean difference's standard
 * error; TSV has all digits.
 *
 * Of pairs of texts the tables have what metrics are made of, "label" or "gold" and similarities: of
 * these the metrics that are no means, with the bootstrap's interval and error alone
 * (pair_metrics.h).
 */
#ifndef MTEB_QUERY_COMPARISON_H
#define MTEB_QUERY_COMPARISON_H

#include <stdio.h>

#include "mteb/comparison.h"

/* Files, two at least. */
void query_comparison_print(
    char *const *files, int count, const struct comparison_options *options, FILE *out);

#endif
