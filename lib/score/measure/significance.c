#include "score/measure/significance.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "score/measure/stats.h"
#include "score/mt19937.h"

/* The continued fraction of I_x(a, b) by Lentz's method; converges for x < (a+1)/(a+b+2). */
static double
beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 / fmax(1 - (a + b) * x / (a + 1), tiny), result = d;

	for (int m = 1; m <= 10000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		d = 1 / (1 + even * d + tiny);
		c = 1 + even / c + tiny;
		result *= d * c;
		d = 1 / (1 + odd * d + tiny);
		c = 1 + odd / c + tiny;
		double step = d * c;
		result *= step;
		if (fabs(step - 1) < 1e-16)
			break;
	}
	return result;
}

double
significance_beta(double a, double b, double x)
{
	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	double front =
	    exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double
significance_t_below(double t, double freedom)
{
	double tail =
	    0.5 * significance_beta(freedom / 2, 0.5, freedom / (freedom + t * t));

	return t > 0 ? 1 - tail : tail;
}

double
significance_correlation(double r, int64_t n)
{
	double freedom = (double)(n - 2);

	if (fabs(r) >= 1)
		return 0;
	/* t^2 = r^2 freedom / (1 - r^2), so freedom / (freedom + t^2) = 1 - r^2 */
	return significance_beta(freedom / 2, 0.5, (1 + r) * (1 - r));
}

static double
variance(const double *x, int64_t n)
{
	double deviation = n > 1 ? stats_deviation(x, n, 1) : NAN;

	return deviation * deviation;
}

struct t_test
significance_welch(const double *first, int64_t n1, const double *second, int64_t n2)
{
	double a = variance(first, n1) / (double)n1,
	       b = variance(second, n2) / (double)n2;
	struct t_test test = { NAN, NAN, NAN };

	if (!(a + b > 0))
		return test;
	test.t = (stats_mean(first, n1) - stats_mean(second, n2)) / sqrt(a + b);
	test.freedom =
	    (a + b) * (a + b) / (a * a / (double)(n1 - 1) + b * b / (double)(n2 - 1));
	test.p = significance_t_below(test.t, test.freedom);
	return test;
}

struct t_test
significance_paired(const double *differences, int64_t n)
{
	double square = variance(differences, n) / (double)n;
	struct t_test test = { NAN, NAN, NAN };

	if (!(square > 0))
		return test;
	test.t = stats_mean(differences, n) / sqrt(square);
	test.freedom = (double)(n - 1);
	test.p = 2 * significance_t_below(-fabs(test.t), test.freedom);
	return test;
}

static int
ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Of sorted values, between two where the share falls between them. */
static double
percentile(const double *sorted, int64_t n, double share)
{
	double at = share * (double)(n - 1);
	int64_t below = (int64_t)floor(at);
	double part = at - (double)below;

	return below + 1 < n ? sorted[below] + part * (sorted[below + 1] - sorted[below])
			     : sorted[n - 1];
}

struct interval
significance_bootstrap(
    const double *differences, int64_t n, int64_t resamples, uint32_t seed, double level)
{
	struct mt19937 mt;
	struct interval interval = { NAN, NAN };

	if (n < 2)
		return interval;
	double *means = mem_new((size_t)resamples, sizeof *means);
	int64_t *drawn = mem_new((size_t)n, sizeof *drawn);
	mt19937_seed_numpy(&mt, seed);
	for (int64_t r = 0; r < resamples; r++) {
		double sum = 0;
		mt19937_integers(&mt, n, drawn, n);
		for (int64_t i = 0; i < n; i++)
			sum += differences[drawn[i]];
		means[r] = sum / (double)n;
	}
	qsort(means, (size_t)resamples, sizeof *means, ascending);
	interval.low = percentile(means, resamples, (1 - level) / 2);
	interval.high = percentile(means, resamples, (1 + level) / 2);
	free(drawn);
	free(means);
	return interval;
}
