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
#ifndef SCORE_MEASURE_SIGNIFICANCE_H
#define SCORE_MEASURE_SIGNIFICANCE_H

#include <stdint.h>

/* I_x(a, b), the regularised incomplete beta function, of x and its rest to 1, which 1 - x would
 * round; and Student's t: P(T <= t). */
double significance_beta(double a, double b, double x, double rest);
double significance_t_below(double t, double freedom);

/* Two-sided p of a correlation r over n pairs, by t with n - 2 degrees of freedom. */
double significance_correlation(double r, int64_t n);

struct t_test {
	double t, freedom, p;
	double
	    error; /* the standard error of what t is a multiple of; NaN: fewer than two */
};

/* One-sided: that the first list's mean is lower. */
struct t_test significance_welch(
    const double *first, int64_t n1, const double *second, int64_t n2);

/* Two-sided: that the mean of the differences is not 0; Student's t with n - 1. */
struct t_test significance_paired(const double *differences, int64_t n);

/*
 * Two-sided p of the paired randomisation test (Fisher): of all ways to give the differences signs
 * the share in which their sum is as far from 0 as it is.  Where there are more than `draws` ways,
 * of so many that are drawn, and the one that is: (1 + those as far) / (1 + draws).  Differences of
 * 0 have no sign.
 */
double significance_randomisation(
    const double *differences, int64_t n, int64_t draws, uint32_t seed);

/* The intervals that hold `level` of the means of `resamples` draws with replacement, of each of
 * several lists that are drawn from together: differences [n, lists].  Ends are interpolated as
 * numpy.percentile does; draws are numpy.random.RandomState(seed).randint's. */
struct interval {
	double low, high;
	double error; /* the standard error: the draws' deviation */
};
void significance_bootstrap(struct interval *intervals, const double *differences,
    int64_t n, int lists, int64_t resamples, uint32_t seed, double level);

/*
 * The same interval of a statistic that is no mean, of rows drawn with replacement: it is told how
 * often each of them was drawn [n].  The draws are significance_bootstrap's.  NaN where a draw gives
 * the statistic no value, and of fewer than two rows.  Statistics are taken side by side.
 */
typedef double significance_statistic(const void *context, const int32_t *counts);
struct interval significance_resample(significance_statistic *statistic,
    const void *context, int64_t n, int64_t resamples, uint32_t seed, double level);

#endif
