#include "mteb/score_interval.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "mteb/pair_metrics.h"
#include "score/measure/stats.h"
#include "score/per_query.h"
#include "score/text_pairs.h"

static const struct interval none = { NAN, NAN, NAN };

/* Equal up to the rounding of reports, 5 decimals. */
static bool
is_score(double value, double score)
{
	return fabs(value - score) < 1e-5;
}

static const double *
values_of(const struct per_query *table, const char *name)
{
	int column = per_query_find(table, name);

	return column < 0 ? NULL : table->columns[column].values;
}

static struct interval
of_mean(const struct per_query *table, const double *values, double score)
{
	int64_t n = strings_count(table->ids);
	struct interval interval;

	if (n < 2 || !is_score(stats_mean(values, n), score))
		return none;
	significance_bootstrap(
	    &interval, values, n, 1, SCORE_INTERVAL_RESAMPLES, SCORE_INTERVAL_SEED);
	return interval;
}

static bool
ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return length >= tail && !strcmp(text + length - tail, end);
}

/* The interval of a metric of text pairs, by the similarity that gives the score ("max_ap" is that of the best). */
static struct interval
of_pairs(const struct per_query *table, const char *metric, double score)
{
	int64_t n = strings_count(table->ids);
	enum pair_metric kind = ends_with(metric, "_ap")       ? PAIR_AP
				: ends_with(metric, "pearson") ? PAIR_PEARSON
							       : PAIR_SPEARMAN;
	const double *target = values_of(table, kind == PAIR_AP ? "label" : "gold");

	for (int i = 0; target && n > 1 && i < TEXT_PAIRS_MEASURES; i++) {
		const double *similarity =
		    values_of(table, text_pairs_name((enum text_pairs_measure)i));
		if (!similarity)
			continue;
		struct pair_values found = pair_metrics(kind,
		    &(struct pair_scores){ n, target, { similarity, NULL } },
		    SCORE_INTERVAL_RESAMPLES, SCORE_INTERVAL_SEED);
		if (is_score(found.value[0], score))
			return found.interval;
	}
	return none;
}

struct interval
score_interval(const char *path, const char *metric, double score)
{
	if (!metric || access(path, F_OK) != 0)
		return none;
	struct per_query *table = per_query_read(path);
	const double *values = values_of(table, metric);
	struct interval interval =
	    values ? of_mean(table, values, score) : of_pairs(table, metric, score);
	per_query_free(table);
	return interval;
}
