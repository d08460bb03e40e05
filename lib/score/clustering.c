#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/strings.h"
#include "score/kmeans.h"
#include "score/labels.h"
#include "score/legacy_sum.h"
#include "score/measure/partition.h"
#include "score/measure/stats.h"
#include "score/score.h"
#include "search/vectors.h"

enum { LABELS_MOST = 100000 };

/* A set of texts, clustered by itself. */
struct set {
	float *x[2]; /* [n, width], of each field */
	int32_t *label;
	int64_t n;
	size_t x_capacity[2], label_capacity;
	struct strings *labels;
};

struct clustering_task {
	const struct score_options *options;
	struct reader *reader;
	struct vectors *vectors[2]; /* NULL: there is one field */
	int label;
	struct set *sets;
	size_t count, capacity;
	struct series v; /* [sets scored] */
	int64_t single;	 /* sets with one label only */
	struct progress *progress;
};

static int
batch_of(const struct score_options *options)
{
	return options->batch ? options->batch : 500;
}

static struct set *
new_set(struct clustering_task *clustering)
{
	clustering->sets = mem_grow(clustering->sets, &clustering->capacity,
	    clustering->count + 1, sizeof *clustering->sets);
	struct set *set = &clustering->sets[clustering->count++];
	*set = (struct set){ .labels = strings_new() };
	return set;
}

/* Adds the text at these indices of the record's vectors and labels. */
static void
add_text(struct clustering_task *clustering, struct set *set, int64_t vector,
    const struct record *record, int64_t label)
{
	for (int i = 0; i < 2 && clustering->vectors[i]; i++) {
		const struct vectors *vectors = clustering->vectors[i];
		size_t row_bytes = (size_t)vectors->width * sizeof *set->x[i];
		set->x[i] = mem_grow(
		    set->x[i], &set->x_capacity[i], (size_t)set->n + 1, row_bytes);
		memcpy(set->x[i] + set->n * vectors->width,
		    vectors->raw + vector * vectors->width, row_bytes);
	}
	set->label = mem_grow(
	    set->label, &set->label_capacity, (size_t)set->n + 1, sizeof *set->label);
	set->label[set->n++] = labels_number(set->labels, clustering->reader,
	    clustering->label, &record->columns[clustering->label], label, LABELS_MOST);
}

/* Clusters the vectors of one field; returns [n], freed by the caller. */
static int32_t *
cluster(const struct clustering_task *clustering, const struct set *set, int field)
{
	const struct score_options *options = clustering->options;
	struct kmeans_options how = { (int)strings_count(set->labels), batch_of(options),
		options->seed, options->by_choice };
	int32_t *assigned = mem_new((size_t)set->n, sizeof *assigned);
	int64_t steps = kmeans_fit(
	    assigned, set->x[field], set->n, clustering->vectors[field]->width, &how);

	inform("set %lld: %lld texts, %d labels, %lld steps",
	    (long long)clustering->v.count + 1, (long long)set->n, how.clusters,
	    (long long)steps);
	return assigned;
}

/* Clusters and scores a set, and frees it. */
static void
score_set(struct clustering_task *clustering, struct set *set)
{
	int32_t labels = (int32_t)strings_count(set->labels), clusters = labels;
	double v = 1; /* of one label and one cluster, as in scikit-learn */

	if (labels > 1) {
		int32_t *assigned = cluster(clustering, set, 0);
		if (clustering->vectors[1]) {
			int32_t *other = cluster(clustering, set, 1);
			clusters = legacy_sum_clusters(
			    assigned, other, set->n, clustering->options->legacy_sum);
			free(other);
		}
		v = partition_v_measure(set->label, labels, assigned, clusters, set->n);
		inform("set %lld: v %.6f", (long long)clustering->v.count + 1, v);
		free(assigned);
	} else {
		clustering->single++;
	}
	series_add(&clustering->v, v);
	progress_add(clustering->progress, set->n);
	free(set->x[0]);
	free(set->x[1]);
	free(set->label);
	strings_free(set->labels);
}

static void
load(const struct clustering_task *clustering, const struct record *record)
{
	for (int i = 0; i < 2 && clustering->vectors[i]; i++)
		vectors_load(clustering->vectors[i], record);
}

/* mteb's layout: each row is a set. */
static void
score_rows(struct clustering_task *clustering)
{
	struct reader *reader = clustering->reader;
	const struct column *label = stream_column(reader, clustering->label);
	struct per_query *per_query = clustering->options->per_query;
	struct record record;

	while (stream_next(reader, &record)) {
		const struct array *labels = &record.columns[clustering->label];
		load(clustering, &record);
		for (int i = 0; i < 2 && clustering->vectors[i]; i++)
			values_same_lengths(reader, &record,
			    clustering->vectors[i]->column, clustering->label);
		for (int64_t row = 0; row < record.rows; row++) {
			struct vector_range span =
			    vectors_row(clustering->vectors[0], row);
			int64_t start = values_start(label, labels, row);
			if (span.count == 0)
				die("%s: record %lld: row %lld is a set without texts",
				    stream_name(reader),
				    (long long)stream_records(reader),
				    (long long)row + 1);
			struct set *set = new_set(clustering);
			per_query_add_row(
			    per_query, reader, &record, row, (int64_t)clustering->count);
			for (int64_t i = 0; i < span.count; i++)
				add_text(
				    clustering, set, span.first + i, &record, start + i);
			score_set(clustering, set);
		}
	}
}

