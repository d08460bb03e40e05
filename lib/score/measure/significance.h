/*
 * significance - tests of scores and correlations: Welch's and the paired t test, randomisation, bootstrap.
 *
 * Welch's test treats the lists as independent samples (MoTE, expression 1):
 *	t = (mean1 - mean2) / sqrt(s1^2/n1 + s2^2/n2), unbiased variances, Welch and Satterthwaite's
 *	degrees of freedom; p = P(T <= t), small if mean1 is lower.
 * Scores of two models on the same data sets are pairs, and most of their variance comes from the data sets: the
 * paired test and the bootstrap use the differences.  t is NaN for fewer than two scores, or equal ones.
 */
#ifndef SCORE_MEASURE_SIGNIFICANCE_H
#define SCORE_MEASURE_SIGNIFICANCE_H

#include <stdint.h>

/* The regularised incomplete beta function I_x(a, b); rest = 1 - x, passed because 1 - x may round.
 * Student's t: P(T <= t). */
double significance_beta(double a, double b, double x, double rest);
double significance_t_below(double t, double freedom);

/* Two-sided p of a correlation r of n pairs, by t with n - 2 degrees of freedom. */
double significance_correlation(double r, int64_t n);

struct t_test {
	double t, freedom, p;
	double
	    error; /* standard error of the difference; NaN for fewer than two scores */
};

/* One-sided: that the first list's mean is lower. */
struct t_test significance_welch(
    const double *first, int64_t n1, const double *second, int64_t n2);

/* Two-sided: that the mean of the differences is not 0; Student's t with n - 1. */
struct t_test significance_paired(const double *differences, int64_t n);

/*
 * Two-sided p of the paired randomisation test (Fisher): the share of all sign assignments of the differences whose
 * sum is at least as far from 0 as the observed sum.  With more than `draws` assignments, `draws` are sampled:
 * p = (1 + number as far) / (1 + draws).  Differences of 0 are left out.
 */
double significance_randomisation(
    const double *differences, int64_t n, int64_t draws, uint32_t seed);

#define SIGNIFICANCE_LEVEL 0.95 /* confidence level of intervals */

/* Percentile bootstrap: for each list (column) of differences [n, lists] the interval that holds SIGNIFICANCE_LEVEL of the means
 * of `resamples` draws of rows with replacement.  Ends are interpolated as by numpy.percentile; draws are
 * numpy.random.RandomState(seed).randint's. */
struct interval {
	double low, high;
	double error; /* standard error: the standard deviation over the draws */
};
void significance_bootstrap(struct interval *intervals, const double *differences,
    int64_t n, int lists, int64_t resamples, uint32_t seed);

/*
 * The same interval of any statistic of rows drawn with replacement; counts [n] says how often each row was drawn.
 * The draws equal significance_bootstrap's.  NaN if the statistic of a draw is NaN, n < 2, or there are no resamples.  Calls the
 * statistic from several threads.  draws [resamples]: its values, in the order of the draws, NaN if n < 2; NULL: not wanted.
 */
typedef double significance_statistic(const void *context, const int32_t *counts);
struct interval significance_resample(significance_statistic *statistic,
    const void *context, int64_t n, int64_t resamples, uint32_t seed, double *draws);

/* The interval of values, which it sorts; NaN if one is NaN. */
struct interval significance_interval(double *values, int64_t count);

/* Two-sided p of a difference with this standard error, by Student's t. */
double significance_two_sided(double difference, double error, double freedom);

/* Holm's correction for several tests: corrects p [count] in place; NaN is no test. */
void significance_holm(double *p, int64_t count);

#endif
