/*
 * pair_metrics - the metrics of text pairs that are not means over pairs, for one system or two on the same pairs: the
 * correlations of sts, the average precision of pairclassification.
 *
 * Intervals are bootstrap intervals over pairs drawn with replacement.  There is no paired t test, because pairs have
 * no scores of their own, and no randomisation test, because similarities of two systems cannot be exchanged.
 */
#ifndef MTEB_PAIR_METRICS_H
#define MTEB_PAIR_METRICS_H

#include <stdint.h>

#include "score/measure/significance.h"

enum pair_metric { PAIR_SPEARMAN, PAIR_PEARSON, PAIR_AP };

/* The pairs' targets and similarities. */
struct pair_scores {
	int64_t count;
	const double *target; /* [count]: gold scores, or labels 0 or 1 */
	const double
	    *similarity[2]; /* [count], of each system; the second NULL: only one */
};

struct pair_values {
	double value[2];	  /* of each system; NaN: undefined */
	struct interval interval; /* of the difference, or of the only value */
};

/* The metric and its interval by `resamples` draws; 0: no interval.  draws as in significance_resample. */
struct pair_values pair_metrics(enum pair_metric metric, const struct pair_scores *scores,
    int64_t resamples, uint32_t seed, double *draws);

/* Warns, in the name of a file or metric, that the interval is missing because a draw has no value. */
void pair_metrics_check(const struct pair_values *found, int64_t count, const char *name);

#endif
