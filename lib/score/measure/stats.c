#include "score/measure/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

double
stats_mean(const double *x, int64_t n)
{
	double sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += x[i];
	return sum / (double)n;
}

double
stats_deviation(const double *x, int64_t n, int lost)
{
	double mean = stats_mean(x, n), sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += (x[i] - mean) * (x[i] - mean);
	return sqrt(sum / (double)(n - lost));
}

struct place {
	double value;
	int64_t index;
};

/* Equal values in their own order, which qsort alone would not promise. */
static int
rising(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

static int
falling(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->value != y->value ? rising(b, a) : rising(a, b);
}

static struct place *
sorted(const double *x, int64_t n, int (*compare)(const void *, const void *))
{
	struct place *places = mem_new((size_t)n, sizeof *places);

	for (int64_t i = 0; i < n; i++)
		places[i] = (struct place){ x[i], i };
	qsort(places, (size_t)n, sizeof *places, compare);
	return places;
}

void
stats_ranks(double *ranks, const double *x, int64_t n)
{
	struct place *places = sorted(x, n, rising);

	for (int64_t first = 0, last; first < n; first = last) {
		for (last = first; last < n && places[last].value == places[first].value;)
			last++;
		for (int64_t i = first; i < last; i++)
			ranks[places[i].index] = 0.5 * (double)(first + 1 + last);
	}
	free(places);
}

static void
order_of(int64_t *order, struct place *places, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		order[i] = places[i].index;
	free(places);
}

void
stats_ascending(int64_t *order, const double *x, int64_t n)
{
	order_of(order, sorted(x, n, rising), n);
}

void
stats_descending(int64_t *order, const double *x, int64_t n)
{
	order_of(order, sorted(x, n, falling), n);
}

bool
stats_constant(const double *x, int64_t n)
{
	for (int64_t i = 1; i < n; i++)
		if (x[i] != x[0])
			return false;
	return true;
}

double
stats_average_precision(const double *score, const bool *relevant, int64_t n)
{
	int64_t *order = mem_new((size_t)n, sizeof *order);
	int64_t found = 0, before = 0;
	double sum = 0;

	stats_descending(order, score, n);
	for (int64_t i = 0; i < n; i++) {
		found += relevant[order[i]];
		if (i + 1 < n && score[order[i + 1]] == score[order[i]])
			continue;
		sum += (double)(found - before) * (double)found / (double)(i + 1);
		before = found;
	}
	free(order);
	return found ? sum / (double)found : NAN;
}

double
stats_pearson(const double *x, const double *y, int64_t n)
{
	double mean_x = stats_mean(x, n), mean_y = stats_mean(y, n);
	double xx = 0, yy = 0, xy = 0;

	for (int64_t i = 0; i < n; i++) {
		double dx = x[i] - mean_x, dy = y[i] - mean_y;
		xx += dx * dx;
		yy += dy * dy;
		xy += dx * dy;
	}
	/* what is left of a constant after its mean was taken off is rounding */
	double tiny_x = 1e-13 * fabs(mean_x), tiny_y = 1e-13 * fabs(mean_y);
	if (sqrt(xx) <= tiny_x || sqrt(yy) <= tiny_y)
		return NAN;
	/* one root, so that equal lists give 1 and not a digit less; wide, so that it cannot overflow */
	double scale = (double)sqrtl((long double)xx * yy);
	return fmax(-1, fmin(1, xy / scale));
}

double
stats_spearman(const double *x, const double *y, int64_t n)
{
	double *ranks = mem_new((size_t)n, 2 * sizeof *ranks);

	stats_ranks(ranks, x, n);
	stats_ranks(ranks + n, y, n);
	double rho = stats_pearson(ranks, ranks + n, n);
	free(ranks);
	return rho;
}

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
stats_incomplete_beta(double a, double b, double x)
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
stats_t_below(double t, double freedom)
{
	double tail =
	    0.5 * stats_incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));

	return t > 0 ? 1 - tail : tail;
}

double
stats_correlation_p(double r, int64_t n)
{
	double freedom = (double)(n - 2);

	if (fabs(r) >= 1)
		return 0;
	/* t^2 = r^2 freedom / (1 - r^2), so freedom / (freedom + t^2) = 1 - r^2 */
	return stats_incomplete_beta(freedom / 2, 0.5, (1 + r) * (1 - r));
}

double
stats_round(double value, int decimals)
{
	char text[400];

	if (!isfinite(value))
		return value;
	snprintf(text, sizeof text, "%.*f", decimals, value);
	return strtod(text, NULL);
}
