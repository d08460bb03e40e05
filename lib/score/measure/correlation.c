#include "score/measure/correlation.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "score/measure/stats.h"

double
correlation_drawn(const double *x, const double *y, const int32_t *counts, int64_t n)
{
	double all = 0, mean_x = 0, mean_y = 0, xx = 0, yy = 0, xy = 0;

	for (int64_t i = 0; i < n; i++) {
		double times = counts ? counts[i] : 1;
		all += times;
		mean_x += times * x[i];
		mean_y += times * y[i];
	}
	mean_x /= all;
	mean_y /= all;
	for (int64_t i = 0; i < n; i++) {
		double times = counts ? counts[i] : 1;
		double dx = x[i] - mean_x, dy = y[i] - mean_y;
		xx += times * dx * dx;
		yy += times * dy * dy;
		xy += times * dx * dy;
	}
	/* a constant minus its mean leaves only rounding errors */
	double tiny_x = 1e-13 * fabs(mean_x), tiny_y = 1e-13 * fabs(mean_y);
	if (!(sqrt(xx) > tiny_x && sqrt(yy) > tiny_y))
		return NAN;
	/* a single square root makes equal lists give exactly 1; long double avoids overflow */
	return xy / (double)sqrtl((long double)xx * yy);
}

double
correlation_pearson(const double *x, const double *y, int64_t n)
{
	double r = correlation_drawn(x, y, NULL, n);

	return isnan(r) ? NAN : fmax(-1, fmin(1, r));
}

double
correlation_spearman(const double *x, const double *y, int64_t n)
{
	double *ranks = mem_new((size_t)n, 2 * sizeof *ranks);

	stats_ranks(ranks, x, n);
	stats_ranks(ranks + n, y, n);
	double rho = correlation_pearson(ranks, ranks + n, n);
	free(ranks);
	return rho;
}

/* Pairs of equal values in a sorted list. */
static int64_t
tied_pairs(const double *sorted, int64_t n)
{
	int64_t pairs = 0;

	for (int64_t i = 0, run = 0; i < n; i++) {
		run = i && sorted[i] == sorted[i - 1] ? run + 1 : 0;
		pairs += run;
	}
	return pairs;
}

/* Sorts ascending by merging into `room` [n]; returns the number of pairs that were in falling order. */
static int64_t
sort_and_count(double *y, double *room, int64_t n)
{
	int64_t half = n / 2, falling = 0, i = 0, j = half, k = 0;

	if (n < 2)
		return 0;
	falling += sort_and_count(y, room, half);
	falling += sort_and_count(y + half, room, n - half);
	while (i < half && j < n) {
		bool second = y[j] < y[i];
		falling += second ? half - i : 0;
		room[k++] = second ? y[j++] : y[i++];
	}
	while (i < half)
		room[k++] = y[i++];
	/* the rest of the second half is in its place */
	for (i = 0; i < k; i++)
		y[i] = room[i];
	return falling;
}

/* Sorts by x, then by y, and counts the pairs of equal x, and of equal x and y. */
static void
sort_by_both(double *x_sorted, double *y_sorted, const double *x, const double *y,
    int64_t n, int64_t *both)
{
	int64_t *order = mem_new((size_t)n, sizeof *order);

	stats_ascending(order, x, n);
	for (int64_t i = 0; i < n; i++) {
		x_sorted[i] = x[order[i]];
		y_sorted[i] = y[order[i]];
	}
	free(order);
	*both = 0;
	for (int64_t first = 0, last; first < n; first = last) {
		for (last = first + 1; last < n && x_sorted[last] == x_sorted[first];)
			last++;
		stats_sort(y_sorted + first, last - first);
		*both += tied_pairs(y_sorted + first, last - first);
	}
}

double
correlation_kendall(const double *x, const double *y, int64_t n)
{
	double *sorted = mem_new((size_t)n, 3 * sizeof *sorted);
	double *y_sorted = sorted + n, *room = sorted + 2 * n;
	int64_t all = n * (n - 1) / 2, both;

	for (int64_t i = 0; i < n; i++)
		if (isnan(x[i]) || isnan(y[i])) {
			free(sorted);
			return NAN;
		}
	sort_by_both(sorted, y_sorted, x, y, n, &both);
	int64_t x_ties = tied_pairs(sorted, n);
	int64_t falling = sort_and_count(y_sorted, room, n);
	int64_t y_ties = tied_pairs(y_sorted, n);
	free(sorted);
	if (x_ties == all || y_ties == all)
		return NAN;
	double tau = (double)(all - x_ties - y_ties + both - 2 * falling) /
		     sqrt((double)(all - x_ties)) / sqrt((double)(all - y_ties));
	return fmax(-1, fmin(1, tau));
}
