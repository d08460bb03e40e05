/*
 * stats - means, sorting orders, ranks and quantiles of x [n], in double.
 *
 * The mean of an empty list, or of one with NaN, is NaN.  NaN sorts last, ascending or descending, and its rank
 * is NaN.
 */
#ifndef SCORE_MEASURE_STATS_H
#define SCORE_MEASURE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A growing list of numbers; start with zeros, free `at`. */
struct series {
	double *at;
	int64_t count;
	size_t room;
};
void series_add(struct series *series, double value);

double stats_mean(const double *x, int64_t n);
double stats_deviation(
    const double *x, int64_t n, int ddof); /* standard deviation, divided by n - ddof */
bool stats_constant(const double *x, int64_t n);

/* Writes ranks [n] from 1; equal values get their mean rank. */
void stats_ranks(double *ranks, const double *x, int64_t n);

/* Writes order [n], the indices that sort x; stable. */
void stats_ascending(int64_t *order, const double *x, int64_t n);
void stats_descending(int64_t *order, const double *x, int64_t n);

/* Sorts ascending.  The quantile `share`, 0 to 1, of a sorted list, interpolated linearly as by numpy.quantile; n > 0. */
void stats_sort(double *x, int64_t n);
double stats_quantile(const double *sorted, int64_t n, double share);

/* Rounds to so many decimals as Python's round: correctly rounded, half to even. */
double stats_round(double value, int decimals);

#endif