/* Names the sets in the table; names NULL: the whole stream is one set. */
static void
name_sets(struct per_query *table, struct reader *reader, const struct strings *names)
{
	if (!names)
		per_query_add_row(table, reader, NULL, 0, 1);
	for (int64_t i = 0; names && i < strings_count(names); i++)
		per_query_add(table, strings_get(names, i), strings_length(names, i));
}

static void
need_set(const struct reader *reader, int by, const struct record *record, int64_t row)
{
	const struct column *column = stream_column(reader, by);

	if (values_missing(column, &record->columns[by], row))
		die("%s: record %lld: row %lld has no '%s', which names its set",
		    stream_name(reader), (long long)stream_records(reader),
		    (long long)row + 1, column->name);
}

/* One text per row: the set is a column's value, or the whole stream. */
static void
score_texts(struct clustering_task *clustering)
{
	struct reader *reader = clustering->reader;
	const char *wanted = clustering->options->set;
	int by = stream_find(reader, wanted ? wanted : "set");
	struct strings *names = strings_new();
	struct record record;

	if (wanted && by < 0)
		die("%s: there is no column '%s' that names the sets",
		    stream_name(reader), wanted);
	if (by >= 0)
		values_single(reader, by, 0);
	while (stream_next(reader, &record)) {
		load(clustering, &record);
		for (int64_t row = 0; row < record.rows; row++) {
			char text[VALUES_ROOM];
			size_t length = 0;
			if (by >= 0)
				need_set(reader, by, &record, row);
			const char *name =
			    by < 0 ? ""
				   : values_text(stream_column(reader, by),
					 &record.columns[by], row, text, &length);
			int64_t number = strings_add(names, name, length, NULL);
			struct set *set = number < (int64_t)clustering->count
					      ? &clustering->sets[number]
					      : new_set(clustering);
			add_text(clustering, set, row, &record, row);
		}
	}
	name_sets(clustering->options->per_query, reader, by < 0 ? NULL : names);
	for (size_t i = 0; i < clustering->count; i++)
		score_set(clustering, &clustering->sets[i]);
	strings_free(names);
}

void
score_clustering(struct report *report, const struct score_options *options)
{
	static const char *const usual[2][3] = { { "label", "labels", NULL },
		{ "labels", "label", NULL } };
	struct reader *reader = stream_open(options->files[0]);
	struct clustering_task clustering = { .options = options,
		.reader = reader,
		.vectors = { vectors_open(reader, options->fields[0], VECTORS_LISTS) } };
	bool lists = clustering.vectors[0]->lists;

	if (options->legacy_sum > 0)
		clustering.vectors[1] =
		    vectors_open(reader, options->fields[1], lists ? VECTORS_LISTS : 0);
	if (lists && clustering.vectors[1] && !clustering.vectors[1]->lists)
		values_embedding(reader, options->fields[1], 1);

	clustering.label = labels_column(reader, options->label, usual[lists], "labels");
	values_single(reader, clustering.label, lists);
	clustering.progress = progress_new("texts", 0);
	if (lists)
		score_rows(&clustering);
	else
		score_texts(&clustering);
	progress_free(clustering.progress);
	int64_t sets = clustering.v.count;
	if (sets == 0)
		die("%s: there are no texts in it", stream_name(reader));
	if (clustering.single)
		warn(
		    "%s: %lld of %lld sets have one label only: their v-measure counts as 1",
		    stream_name(reader), (long long)clustering.single, (long long)sets);
	kmeans_minibatch_describe(
	    report, options->seed, batch_of(options), options->by_choice);
	legacy_sum_describe(report, options->fields, options->legacy_sum);
	report_set(report, "sets", "%lld", (long long)sets);
	report_score(report, stats_mean(clustering.v.at, sets), "v_measure");
	report_score(report, stats_deviation(clustering.v.at, sets, 0), "v_measure_std");
	report_list(report, clustering.v.at, sets, "v_measures");
	report_main(report, "v_measure", "there is no set");
	per_query_column(options->per_query, clustering.v.at, "v_measure");
	for (int i = 0; i < 2 && clustering.vectors[i]; i++)
		vectors_close(clustering.vectors[i]);
	stream_close(reader);
	free(clustering.v.at);
	free(clustering.sets);
}
