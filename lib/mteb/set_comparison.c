#include "mteb/set_comparison.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "mteb/pair_metrics.h"
#include "mteb/query_pairs.h"
#include "mteb/score_interval.h"
#include "score/measure/significance.h"
#include "score/measure/stats.h"

/* The values of a sample's queries, and their number. */
struct query_values {
	const double *values;
	int64_t count;
};

static double
mean_of_drawn(const void *context, const int32_t *counts)
{
	const struct query_values *all = context;
	double sum = 0;

	for (int64_t i = 0; i < all->count; i++)
		sum += counts[i] * all->values[i];
	return sum / (double)all->count;
}

static void
compare_means(struct set_comparison *comparison, double *const values[2],
    int64_t resamples, uint32_t seed)
{
	int64_t n = comparison->queries;
	double *differences = mem_new((size_t)n, sizeof *differences);

	for (int64_t i = 0; i < n; i++)
		differences[i] = values[1][i] - values[0][i];
	for (int which = 0; which < 2; which++)
		comparison->value[which] = stats_mean(values[which], n);
	comparison->error = significance_paired(differences, n).error;
	significance_resample(mean_of_drawn, &(struct query_values){ differences, n }, n,
	    resamples, seed, comparison->draws);
	free(differences);
}

static void
compare_pairs(struct set_comparison *comparison, const struct query_pairs *pairs,
    enum pair_metric kind, double *const values[2], int64_t resamples, uint32_t seed)
{
	double *targets = query_pairs_targets(pairs);
	struct pair_scores scores = { pairs->count, targets, { values[0], values[1] } };
	struct pair_values found =
	    pair_metrics(kind, &scores, resamples, seed, comparison->draws);

	for (int which = 0; which < 2; which++)
		comparison->value[which] = found.value[which];
	comparison->error = found.interval.error;
	pair_metrics_check(&found, pairs->count, pairs->files[1]);
	free(targets);
}

/* Compares two tables by the columns that give the main scores. */
static void
compare_tables(struct set_comparison *comparison, struct query_pairs *pairs,
    const struct score_column columns[2], int64_t resamples, uint32_t seed)
{
	double *values[2];

	query_pairs_match(pairs);
	for (int which = 0; which < 2; which++)
		values[which] = query_pairs_column(pairs, which,
		    pairs->tables[which]->columns[columns[which].column].name);
	*comparison = (struct set_comparison){ .queries = pairs->count,
		.draws = mem_new((size_t)resamples, sizeof *comparison->draws) };
	if (columns[0].mean)
		compare_means(comparison, values, resamples, seed);
	else
		compare_pairs(
		    comparison, pairs, columns[0].kind, values, resamples, seed);
	free(values[0]);
	free(values[1]);
	free(pairs->rows);
}

bool
set_comparison_read(struct set_comparison *comparison,
    const struct task_result *const results[2], int64_t resamples, uint32_t seed)
{
	char *paths[2] = { results_per_query(results[0]), results_per_query(results[1]) };
	struct per_query *tables[2] = { NULL };
	struct score_column columns[2];
	bool whole = true;

	for (int which = 0; which < 2; which++) {
		whole = whole && paths[which] && results[which]->metric;
		if (!whole)
			continue;
		tables[which] = per_query_read(paths[which]);
		columns[which] = score_column(
		    tables[which], results[which]->metric, results[which]->main);
		if (columns[which].column < 0)
			warn("%s: is left out: its queries do not give the %s of %s",
			    paths[which], results[which]->metric, results[which]->path);
		whole = columns[which].column >= 0;
	}
	whole = whole && columns[0].mean == columns[1].mean &&
		(columns[0].mean || columns[0].kind == columns[1].kind);
	if (whole)
		compare_tables(comparison,
		    &(struct query_pairs){ .files = { paths[0], paths[1] },
			.tables = { tables[0], tables[1] } },
		    columns, resamples, seed);
	for (int which = 0; which < 2; which++) {
		if (tables[which])
			per_query_free(tables[which]);
		free(paths[which]);
	}
	return whole;
}
