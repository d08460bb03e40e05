#include "papers/routing/fit.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "papers/routing/gate_scores.h"
#include "score/kmeans.h"

/* The queries of a data set that one gate serves best. */
struct served_queries {
	int64_t *rows;
	double *weights; /* of each row */
	int64_t count;
	double size; /* sum of the weights */
};

static struct served_queries
group_of(const struct training_queries *queries, int dataset, int gate, enum ties rule)
{
	size_t room = (size_t)queries->count;
	struct served_queries group = { mem_new(room, sizeof *group.rows),
		mem_new(room, sizeof *group.weights), 0, 0 };
	int gates = queries->gate_count, ties;

	for (int64_t row = 0; row < queries->count; row++) {
		const double *scores = queries->scores + row * gates;
		if (queries->dataset[row] != dataset)
			continue;
		int best = gate_scores_best(scores, gates, &ties);
		bool in = rule == TIES_SPLIT
			      ? scores[gate] == scores[best]
			      : best == gate && (rule == TIES_FIRST || ties == 1);
		if (!in)
			continue;
		group.rows[group.count] = row;
		double weight = rule == TIES_SPLIT ? 1.0 / ties : 1;
		group.weights[group.count++] = weight;
		group.size += weight;
	}
	return group;
}

/* The cluster of each row of the group. */
static int32_t *
cluster(const struct training_queries *queries, const struct served_queries *group,
    int clusters, uint64_t seed)
{
	size_t width = (size_t)queries->width, bytes = width * sizeof(float);
	int32_t *assigned = mem_zero((size_t)group->count, sizeof *assigned);
	float *x;

	if (clusters == 1)
		return assigned;
	x = mem_new((size_t)group->count, bytes);
	for (int64_t i = 0; i < group->count; i++)
		memcpy(x + (size_t)i * width,
		    queries->vectors + (size_t)group->rows[i] * width, bytes);
	kmeans_fit(assigned, x, group->count, queries->width,
	    &(struct kmeans_options){
		.clusters = clusters, .batch = 1024, .seed = (uint32_t)seed });
	free(x);
	return assigned;
}

/* Adds the weighted mean of each cluster that is not empty as a pilot. */
static void
add_centroids(struct pilot_library *library, const struct training_queries *queries,
    const struct served_queries *group, const struct fit_options *options,
    const char *dataset, const char *gate)
{
	size_t width = (size_t)queries->width;
	int clusters =
	    (int)(options->clusters < group->count ? options->clusters : group->count);
	int32_t *assigned = cluster(queries, group, clusters, options->seed);
	double *sum = mem_new(width, sizeof *sum);
	float *mean = mem_new(width, sizeof *mean);

	for (int c = 0; c < clusters; c++) {
		double size = 0;
		memset(sum, 0, width * sizeof *sum);
		for (int64_t i = 0; i < group->count; i++) {
			const float *vector =
			    queries->vectors + (size_t)group->rows[i] * width;
			if (assigned[i] != c)
				continue;
			size += group->weights[i];
			for (size_t j = 0; j < width; j++)
				sum[j] += group->weights[i] * vector[j];
		}
		for (size_t j = 0; j < width && size > 0; j++)
			mean[j] = (float)(sum[j] / size);
		if (size > 0)
			pilot_library_add(library, gate, dataset, size, 0, mean);
	}
	free(assigned);
	free(sum);
	free(mean);
}

static void
fit_pilots(struct pilot_library *library, const struct training_queries *queries,
    const struct fit_options *options)
{
	for (int d = 0; d < strings_count(queries->datasets); d++)
		for (int g = 0; g < queries->gate_count; g++) {
			const char *dataset = strings_get(queries->datasets, d);
			const char *gate = strings_get(queries->gates, g);
			if (options->own && strcmp(dataset, gate) != 0)
				continue;
			struct served_queries group =
			    group_of(queries, d, g, options->ties);
			if (group.count && group.size >= (double)options->least)
				add_centroids(
				    library, queries, &group, options, dataset, gate);
			free(group.rows);
			free(group.weights);
		}
}

/* Adds queries of each data set, drawn without replacement. */
static void
fit_dataset(struct pilot_library *library, const struct training_queries *queries,
    const struct fit_options *options)
{
	int64_t *rows = mem_new((size_t)queries->count, sizeof *rows);

	for (int d = 0; d < strings_count(queries->datasets); d++) {
		struct rng rng = rng_seed(options->seed, (uint64_t)d);
		const char *name = strings_get(queries->datasets, d);
		int64_t count = 0;
		if (!*name)
			die("%s: the data set of its queries is not known: there is no column or attribute 'dataset', and no file name",
			    stream_name(queries->first));
		for (int64_t row = 0; row < queries->count; row++)
			if (queries->dataset[row] == d)
				rows[count++] = row;
		for (int64_t i = 0; i < count && i < options->samples; i++) {
			int64_t at = i + (int64_t)rng_below(&rng, (uint64_t)(count - i));
			int64_t row = rows[at];
			rows[at] = rows[i];
			pilot_library_add(library, name, name, 1, 0,
			    queries->vectors + row * queries->width);
		}
	}
	free(rows);
}

/* Dies, saying why there are no pilots. */
_Noreturn static void
die_empty(const struct training_queries *queries, const struct fit_options *options)
{
	const char *name = stream_name(queries->first);

	if (options->own)
		die("%s: no gate is the best of queries of a data set of its name; without --own all data sets count",
		    name);
	if (options->least)
		die("%s: no gate is the best of %lld queries of a data set; lower --least",
		    name, (long long)options->least);
	die("%s: all queries are ties, and left out; --ties first or split keeps them",
	    name);
}

/* Warns of gates without pilots. */
static void
warn_absent(const struct pilot_library *library, const struct training_queries *queries)
{
	char *absent = NULL;

	for (int g = 0; g < queries->gate_count; g++) {
		const char *gate = strings_get(queries->gates, g);
		if (strings_find(library->gates, gate, strlen(gate)) < 0)
			absent = mem_list(absent, gate);
	}
	if (absent)
		warn(
		    "%s: no queries are left for these gates, and none will be sent to them: %s",
		    stream_name(queries->first), absent);
	free(absent);
}

struct pilot_library *
fit_library(const struct training_queries *queries, const struct fit_options *options)
{
	struct pilot_library *library = pilot_library_new(options->router, queries->width,
	    stream_properties(queries->first), queries->kind);

	switch (options->router) {
	case ROUTER_PILOTS: fit_pilots(library, queries, options); break;
	case ROUTER_DATASET: fit_dataset(library, queries, options); break;
	case ROUTER_EXPERTS:
	case ROUTER_HEAD: fit_classifiers(library, queries, options); break;
	}
	if (!library->count)
		die_empty(queries, options);
	warn_absent(library, queries);
	return library;
}
