#include "score/measure/significance.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "score/measure/stats.h"
#include "base/mt19937.h"

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

/* The error term of Stirling's formula for ln Gamma(z), z >= 100. */
static double
stirling_rest(double z)
{
	return (1 - (1 - 2 / (7 * z * z)) / (30 * z * z)) / (12 * z);
}

/* ln B(a, b).  For large arguments the differences of ln Gamma would cancel. */
static double
log_beta(double a, double b)
{
	double large = fmax(a, b), small = fmin(a, b);

	if (large < 100)
		return lgamma(a) + lgamma(b) - lgamma(a + b);
	double growth = small * log(large) - small +
			(large + small - 0.5) * log1p(small / large) +
			stirling_rest(large + small) - stirling_rest(large);
	return lgamma(small) - growth;
}

double
significance_beta(double a, double b, double x, double rest)
{
	if (x <= 0 || rest <= 0)
		return x <= 0 ? 0 : 1;
	double log_x = x < rest ? log(x) : log1p(-rest);
	double log_rest = x < rest ? log1p(-x) : log(rest);
	double front = exp(a * log_x + b * log_rest - log_beta(a, b));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, rest) / b;
}

double
significance_t_below(double t, double freedom)
{
	double whole = freedom + t * t;
	double tail =
	    0.5 * significance_beta(freedom / 2, 0.5, freedom / whole, t * t / whole);

	return t > 0 ? 1 - tail : tail;
}

double
significance_correlation(double r, int64_t n)
{
	double freedom = (double)(n - 2);

	if (fabs(r) >= 1)
		return 0;
	/* t^2 = r^2 freedom / (1 - r^2), so freedom / (freedom + t^2) = 1 - r^2 */
	return significance_beta(freedom / 2, 0.5, (1 + r) * (1 - r), r * r);
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
	struct t_test test = { NAN, NAN, NAN, sqrt(a + b) };

	if (!(a + b > 0))
		return test;
	test.t = (stats_mean(first, n1) - stats_mean(second, n2)) / test.error;
	test.freedom =
	    (a + b) * (a + b) / (a * a / (double)(n1 - 1) + b * b / (double)(n2 - 1));
	test.p = significance_t_below(test.t, test.freedom);
	return test;
}

struct t_test
significance_paired(const double *differences, int64_t n)
{
	double square = variance(differences, n) / (double)n;
	struct t_test test = { NAN, NAN, NAN, sqrt(square) };

	if (!(square > 0))
		return test;
	test.t = stats_mean(differences, n) / test.error;
	test.freedom = (double)(n - 1);
	test.p = 2 * significance_t_below(-fabs(test.t), test.freedom);
	return test;
}

double
significance_two_sided(double difference, double error, double freedom)
{
	if (!(error > 0))
		return isnan(error) ? NAN : difference == 0;
	return 2 * significance_t_below(-fabs(difference) / error, freedom);
}

void
significance_holm(double *p, int64_t count)
{
	int64_t *order = mem_new((size_t)count, sizeof *order), tests = 0;
	double most = 0;

	stats_ascending(order, p, count);
	for (int64_t i = 0; i < count; i++)
		if (!isnan(p[order[i]]))
			order[tests++] = order[i];
	for (int64_t i = 0; i < tests; i++) {
		most = fmax(most, p[order[i]] * (double)(tests - i));
		p[order[i]] = fmin(most, 1);
	}
	free(order);
}

enum { GROUP = 4, SIGNS = 1 << GROUP };

/* The sums of each four differences under each of their 16 signs, [groups, SIGNS]: a draw then adds one
 * number per group. */
static double *
group_sums(const double *differences, int64_t n, int64_t groups)
{
	double *sums = mem_zero((size_t)groups * SIGNS, sizeof *sums);

	for (int64_t i = 0; i < n; i++)
		for (int signs = 0; signs < SIGNS; signs++)
			sums[i / GROUP * SIGNS + signs] +=
			    signs >> (i % GROUP) & 1 ? -differences[i] : differences[i];
	return sums;
}

/* The sum under the signs that are the bits of `signs`; random signs if it is below 0. */
static double
signed_sum(const double *sums, int64_t groups, int64_t signs, struct rng *rng)
{
	uint64_t bits = (uint64_t)signs;
	double sum = 0;

	for (int64_t i = 0; i < groups; i++, bits >>= GROUP) {
		if (signs < 0 && i % (64 / GROUP) == 0)
			bits = rng_next(rng);
		sum += sums[i * SIGNS + (int64_t)(bits & (SIGNS - 1))];
	}
	return sum;
}

