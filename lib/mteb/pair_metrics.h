/*
 * pair_metrics - what two systems reach on the same pairs of texts, where that is no mean over them: the
 * correlations of sts with the gold scores, the average precision of pairclassification.
 *
 * The interval of their difference is a bootstrap's, of pairs drawn with replacement.  There is no
 * paired t, as pairs have no scores of their own, and no randomisation, as similarities of two
 * systems cannot be exchanged.
 */
#ifndef MTEB_PAIR_METRICS_H
#define MTEB_PAIR_METRICS_H

#include <stdint.h>

#include "score/measure/significance.h"

enum pair_metric { PAIR_SPEARMAN, PAIR_PEARSON, PAIR_AP };

struct pair_scores {
	int64_t count;
	const double *target;	     /* gold scores, or labels, 0 or 1 */
	const double *similarity[2]; /* of either system */
};

struct pair_comparison {
	double value[2]; /* NaN: there is none */
	struct interval interval;
};
struct pair_comparison pair_metrics_compare(enum pair_metric metric,
    const struct pair_scores *scores, int64_t resamples, uint32_t seed, double level);

/* What one of them reaches, and the bootstrap's interval of that. */
struct pair_value {
	double value; /* NaN: there is none */
	struct interval interval;
};
struct pair_value pair_metrics_value(enum pair_metric metric, int64_t count,
    const double *target, const double *similarity, int64_t resamples, uint32_t seed,
    double level);

#endif
