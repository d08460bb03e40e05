#include "mteb/query_comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "mteb/pair_metrics.h"
#include "mteb/query_pairs.h"
#include "score/measure/significance.h"
#include "score/measure/stats.h"
#include "score/per_query.h"
#include "score/text_pairs.h"
#include "text/lines.h"

/* Two tables, and their common queries and metrics. */
struct pairing {
	struct query_pairs queries;
	const char **metrics; /* [count]: names of columns */
	int count;
};

static bool
is_metric(const char *name)
{
	for (int i = 0; i < TEXT_PAIRS_MEASURES; i++)
		if (!strcmp(name, text_pairs_name((enum text_pairs_measure)i)))
			return false;
	return strcmp(name, "label") != 0 && strcmp(name, "gold") != 0;
}

static void
pair_columns(struct pairing *pairing)
{
	const struct per_query *one = pairing->queries.tables[0],
			       *two = pairing->queries.tables[1];
	const char *first = NULL;
	int left_out = 0;

	pairing->metrics = mem_new((size_t)one->count, sizeof *pairing->metrics);
	for (int i = 0; i < one->count; i++) {
		const char *name = one->columns[i].name;
		if (is_metric(name) && per_query_find(two, name) >= 0)
			pairing->metrics[pairing->count++] = name;
		else if (is_metric(name) && left_out++ == 0)
			first = name;
	}
	for (int i = 0; i < two->count; i++) {
		const char *name = two->columns[i].name;
		if (is_metric(name) && per_query_find(one, name) < 0 && left_out++ == 0)
			first = name;
	}
	if (!pairing->count && !query_pairs_target(&pairing->queries))
		die("%s: it has no metric in common with %s", pairing->queries.files[1],
		    pairing->queries.files[0]);
	if (left_out)
		warn(
		    "%d metrics are left out: only one of %s and %s has them; first: '%s'",
		    left_out, pairing->queries.files[0], pairing->queries.files[1],
		    first);
}

/* The differences of a metric, to be freed, and the means in both tables. */
static double *
differences_of(const struct query_pairs *queries, const char *metric, double means[2])
{
	double *one = query_pairs_column(queries, 0, metric),
	       *two = query_pairs_column(queries, 1, metric);

	means[0] = stats_mean(one, queries->count);
	means[1] = stats_mean(two, queries->count);
	for (int64_t i = 0; i < queries->count; i++)
		two[i] -= one[i];
	free(one);
	return two;
}

static void
put_metric(const struct query_pairs *queries, const char *name, struct interval interval,
    const struct comparison_options *options, const struct lines *lines)
{
	enum { NUMBERS = 9 };
	static const char *const formats[NUMBERS] = { "%.4f", "%.4f", "%+.4f", "%.3f",
		"%.3g", "%.3g", "%+.4f", "%+.4f", "%.4f" };
	int64_t n = queries->count;
	double means[2], random = NAN;
	double *own = differences_of(queries, name, means);
	double difference = stats_mean(own, n);

	if (isnan(difference)) {
		warn("%s: there are queries without a value, and so no mean", name);
		interval = (struct interval){ NAN, NAN, NAN };
	} else {
		random =
		    significance_randomisation(own, n, options->resamples, options->seed);
	}
	struct t_test paired = significance_paired(own, n);
	lines_put(lines, &name,
	    (double[]){ means[0], means[1], difference, paired.t, paired.p, random,
		interval.low, interval.high, paired.error },
	    options->markdown ? formats : NULL, NUMBERS);
	free(own);
}

static void
put_metrics(const struct pairing *pairing, const struct comparison_options *options,
    const struct lines *lines)
{
	const struct query_pairs *queries = &pairing->queries;
	size_t n = (size_t)queries->count, metrics = (size_t)pairing->count;
	double *all = mem_new(mem_multiply(n, metrics, "scores"), sizeof *all), means[2];
	struct interval *intervals = mem_new(metrics, sizeof *intervals);

	for (size_t m = 0; m < metrics; m++) {
		double *own = differences_of(queries, pairing->metrics[m], means);
		for (size_t i = 0; i < n; i++)
			all[i * metrics + m] = own[i];
		free(own);
	}
	significance_bootstrap(intervals, all, queries->count, pairing->count,
	    options->resamples, options->seed);
	for (size_t m = 0; m < metrics; m++)
		put_metric(queries, pairing->metrics[m], intervals[m], options, lines);
	free(intervals);
	free(all);
}

