#include "mteb/pair_metrics.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "score/measure/correlation.h"
#include "score/measure/ranking.h"
#include "score/measure/stats.h"

enum { TARGET = 2, LISTS = 3 }; /* behind the two similarities */

struct pairs {
	enum pair_metric metric;
	int64_t count;
	const double *values[LISTS];
	int64_t *order[LISTS]; /* by falling value */
};

/* How far the values equal to the one at `start` of the order go. */
static int64_t
end_of_ties(const struct pairs *pairs, int list, int64_t start)
{
	const double *values = pairs->values[list];
	const int64_t *order = pairs->order[list];
	int64_t end = start + 1;

	while (end < pairs->count && values[order[end]] == values[order[start]])
		end++;
	return end;
}

/* Of rows that are there so many times; equal ones share the mean of their ranks. */
static void
ranks(double *to, const struct pairs *pairs, int list, const int32_t *counts)
{
	const int64_t *order = pairs->order[list];
	int64_t before = 0, end;

	for (int64_t start = 0; start < pairs->count; start = end) {
		int64_t equal = 0;
		end = end_of_ties(pairs, list, start);
		for (int64_t i = start; i < end; i++)
			equal += counts[order[i]];
		for (int64_t i = start; i < end; i++)
			to[order[i]] = (double)before + (double)(equal + 1) / 2;
		before += equal;
	}
}

/* Pearson's correlation of rows that are there so many times. */
static double
correlation(const double *x, const double *y, const int32_t *counts, int64_t n)
{
	double all = 0, mean_x = 0, mean_y = 0, xx = 0, yy = 0, xy = 0;

	for (int64_t i = 0; i < n; i++) {
		all += counts[i];
		mean_x += counts[i] * x[i];
		mean_y += counts[i] * y[i];
	}
	mean_x /= all;
	mean_y /= all;
	for (int64_t i = 0; i < n; i++) {
		double dx = x[i] - mean_x, dy = y[i] - mean_y;
		xx += counts[i] * dx * dx;
		yy += counts[i] * dy * dy;
		xy += counts[i] * dx * dy;
	}
	/* what is left of a constant after its mean was taken off is rounding */
	if (sqrt(xx) <= 1e-13 * fabs(mean_x) || sqrt(yy) <= 1e-13 * fabs(mean_y))
		return NAN;
	return xy / (double)sqrtl((long double)xx * yy);
}

static double
average_precision(const struct pairs *pairs, int list, const int32_t *counts)
{
	const int64_t *order = pairs->order[list];
	int64_t found = 0, all = 0, end;
	double sum = 0;

	for (int64_t start = 0; start < pairs->count; start = end) {
		int64_t gain = 0;
		end = end_of_ties(pairs, list, start);
		for (int64_t i = start; i < end; i++) {
			all += counts[order[i]];
			gain +=
			    pairs->values[TARGET][order[i]] > 0 ? counts[order[i]] : 0;
		}
		found += gain;
		if (gain)
			sum += (double)gain * (double)found / (double)all;
	}
	return found ? sum / (double)found : NAN;
}

/* As the reports have it. */
static double
value_of_all(const struct pairs *pairs, int list)
{
	const double *similarity = pairs->values[list], *target = pairs->values[TARGET];
	int64_t n = pairs->count;

	if (pairs->metric == PAIR_SPEARMAN)
		return correlation_spearman(similarity, target, n);
	if (pairs->metric == PAIR_PEARSON)
		return correlation_pearson(similarity, target, n);
	bool *relevant = mem_new((size_t)n, sizeof *relevant);
	for (int64_t i = 0; i < n; i++)
		relevant[i] = target[i] > 0;
	double precision = ranking_average_precision(similarity, relevant, n);
	free(relevant);
	return precision;
}

/* Of pairs that are there so many times. */
static double
value_of(const struct pairs *pairs, int list, const int32_t *counts)
{
	int64_t n = pairs->count;

	if (pairs->metric == PAIR_AP)
		return average_precision(pairs, list, counts);
	if (pairs->metric == PAIR_PEARSON)
		return correlation(pairs->values[list], pairs->values[TARGET], counts, n);
	double *own = mem_new((size_t)n, 2 * sizeof *own);
	ranks(own, pairs, list, counts);
	ranks(own + n, pairs, TARGET, counts);
	double rho = correlation(own, own + n, counts, n);
	free(own);
	return rho;
}

static double
difference(const void *context, const int32_t *counts)
{
	return value_of(context, 1, counts) - value_of(context, 0, counts);
}

static double
first_value(const void *context, const int32_t *counts)
{
	return value_of(context, 0, counts);
}

static void
open_pairs(struct pairs *pairs)
{
	for (int list = 0; list < LISTS; list++) {
		pairs->order[list] =
		    mem_new((size_t)pairs->count, sizeof *pairs->order[list]);
		stats_descending(pairs->order[list], pairs->values[list], pairs->count);
	}
}

static void
close_pairs(struct pairs *pairs)
{
	for (int list = 0; list < LISTS; list++)
		free(pairs->order[list]);
}

struct pair_comparison
pair_metrics_compare(enum pair_metric metric, const struct pair_scores *scores,
    int64_t resamples, uint32_t seed, double level)
{
	int64_t n = scores->count;
	struct pairs pairs = { metric, n,
		{ scores->similarity[0], scores->similarity[1], scores->target },
		{ NULL } };
	struct pair_comparison comparison;

	open_pairs(&pairs);
	for (int which = 0; which < 2; which++)
		comparison.value[which] = value_of_all(&pairs, which);
	comparison.interval =
	    significance_resample(difference, &pairs, n, resamples, seed, level);
	close_pairs(&pairs);
	return comparison;
}

struct pair_value
pair_metrics_value(enum pair_metric metric, int64_t count, const double *target,
    const double *similarity, int64_t resamples, uint32_t seed, double level)
{
	struct pairs pairs = { metric, count, { similarity, similarity, target },
		{ NULL } };
	struct pair_value found;

	open_pairs(&pairs);
	found.value = value_of_all(&pairs, 0);
	found.interval =
	    significance_resample(first_value, &pairs, count, resamples, seed, level);
	close_pairs(&pairs);
	return found;
}
