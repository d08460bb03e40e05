#include "papers/moee/agreement.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/status_line.h"
#include "score/measure/partition.h"
#include "score/measure/stats.h"
#include "text/json.h"
#include "text/lines.h"

enum {
	CLUSTERS = 2,
	MEASURES = 5,
	VALUES = CLUSTERS + MEASURES,
	NUMBERS = 2 + VALUES + MEASURES
};
enum { RUNS = 5 };

static const char *const heads[] = { "a", "b", "rows", "runs", "clusters_a", "clusters_b",
	"ami", "nmi", "jaccard", "matched", "identical", "ami_deviation", "nmi_deviation",
	"jaccard_deviation", "matched_deviation", "identical_deviation", NULL };

struct agreement {
	const struct clusterings *clusterings;
	int runs, pairs;
	double *values; /* [pairs][VALUES][runs] */
};

static double *
values_of(const struct agreement *agreement, int pair, int value)
{
	return agreement->values +
	       ((int64_t)pair * VALUES + value) * (int64_t)agreement->runs;
}

static int32_t
not_empty(const int32_t *assigned, int64_t rows, int32_t clusters)
{
	bool *there = mem_zero((size_t)clusters, sizeof *there);
	int32_t count = 0;

	for (int64_t i = 0; i < rows; i++)
		there[assigned[i]] = true;
	for (int32_t i = 0; i < clusters; i++)
		count += there[i];
	free(there);
	return count;
}

static void
compare(struct agreement *agreement, int run, const int32_t *assigned,
    const int32_t *clusters)
{
	const struct clusterings *clusterings = agreement->clusterings;
	int64_t rows = clusterings->rows;
	int pair = 0;

	for (int a = 0; a < clusterings->count; a++)
		for (int b = a + 1; b < clusterings->count; b++, pair++) {
			const int32_t *one = assigned + a * rows,
				      *other = assigned + b * rows;
			struct partition_agreement found = partition_agreement(
			    one, clusters[a], other, clusters[b], rows);
			const double values[VALUES] = { not_empty(one, rows, clusters[a]),
				not_empty(other, rows, clusters[b]), found.ami, found.nmi,
				found.jaccard, found.matched, found.identical };
			for (int i = 0; i < VALUES; i++)
				values_of(agreement, pair, i)[run] = values[i];
			inform("run %d: %s, %s: AMI %.6f", run + 1,
			    clusterings->list[a].name, clusterings->list[b].name,
			    found.ami);
		}
}

static void
run_all(struct agreement *agreement, const struct agreement_options *options)
{
	const struct clusterings *clusterings = agreement->clusterings;
	size_t count = (size_t)clusterings->count;
	int32_t *assigned = mem_new(
	    mem_multiply(count, (size_t)clusterings->rows, "clusters"), sizeof *assigned);
	int32_t *clusters = mem_new(count, sizeof *clusters);

	for (int run = 0; run < agreement->runs; run++) {
		for (int i = 0; i < clusterings->count; i++) {
			uint64_t seed =
			    options->seed + (uint64_t)run * count + (uint64_t)i;
			int32_t *to = assigned + i * clusterings->rows;
			clusters[i] = clusterings_assign(clusterings, i,
			    options->columns.clusters, (uint32_t)seed, to);
			if (not_empty(to, clusterings->rows, clusters[i]) == 1)
				die("%s: k-means puts all rows into one cluster: its vectors are all the same",
				    clusterings->list[i].name);
		}
		compare(agreement, run, assigned, clusters);
	}
	free(assigned);
	free(clusters);
}

static void
measure(const struct agreement *agreement, int pair, double numbers[NUMBERS])
{
	int runs = agreement->runs;

	numbers[0] = (double)agreement->clusterings->rows;
	numbers[1] = runs;
	for (int i = 0; i < VALUES; i++)
		numbers[2 + i] = stats_mean(values_of(agreement, pair, i), runs);
	for (int i = 0; i < MEASURES; i++)
		numbers[2 + VALUES + i] =
		    runs > 1 ? stats_deviation(
				   values_of(agreement, pair, CLUSTERS + i), runs, 1)
			     : NAN;
}

static void
add_json(struct tree *list, const char *a, const char *b, const double *numbers)
{
	struct tree *pair = tree_add(list, tree_object());

	tree_set(pair, heads[0], tree_of_string(a));
	tree_set(pair, heads[1], tree_of_string(b));
	for (int i = 0; i < NUMBERS; i++) /* the first two are counts */
		tree_set(pair, heads[2 + i],
		    i < 2 ? tree_of_integer((int64_t)numbers[i])
			  : tree_of_number(numbers[i]));
}

static void
print(const struct agreement *agreement, bool json)
{
	const struct clustering *list = agreement->clusterings->list;
	const struct lines lines = { stdout, false, 2 };
	struct tree *root = tree_list();
	double numbers[NUMBERS];
	int pair = 0;

	if (!json)
		lines_head(&lines, heads);
	for (int a = 0; a < agreement->clusterings->count; a++)
		for (int b = a + 1; b < agreement->clusterings->count; b++, pair++) {
			measure(agreement, pair, numbers);
			if (json)
				add_json(root, list[a].name, list[b].name, numbers);
			else
				lines_put(&lines,
				    (const char *const[]){ list[a].name, list[b].name },
				    numbers, NULL, NUMBERS);
		}
	if (json) {
		json_print(root);
	}
	tree_free(root);
}

static void
refuse_twice(const char *option, const char *const *names, int count)
{
	for (int i = 0; i < count; i++)
		for (int j = 0; j < i; j++)
			if (!strcmp(names[i], names[j]))
				die_usage("%s: '%s' comes twice", option, names[i]);
}

static void
check_usage(int count, const struct agreement_options *options)
{
	const struct clusterings_options *columns = &options->columns;
	int named = columns->label_count + columns->field_count;
	bool vectors = columns->field_count || !named;

	if (count * (named ? named : 1) < 2)
		die_usage(
		    "agreement is that of two clusterings; name two streams, or two columns with --label or --field");
	if (vectors && !columns->clusters)
		die_usage("how many clusters are to be made of vectors? say -k");
	if (options->seed > UINT32_MAX / 2)
		die_usage("--seed: k-means takes one up to %u", UINT32_MAX / 2);
	refuse_twice("--label", columns->labels, columns->label_count);
	refuse_twice("--field", columns->fields, columns->field_count);
}

void
agreement_print(
    const char *const *paths, int count, const struct agreement_options *options)
{
	const struct clusterings_options *columns = &options->columns;
	bool chance = columns->field_count || !columns->label_count;

	check_usage(count, options);
	struct clusterings *clusterings = clusterings_read(paths, count, columns);
	int most = clusterings->count;
	struct agreement agreement = { .clusterings = clusterings,
		.runs = !chance		? 1
			: options->runs ? options->runs
					: RUNS,
		.pairs = most * (most - 1) / 2 };

	agreement.values = mem_new(
	    (size_t)agreement.pairs, VALUES * (size_t)agreement.runs * sizeof(double));
	run_all(&agreement, options);
	status_line_stop();
	print(&agreement, options->json);
	free(agreement.values);
	clusterings_free(clusterings);
}
