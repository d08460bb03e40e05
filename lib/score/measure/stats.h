/*
 * stats - means, orders and ranks.
 *
 * All sums in double.  The mean of nothing is NaN, and so is one with a NaN in it.  In an order NaN
 * comes last, rising or falling, and its rank is NaN.
 */
#ifndef SCORE_MEASURE_STATS_H
#define SCORE_MEASURE_STATS_H

#include <stdbool.h>
#include <stdint.h>

double stats_mean(const double *x, int64_t n);
double stats_deviation(const double *x, int64_t n, int lost); /* divided by n - lost */
bool stats_constant(const double *x, int64_t n);

/* Ranks from 1; equal values share the mean of their ranks. */
void stats_ranks(double *ranks, const double *x, int64_t n);

/* The places of x in rising or falling order of value; equal ones in their own order. */
void stats_ascending(int64_t *order, const double *x, int64_t n);
void stats_descending(int64_t *order, const double *x, int64_t n);

/* In rising order; of a list in it the value below which lies that share of it, 0 to 1, between two
 * of them by that much of the way, as numpy.quantile does.  n > 0. */
void stats_sort(double *x, int64_t n);
double stats_quantile(const double *sorted, int64_t n, double share);

/* `value` rounded to so many decimals as Python's round does: exactly, half to even. */
double stats_round(double value, int decimals);

#endif
