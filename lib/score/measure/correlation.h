/*
 * correlation - Pearson's, Spearman's and Kendall's correlation of x [n] and y [n], as scipy computes them.
 *
 * NaN if a list is empty or constant, or has NaN or infinity.
 */
#ifndef SCORE_MEASURE_CORRELATION_H
#define SCORE_MEASURE_CORRELATION_H

#include <stdint.h>

double correlation_pearson(const double *x, const double *y, int64_t n);

/* The same of rows drawn with replacement: row i counts[i] times (NULL: each once).  Rounding may leave it slightly beyond 1. */
double correlation_drawn(
    const double *x, const double *y, const int32_t *counts, int64_t n);

/* Pearson's correlation of the ranks; ties get their mean rank. */
double correlation_spearman(const double *x, const double *y, int64_t n);

/* Kendall's tau-b. */
double correlation_kendall(const double *x, const double *y, int64_t n);

#endif