static void
put_pair_metric(const struct pair_scores *scores, enum pair_metric metric,
    const char *measure, const struct comparison_options *options,
    const struct lines *lines)
{
	enum { NUMBERS = 9 };
	static const char *const formats[NUMBERS] = { "%.4f", "%.4f", "%+.4f", NULL, NULL,
		NULL, "%+.4f", "%+.4f", "%.4f" };
	static const char *const names[] = { "spearman", "pearson", "ap" };
	struct pair_values found =
	    pair_metrics(metric, scores, options->resamples, options->seed, NULL);
	bool plain =
	    metric != PAIR_AP && !strcmp(measure, text_pairs_name(TEXT_PAIRS_OWN));
	char *name =
	    mem_format("%s%s%s", plain ? "" : measure, plain ? "" : "_", names[metric]);

	pair_metrics_check(&found, scores->count, name);
	lines_put(lines, (const char *const[]){ name },
	    (double[]){ found.value[0], found.value[1], found.value[1] - found.value[0],
		NAN, NAN, NAN, found.interval.low, found.interval.high,
		found.interval.error },
	    options->markdown ? formats : NULL, NUMBERS);
	free(name);
}

/* Compares tables of text pairs. */
static void
put_pair_metrics(const struct pairing *pairing, const struct comparison_options *options,
    const struct lines *lines)
{
	const char *name = query_pairs_target(&pairing->queries);

	if (!name)
		return;
	bool labels = !strcmp(name, "label");
	double *targets = query_pairs_targets(&pairing->queries);
	for (int i = 0; i < TEXT_PAIRS_MEASURES; i++) {
		const char *measure = text_pairs_name((enum text_pairs_measure)i);
		double *own[2] = { query_pairs_column(&pairing->queries, 0, measure),
			query_pairs_column(&pairing->queries, 1, measure) };
		struct pair_scores scores = { pairing->queries.count, targets,
			{ own[0], own[1] } };
		if (own[0] && own[1] && labels)
			put_pair_metric(&scores, PAIR_AP, measure, options, lines);
		if (own[0] && own[1] && !labels) {
			put_pair_metric(&scores, PAIR_SPEARMAN, measure, options, lines);
			put_pair_metric(&scores, PAIR_PEARSON, measure, options, lines);
		}
		free(own[0]);
		free(own[1]);
	}
	free(targets);
}

/* A file's name without folder and ending; the whole path if another file has the same name. */
static char *
short_name(char *const *files, int count, int which)
{
	size_t length, other_length;
	const char *name = file_bare_name(files[which], &length);

	for (int i = 0; i < count; i++) {
		const char *other = file_bare_name(files[i], &other_length);
		if (i != which && length == other_length && !strncmp(name, other, length))
			return mem_string(files[which]);
	}
	return mem_format("%.*s", (int)length, name);
}

static void
put_pairing(struct pairing *pairing, const struct comparison_options *options, FILE *out,
    const char *first, const char *second)
{
	struct lines lines = { out, options->markdown, 1 };

	query_pairs_match(&pairing->queries);
	pair_columns(pairing);
	char queries[40];
	snprintf(
	    queries, sizeof queries, "; %lld queries", (long long)pairing->queries.count);
	comparison_title(options, second, first, queries, out);
	lines_head(&lines,
	    (const char *const[]){ "metric", first, second, "difference", "paired_t",
		"paired_p", "random_p", "low", "high", "standard_error", NULL });
	put_metrics(pairing, options, &lines);
	put_pair_metrics(pairing, options, &lines);
	free(pairing->queries.rows);
	free(pairing->metrics);
}

void
query_comparison_print(
    char *const *files, int count, const struct comparison_options *options, FILE *out)
{
	struct per_query *one = per_query_read(files[0]);
	char *first = short_name(files, count, 0);

	for (int i = 1; i < count; i++) {
		struct per_query *two = per_query_read(files[i]);
		struct pairing pairing = { .queries = { .files = { files[0], files[i] },
					       .tables = { one, two } } };
		char *second = short_name(files, count, i);
		if (i > 1)
			fputc('\n', out);
		put_pairing(&pairing, options, out, first, second);
		free(second);
		per_query_free(two);
	}
	free(first);
	per_query_free(one);
}
