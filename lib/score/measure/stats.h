/*
 * stats - correlations and the tests of significance.
 *
 * All sums in double.  Inputs must be finite; a result that does not exist (the correlation
 * with a constant, the mean of nothing) is NaN, for the caller to report.
 */
#ifndef STATS_H
#define STATS_H

#include <stdbool.h>
#include <stdint.h>

double stats_mean(const double *x, int64_t n);
double stats_deviation(const double *x, int64_t n, int lost); /* divided by n - lost */

/* Ranks from 1; equal values share the mean of their ranks. */
void stats_ranks(double *ranks, const double *x, int64_t n);

/* In [-1, 1]; Spearman's is Pearson's of the average ranks, which is right under ties. */
double stats_pearson(const double *x, const double *y, int64_t n);
double stats_spearman(const double *x, const double *y, int64_t n);

/* The places of x in rising or falling order of value; equal ones in their own order. */
void stats_ascending(int64_t *order, const double *x, int64_t n);
void stats_descending(int64_t *order, const double *x, int64_t n);
bool stats_constant(const double *x, int64_t n);

/*
 * Average precision as scikit-learn has it: the sum over distinct scores, descending, of the
 * gain in recall times the precision; equal scores enter together.  NaN when nothing is relevant.
 */
double stats_average_precision(const double *score, const bool *relevant, int64_t n);

/* I_x(a, b), the regularised incomplete beta function; and Student's t: P(T <= t). */
double stats_incomplete_beta(double a, double b, double x);
double stats_t_below(double t, double freedom);

/* Two-sided p of a correlation r over n pairs, by t with n - 2 degrees of freedom. */
double stats_correlation_p(double r, int64_t n);

/* `value` rounded to so many decimals as Python's round does: exactly, half to even. */
double stats_round(double value, int decimals);

#endif