double
significance_randomisation(
    const double *differences, int64_t n, int64_t draws, uint32_t seed)
{
	struct rng rng = rng_seed(seed, 0);
	double *nonzero = mem_new((size_t)n, sizeof *nonzero), all = 0;
	int64_t count = 0, far = 0;

	for (int64_t i = 0; i < n; i++)
		if (differences[i] != 0) {
			nonzero[count++] = differences[i];
			all += fabs(differences[i]);
		}
	int64_t groups = (count + GROUP - 1) / GROUP;
	double *sums = group_sums(nonzero, count, groups);
	/* equal sums may differ by rounding */
	double least = fabs(signed_sum(sums, groups, 0, NULL)) - 1e-12 * all;
	bool exact = count < 62 && (int64_t)1 << count <= draws;
	int64_t trials = exact ? (int64_t)1 << count : draws;
	for (int64_t i = 0; i < trials; i++)
		far += fabs(signed_sum(sums, groups, exact ? i : -1, &rng)) >= least;
	free(nonzero);
	free(sums);
	return exact ? (double)far / (double)trials
		     : (double)(far + 1) / (double)(trials + 1);
}

struct interval
significance_interval(double *values, int64_t count)
{
	stats_sort(values, count);
	if (isnan(values[count - 1])) /* NaN is the last */
		return (struct interval){ NAN, NAN, NAN };
	return (
	    struct interval){ stats_quantile(values, count, (1 - SIGNIFICANCE_LEVEL) / 2),
		stats_quantile(values, count, (1 + SIGNIFICANCE_LEVEL) / 2),
		stats_deviation(values, count, 1) };
}

void
significance_bootstrap(struct interval *intervals, const double *differences, int64_t n,
    int lists, int64_t resamples, uint32_t seed)
{
	struct mt19937 mt;
	size_t many = (size_t)lists;

	for (int l = 0; l < lists; l++)
		intervals[l] = (struct interval){ NAN, NAN, NAN };
	if (n < 2)
		return;
	double *means = mem_new((size_t)resamples, many * sizeof *means);
	double *sums = mem_new(many, sizeof *sums);
	int64_t *drawn = mem_new((size_t)n, sizeof *drawn);
	mt19937_seed_numpy(&mt, seed);
	for (int64_t r = 0; r < resamples; r++) {
		memset(sums, 0, many * sizeof *sums);
		mt19937_integers(&mt, n, drawn, n);
		for (int64_t i = 0; i < n; i++)
			for (int l = 0; l < lists; l++)
				sums[l] += differences[drawn[i] * lists + l];
		for (int l = 0; l < lists; l++)
			means[l * resamples + r] = sums[l] / (double)n;
	}
	for (int l = 0; l < lists; l++)
		intervals[l] = significance_interval(means + l * resamples, resamples);
	free(drawn);
	free(sums);
	free(means);
}

struct interval
significance_resample(significance_statistic *statistic, const void *context, int64_t n,
    int64_t resamples, uint32_t seed, double *draws)
{
	enum { AT_ONCE = 64 };
	struct interval interval = { NAN, NAN, NAN };
	struct mt19937 mt;

	for (int64_t r = 0; draws && r < resamples; r++)
		draws[r] = NAN;
	if (n < 2 || !resamples)
		return interval;
	int64_t *drawn = mem_new((size_t)n, sizeof *drawn), some;
	int32_t *counts = mem_new((size_t)n, AT_ONCE * sizeof *counts);
	double *values = mem_new((size_t)resamples, sizeof *values);

	mt19937_seed_numpy(&mt, seed);
	for (int64_t first = 0; first < resamples; first += some) {
		some = resamples - first < AT_ONCE ? resamples - first : AT_ONCE;
		memset(counts, 0, (size_t)(n * some) * sizeof *counts);
		for (int64_t r = 0; r < some; r++) {
			mt19937_integers(&mt, n, drawn, n);
			for (int64_t i = 0; i < n; i++)
				counts[r * n + drawn[i]]++;
		}
#pragma omp parallel for schedule(dynamic)
		for (int64_t r = 0; r < some; r++)
			values[first + r] = statistic(context, counts + r * n);
	}
	if (draws)
		memcpy(draws, values, (size_t)resamples * sizeof *draws);
	interval = significance_interval(values, resamples);
	free(drawn);
	free(counts);
	free(values);
	return interval;
}
