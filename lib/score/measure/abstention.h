/*
 * abstention - would it help to give no answer where the similarities leave doubt?
 * nAUC (Gisserot-Boukhlef et al. 2024, "Towards trustworthy reranking", arXiv 2402.12997).
 *
 * Queries are left out, 0 %, 10 %, ... 90 % of them, those of least confidence first: the greatest
 * similarity that the query found, the standard deviation of what it found, or how far the
 * greatest is above the second.  The area under the mean of a metric over the rest, between no
 * effect (0) and leaving out those where the metric is lowest (1):
 *
 *	nAUC = (area - flat) / (best - flat)
 *
 * A confidence that is NaN (of infinite similarities) is above all others, and equal to none, as in numpy.
 *
 * NaN when the metric is the same for all queries, up to rounding (the reference divides what
 * rounding left there).
 */
#ifndef SCORE_MEASURE_ABSTENTION_H
#define SCORE_MEASURE_ABSTENTION_H

#include "score/report.h"

struct abstention;

/* Queries of equal confidence: in v1 in their own order; in v2 each has their mean. */
struct abstention *abstention_new(enum protocol protocol);

/* The similarities that the next query found, the greatest first. */
void abstention_add(
    struct abstention *abstention, const float *similarity, int64_t count);

/* PREFIX_max, PREFIX_std and PREFIX_diff1 of a metric [queries]. */
void abstention_report(const struct abstention *abstention, struct report *report,
    const char *prefix, const double *metric);
void abstention_free(struct abstention *abstention);

#endif
