/*
 * score_interval - the 95 % interval of a data set's main score, by a bootstrap over its queries.
 *
 * The queries' scores are the table that 'mteb-score --per-query' has written beside the result
 * (per_query.h).  A mean over queries is that of the metric's column; the correlations of sts and the average precision of
 * pairclassification are those of the similarity that reaches the score.
 */
#ifndef MTEB_SCORE_INTERVAL_H
#define MTEB_SCORE_INTERVAL_H

#include "score/measure/significance.h"

enum { SCORE_INTERVAL_RESAMPLES = 1000, SCORE_INTERVAL_SEED = 42 };

/* The interval of `score`, a fraction in 0..1, at COMPARISON_LEVEL: the bootstrap over the rows of the per-query table `path`.
 * Both ends are NaN if there is no such file, or if `metric` of its rows does not give `score`.  Dies on a damaged file. */
struct interval score_interval(const char *path, const char *metric, double score);

#endif
