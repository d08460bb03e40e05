/*
 * significance - whether scores, or a correlation, say more than chance does.
 *
 * Welch's test takes the lists as independent samples (MoTE, expression 1):
 *	t = (mean1 - mean2) / sqrt(s1^2/n1 + s2^2/n2), unbiased variances, Welch and Satterthwaite's
 *	degrees of freedom; p = P(T <= t), small where mean1 is the lower one.
 * Scores of two models on the same data sets are pairs, and most of their spread is that of the
 * data sets, which both share: the paired test and the bootstrap look at differences alone.
 * Fewer than two scores, or none that vary, have no t: NaN.
 */
#ifndef SIGNIFICANCE_H
#define SIGNIFICANCE_H

#include <stdint.h>

/* I_x(a, b), the regularised incomplete beta function; and Student's t: P(T <= t). */
double significance_beta(double a, double b, double x);
double significance_t_below(double t, double freedom);

/* Two-sided p of a correlation r over n pairs, by t with n - 2 degrees of freedom. */
double significance_correlation(double r, int64_t n);

struct t_test {
	double t, freedom, p;
};

/* One-sided: that the first list's mean is lower. */
struct t_test significance_welch(
    const double *first, int64_t n1, const double *second, int64_t n2);

/* Two-sided: that the mean of the differences is not 0; Student's t with n - 1. */
struct t_test significance_paired(const double *differences, int64_t n);

/* The interval that holds `level` of the means of `resamples` draws with replacement, ends
 * interpolated as numpy.percentile does; draws are numpy.random.RandomState(seed).randint's. */
struct interval {
	double low, high;
};
struct interval significance_bootstrap(
    const double *differences, int64_t n, int64_t resamples, uint32_t seed, double level);

#endif
