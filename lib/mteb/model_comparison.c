#include "mteb/model_comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "mteb/results.h"
#include "mteb/score_table.h"
#include "mteb/set_comparison.h"
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
	size_t left = 0, missing = 0;

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
		else if (row->task && isnan(row->values[0]) && isnan(row->values[1]))
			missing++;
		else if (row->task)
			left++;
	}
	if (left)
		warn("%zu data sets are left out: only one of %s and %s has them", left,
		    table->names[0], table->names[1]);
	if (missing)
		warn("%zu data sets are left out: neither %s nor %s has them", missing,
		    table->names[0], table->names[1]);
}

/* One line of tests over the sets of a type; NULL: all. */
static void
put_test(const struct model_comparison *comparison, const char *type)
{
	static const char *const formats[] = { "%.2f", "%.2f", "%+.2f", "%.3f", "%.1f",
		"%.3g", "%.3f", "%.3g", "%+.2f", "%+.2f" };
	const struct score_table *table = comparison->table;
	double *scores[3];
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
	double numbers[] = { stats_mean(scores[0], n), stats_mean(scores[1], n),
		stats_mean(scores[2], n), welch.t, welch.freedom, welch.p, paired.t,
		paired.p, interval.low, interval.high };
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
		if (!table->rows[i].task && table->rows[i].summary == SUMMARY_MEAN)
			put_test(comparison, table->rows[i].type);
}

/* Comparisons by query. ------------------------------------------------------------ */

/* The data sets with scores of each query in both results. */
struct by_query {
	const struct score_row **rows; /* [count] */
	struct set_comparison *sets;   /* [count] */
	double *p;		       /* [count]; NaN: a single query */
	int64_t count;
};

static void
find_sets(struct by_query *found, const struct model_comparison *comparison)
{
	const struct comparison_options *options = comparison->options;
	const struct score_table *table = comparison->table;

	*found = (struct by_query){ mem_new(table->count, sizeof *found->rows),
		mem_new(table->count, sizeof *found->sets),
		mem_new(table->count, sizeof *found->p), 0 };
	for (size_t i = 0; i < table->count; i++) {
		const struct score_row *row = &table->rows[i];
		struct set_comparison *set = &found->sets[found->count];
		if (!is_common(row))
			continue;
		const struct task_result *const results[2] = {
			results_find(table->models[0], row->task),
			results_find(table->models[1], row->task)
		};
		if (!results[0] || !results[1] ||
		    !set_comparison_read(set, results, options->resamples,
			options->seed + (uint32_t)found->count))
			continue;
		found->p[found->count] =
		    significance_two_sided(set->value[1] - set->value[0], set->error,
			(double)(set->queries - 1));
		found->rows[found->count++] = row;
	}
}

static void
free_sets(struct by_query *found)
{
	for (int64_t i = 0; i < found->count; i++)
		free(found->sets[i].draws);
	free(found->rows);
	free(found->sets);
	free(found->p);
}

static struct interval
interval_of(const double *draws, int64_t count)
{
	double *sorted = mem_new((size_t)count, sizeof *sorted);

	memcpy(sorted, draws, (size_t)count * sizeof *sorted);
	struct interval interval = significance_interval(sorted, count);
	free(sorted);
	return interval;
}

static void
put_sets(const struct model_comparison *comparison, const struct by_query *found)
{
	static const char *const formats[] = { "%.2f", "%.2f", "%+.2f", "%.2f", "%.3g",
		"%.3g", "%+.2f", "%+.2f" };
	const struct score_table *table = comparison->table;
	double *corrected = mem_new((size_t)found->count, sizeof *corrected);

	memcpy(corrected, found->p, (size_t)found->count * sizeof *corrected);
	significance_holm(corrected, found->count);
	lines_head(&comparison->lines,
	    (const char *const[]){ "type", "data set", "queries", table->names[0],
		table->names[1], "difference", "standard_error", "p", "holm_p", "low",
		"high", NULL });
	for (int64_t i = 0; i < found->count; i++) {
		const struct set_comparison *set = &found->sets[i];
		struct interval interval =
		    interval_of(set->draws, comparison->options->resamples);
		char queries[24];
		snprintf(queries, sizeof queries, "%lld", (long long)set->queries);
		lines_put(&comparison->lines,
		    (const char *const[]){
			found->rows[i]->type, found->rows[i]->task, queries },
		    (double[]){ 100 * set->value[0], 100 * set->value[1],
			100 * (set->value[1] - set->value[0]), 100 * set->error,
			found->p[i], corrected[i], 100 * interval.low,
			100 * interval.high },
		    formats, 8);
	}
	free(corrected);
}

