/*
 * abstention - nAUC: does a metric rise if queries of low confidence get no answer?
 * (Gisserot-Boukhlef et al. 2024, "Towards trustworthy reranking", arXiv 2402.12997; mteb)
 *
 * The curve is the metric's mean without the 0 %, 10 %, ... 90 % of queries with the least confidence; the area
 * under it is scaled from no effect (0) to dropping the queries with the lowest metric first (1):
 *
 *	nAUC = (area - flat) / (best - flat)
 *
 * Confidences of a query's similarities: max, the greatest; std, their standard deviation; diff1, the greatest
 * minus the second.  A NaN confidence (of infinite similarities) sorts last and equals no other, as in numpy.
 *
 * NaN if the metric is the same for all queries up to rounding; mteb divides by the rounding error.
 */
#ifndef SCORE_MEASURE_ABSTENTION_H
#define SCORE_MEASURE_ABSTENTION_H

#include "score/report.h"

struct abstention;

/* Queries of equal confidence stay in input order (v1), or each counts as their mean (v2). */
struct abstention *abstention_new(enum protocol protocol);

/* Adds a query: the similarities [count] of its hits, descending. */
void abstention_add(
    struct abstention *abstention, const float *similarity, int64_t count);

/* Reports PREFIX_max, PREFIX_std and PREFIX_diff1 of a metric [queries]. */
void abstention_report(const struct abstention *abstention, struct report *report,
    const char *prefix, const double *metric);
void abstention_free(struct abstention *abstention);

#endif
