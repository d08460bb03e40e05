#include "mteb/pair_metrics.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "score/measure/correlation.h"
#include "score/measure/ranking.h"
#include "score/measure/stats.h"

enum { TARGET = 2, LISTS = 3 }; /* behind the two similarities */

/* The pairs from which the bootstrap draws; counts [count] in the functions below: how often each was drawn. */
struct pair_sample {
	enum pair_metric metric;
	int64_t count;
	const double *values[LISTS];
	int64_t *order[LISTS]; /* by value, descending */
};

/* The end of the group of equal values at `start` of the order. */
static int64_t
end_of_ties(const struct pair_sample *pairs, int list, int64_t start)
{
	const double *values = pairs->values[list];
	const int64_t *order = pairs->order[list];
	int64_t end = start + 1;

	while (end < pairs->count && values[order[end]] == values[order[start]])
		end++;
	return end;
}

/* Ranks of the drawn pairs; ties get their mean rank. */
static void
ranks(double *to, const struct pair_sample *pairs, int list, const int32_t *counts)
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

static double
average_precision(const struct pair_sample *pairs, int list, const int32_t *counts)
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

/* The metric of all pairs, with the bits of mteb-score's report. */
static double
value_of_all(const struct pair_sample *pairs, int list)
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

/* The metric of the drawn pairs. */
static double
value_of(const struct pair_sample *pairs, int list, const int32_t *counts)
{
	int64_t n = pairs->count;

	if (pairs->metric == PAIR_AP)
		return average_precision(pairs, list, counts);
	if (pairs->metric == PAIR_PEARSON)
		return correlation_drawn(
		    pairs->values[list], pairs->values[TARGET], counts, n);
	double *own = mem_new((size_t)n, 2 * sizeof *own);
	ranks(own, pairs, list, counts);
	ranks(own + n, pairs, TARGET, counts);
	double rho = correlation_drawn(own, own + n, counts, n);
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

struct pair_values
pair_metrics(enum pair_metric metric, const struct pair_scores *scores, int64_t resamples,
    uint32_t seed, double *draws)
{
	const double *const *similarity = scores->similarity;
	int systems = similarity[1] ? 2 : 1;
	struct pair_sample pairs = { metric, scores->count,
		{ similarity[0], similarity[1], scores->target }, { NULL } };
	struct pair_values found = { { NAN, NAN }, { NAN, NAN, NAN } };

	for (int list = 0; list < LISTS; list++) {
		if (!pairs.values[list])
			continue;
		pairs.order[list] =
		    mem_new((size_t)pairs.count, sizeof *pairs.order[list]);
		stats_descending(pairs.order[list], pairs.values[list], pairs.count);
	}
	for (int i = 0; i < systems; i++)
		found.value[i] = value_of_all(&pairs, i);
	found.interval = significance_resample(systems == 2 ? difference : first_value,
	    &pairs, pairs.count, resamples, seed, draws);
	for (int list = 0; list < LISTS; list++)
		free(pairs.order[list]);
	return found;
}

void
pair_metrics_check(const struct pair_values *found, int64_t count, const char *name)
{
	if (count > 1 && isnan(found->interval.low) && !isnan(found->value[0]) &&
	    !isnan(found->value[1]))
		warn(
		    "%s: there is no interval and no error: a draw of the bootstrap has only equal values, or no positive pair",
		    name);
}