/* Sums over the sets of a type. */
struct type_sums {
	int64_t sets, queries;
	double value[2], square; /* of scores; of errors, squared */
	double *draws;		 /* [resamples] of differences */
};

/* A set of one query, whose error is not known, adds none, and the same to each draw. */
static void
add_set(struct type_sums *sums, const struct set_comparison *set, int64_t resamples)
{
	bool one = isnan(set->error);

	sums->sets++;
	sums->queries += set->queries;
	for (int which = 0; which < 2; which++)
		sums->value[which] += set->value[which];
	sums->square += one ? 0 : set->error * set->error;
	for (int64_t r = 0; r < resamples; r++)
		sums->draws[r] += one ? set->value[1] - set->value[0] : set->draws[r];
}

static bool
is_of(const struct by_query *found, int64_t set, const char *type)
{
	return !type || !strcmp(type, found->rows[set]->type);
}

/* The p of a mean over the sets of a type: the mean of Student's p by the degrees of freedom of each set, weighted by its part of
 * the squared error. */
static double
type_p(const struct by_query *found, const char *type, double difference, double error)
{
	double p = 0, squares = 0;

	for (int64_t i = 0; i < found->count; i++) {
		const struct set_comparison *set = &found->sets[i];
		double square = set->error * set->error;
		if (!is_of(found, i, type) || isnan(square))
			continue;
		p += square * significance_two_sided(
				  difference, error, (double)(set->queries - 1));
		squares += square;
	}
	return squares > 0 ? p / squares : NAN;
}

/* A line of the sets of a type; NULL: all. */
static void
put_type(const struct model_comparison *comparison, const struct by_query *found,
    const char *type)
{
	static const char *const formats[] = { "%.2f", "%.2f", "%+.2f", "%.2f", "%.3g",
		"%+.2f", "%+.2f" };
	int64_t resamples = comparison->options->resamples;
	struct type_sums sums = { .draws = mem_zero((size_t)resamples, sizeof(double)) };

	for (int64_t i = 0; i < found->count; i++)
		if (is_of(found, i, type))
			add_set(&sums, &found->sets[i], resamples);
	double sets = (double)sums.sets, error = sqrt(sums.square) / sets;
	double difference = (sums.value[1] - sums.value[0]) / sets;
	struct interval interval = { NAN, NAN, NAN };
	if (sums.square > 0)
		interval = interval_of(sums.draws, resamples);
	char counts[2][24];
	snprintf(counts[0], sizeof counts[0], "%lld", (long long)sums.sets);
	snprintf(counts[1], sizeof counts[1], "%lld", (long long)sums.queries);
	if (sums.sets)
		lines_put(&comparison->lines,
		    (const char *const[]){ type ? type : "all", counts[0], counts[1] },
		    (double[]){ 100 * sums.value[0] / sets, 100 * sums.value[1] / sets,
			100 * difference, sums.square > 0 ? 100 * error : NAN,
			type_p(found, type, difference, error), 100 * interval.low / sets,
			100 * interval.high / sets },
		    formats, 7);
	free(sums.draws);
}

/* Two tables, by set and by type, of the sets with scores of each query. */
static void
put_by_query(struct model_comparison *comparison)
{
	const struct score_table *table = comparison->table;
	struct by_query found;

	find_sets(&found, comparison);
	comparison->lines.texts = 3;
	if (found.count) {
		fprintf(comparison->lines.out, "\nquery by query\n%s",
		    comparison->options->markdown ? "\n" : "");
		put_sets(comparison, &found);
		fputc('\n', comparison->lines.out);
		lines_head(&comparison->lines,
		    (const char *const[]){ "type", "sets", "queries", table->names[0],
			table->names[1], "difference", "standard_error", "p", "low",
			"high", NULL });
	}
	for (size_t i = 0; found.count && i < table->count; i++)
		if (!table->rows[i].task && table->rows[i].summary == SUMMARY_MEAN)
			put_type(comparison, &found, table->rows[i].type);
	free_sets(&found);
}

void
comparison_title(const struct comparison_options *options, const char *second,
    const char *first, const char *detail, FILE *out)
{
	lines_text(out, options->markdown, second);
	fputs(" - ", out);
	lines_text(out, options->markdown, first);
	fprintf(out, "%s; %g %% intervals of %lld resamples, seed %u\n%s", detail,
	    100 * SIGNIFICANCE_LEVEL, (long long)options->resamples, options->seed,
	    options->markdown ? "\n" : "");
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
		if (i > 1)
			fputc('\n', out);
		comparison_title(options, table->names[1], table->names[0], "", out);
		put_tasks(&comparison);
		put_tests(&comparison);
		put_by_query(&comparison);
		score_table_free(table);
		results_free(pair[1]);
	}
	results_free(pair[0]);
}
