#include "mteb/score_interval.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

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

static bool
ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return length >= tail && !strcmp(text + length - tail, end);
}

/* The metric of text pairs by the measure in a column. */
static struct pair_values
of_pairs(
    const struct per_query *table, const struct score_column *column, int64_t resamples)
{
	int target = per_query_find(table, column->kind == PAIR_AP ? "label" : "gold");
	struct pair_scores scores = { strings_count(table->ids),
		table->columns[target].values.at,
		{ table->columns[column->column].values.at, NULL } };

	return pair_metrics(column->kind, &scores, resamples, SCORE_INTERVAL_SEED, NULL);
}

struct score_column
score_column(const struct per_query *table, const char *metric, double score)
{
	struct score_column found = { .column = per_query_find(table, metric) };
	int64_t n = strings_count(table->ids);

	if (found.column >= 0) {
		found.mean = true;
		if (!is_score(
			stats_mean(table->columns[found.column].values.at, n), score))
			found.column = -1;
		return found;
	}
	found.kind = ends_with(metric, "_ap")	    ? PAIR_AP
		     : ends_with(metric, "pearson") ? PAIR_PEARSON
						    : PAIR_SPEARMAN;
	if (per_query_find(table, found.kind == PAIR_AP ? "label" : "gold") < 0)
		return found;
	for (int i = 0; i < TEXT_PAIRS_MEASURES; i++) {
		found.column =
		    per_query_find(table, text_pairs_name((enum text_pairs_measure)i));
		if (found.column >= 0 &&
		    is_score(of_pairs(table, &found, 0).value[0], score))
			return found;
	}
	found.column = -1;
	return found;
}

struct interval
score_interval(const char *path, const char *metric, double score)
{
	if (!metric || !path)
		return none;
	struct per_query *table = per_query_read(path);
	struct score_column found = score_column(table, metric, score);
	struct interval interval = none;
	if (found.column >= 0 && found.mean)
		significance_bootstrap(&interval, table->columns[found.column].values.at,
		    strings_count(table->ids), 1, SCORE_INTERVAL_RESAMPLES,
		    SCORE_INTERVAL_SEED);
	else if (found.column >= 0)
		interval = of_pairs(table, &found, SCORE_INTERVAL_RESAMPLES).interval;
	per_query_free(table);
	return interval;
}
