/*
 * correlation - how far two lists of numbers go together, in [-1, 1].
 *
 * With a constant, with nothing, or with what is not finite there is none: NaN.
 */
#ifndef SCORE_MEASURE_CORRELATION_H
#define SCORE_MEASURE_CORRELATION_H

#include <stdint.h>

double correlation_pearson(const double *x, const double *y, int64_t n);

/* Pearson's of the average ranks, which is right under ties. */
double correlation_spearman(const double *x, const double *y, int64_t n);

#endif
