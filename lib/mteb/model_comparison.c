#include "mteb/model_comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "mteb/results.h"
#include "mteb/score_table.h"
#include "score/measure/significance.h"
#include "score/measure/stats.h"
#include "text/lines.h"

struct model_comparison {
	const struct score_table *table; /* of two models */
	const struct comparison_options *options;
	struct lines lines;
};

static bool
is_common(const struct score_row *row)
{
	return row->task && !isnan(row->values[0]) && !isnan(row->values[1]);
}

static void
put_tasks(const struct model_comparison *comparison)
{
	static const char *const formats[] = { "%.2f", "%.2f", "%+.2f" };
	const struct score_table *table = comparison->table;
	size_t left = 0;

	lines_head(&comparison->lines,
	    (const char *const[]){ "type", "data set", table->names[0], table->names[1],
		"difference", NULL });
	for (size_t i = 0; i < table->count; i++) {
		const struct score_row *row = &table->rows[i];
		double numbers[] = { 100 * row->values[0], 100 * row->values[1],
			100 * (row->values[1] - row->values[0]) };
		if (is_common(row))
			lines_put(&comparison->lines,
			    (const char *const[]){ row->type, row->task }, numbers,
			    formats, 3);
		left += row->task && !is_common(row);
	}
	if (left)
		warn("%zu data sets are left out: only one of %s and %s has them", left,
		    table->names[0], table->names[1]);
}

/* One line of tests over the sets of a type; NULL: all. */
static void
put_test(const struct model_comparison *comparison, const char *type)
{
	static const char *const formats[] = { "%.2f", "%.2f", "%+.2f", "%.3f", "%.1f",
		"%.3g", "%.3f", "%.3g", "%+.2f", "%+.2f" };
	const struct score_table *table = comparison->table;
	double *scores[3], numbers[10];
	int64_t n = 0;

	for (int i = 0; i < 3; i++)
		scores[i] = mem_new(table->count, sizeof *scores[i]);
	for (size_t i = 0; i < table->count; i++) {
		const struct score_row *row = &table->rows[i];
		if (!is_common(row) || (type && strcmp(type, row->type) != 0))
			continue;
		scores[0][n] = 100 * row->values[0];
		scores[1][n] = 100 * row->values[1];
		scores[2][n] = scores[1][n] - scores[0][n];
		n++;
	}
	struct t_test welch = significance_welch(scores[0], n, scores[1], n),
		      paired = significance_paired(scores[2], n);
	struct interval interval;
	significance_bootstrap(&interval, scores[2], n, 1, comparison->options->resamples,
	    comparison->options->seed);
	for (int i = 0; i < 3; i++)
		numbers[i] = stats_mean(scores[i], n);
	memcpy(numbers + 3, (double[]){ welch.t, welch.freedom, welch.p }, 24);
	memcpy(numbers + 6, (double[]){ paired.t, paired.p, interval.low, interval.high },
	    32);
	char sets[24];
	snprintf(sets, sizeof sets, "%lld", (long long)n);
	if (n)
		lines_put(&comparison->lines,
		    (const char *const[]){ type ? type : "all", sets }, numbers, formats,
		    10);
	for (int i = 0; i < 3; i++)
		free(scores[i]);
}

static void
put_tests(const struct model_comparison *comparison)
{
	const struct score_table *table = comparison->table;

	fputc('\n', comparison->lines.out);
	lines_head(&comparison->lines,
	    (const char *const[]){ "type", "sets", table->names[0], table->names[1],
		"difference", "welch_t", "welch_df", "welch_p", "paired_t", "paired_p",
		"low", "high", NULL });
	for (size_t i = 0; i < table->count; i++)
		if (!table->rows[i].task)
			put_test(comparison, table->rows[i].type);
}

void
model_comparison_print(const struct registry *registry, char *const *folders, int count,
    const struct comparison_options *options, FILE *out)
{
	struct results *pair[2] = { results_read(registry, folders[0]) };

	for (int i = 1; i < count; i++) {
		pair[1] = results_read(registry, folders[i]);
		struct score_table *table =
		    score_table_new(registry, (const struct results *const *)pair, 2);
		struct model_comparison comparison = { table, options,
			{ out, options->markdown, 2 } };
		fprintf(out, "%s%s - %s; %g %% intervals of %lld resamples, seed %u\n%s",
		    i > 1 ? "\n" : "", table->names[1], table->names[0],
		    100 * SIGNIFICANCE_LEVEL, (long long)options->resamples,
		    options->seed, options->markdown ? "\n" : "");
		put_tasks(&comparison);
		put_tests(&comparison);
		score_table_free(table);
		results_free(pair[1]);
	}
	results_free(pair[0]);
}
