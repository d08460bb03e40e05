/*
 * score_interval - the 95 % interval of a data set's main score, by a bootstrap over its queries.
 *
 * Reads the table that 'mteb-score --per-query' wrote beside the result (per_query.h).  Most metrics are the mean of a
 * column; the correlations of sts and the average precision of pairclassification are computed from the similarity
 * that gives the score (pair_metrics.h).
 */
#ifndef MTEB_SCORE_INTERVAL_H
#define MTEB_SCORE_INTERVAL_H

#include <stdbool.h>

#include "mteb/pair_metrics.h"
#include "score/measure/significance.h"
#include "score/per_query.h"

enum { SCORE_INTERVAL_RESAMPLES = 1000, SCORE_INTERVAL_SEED = 42 };

/* The column of a table from which a main score is computed: its mean, or `kind` of its similarities.  column -1: none gives it. */
struct score_column {
	int column;
	bool mean;
	enum pair_metric kind;
};
struct score_column score_column(
    const struct per_query *table, const char *metric, double score);

/* The interval of `score`, a fraction in 0..1, at SIGNIFICANCE_LEVEL: the bootstrap over the rows of the per-query table `path`.
 * Both ends are NaN if `path` is NULL, or if `metric` of its rows does not give `score`.  Dies on a damaged file. */
struct interval score_interval(const char *path, const char *metric, double score);

#endif
