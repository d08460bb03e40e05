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

/* One set of texts to be clustered. */
struct set {
	float *x[2]; /* of each field */
	int32_t *label;
	int64_t n;
	size_t x_capacity[2], label_capacity;
	struct strings *labels;
};

struct clustering {
	const struct score_options *options;
	struct reader *reader;
	struct vectors *vectors[2]; /* NULL: there is one field */
	int label;
	struct set *sets;
	size_t count, capacity;
	double *v; /* [sets scored] */
	size_t scored, v_capacity;
	int64_t single; /* sets with one label only */
	struct progress *progress;
};

static int
batch_of(const struct score_options *options)
{
	return options->batch ? options->batch : 500;
}

static struct set *
new_set(struct clustering *clustering)
{
	clustering->sets = mem_grow(clustering->sets, &clustering->capacity,
	    clustering->count + 1, sizeof *clustering->sets);
	struct set *set = &clustering->sets[clustering->count++];
	*set = (struct set){ .labels = strings_new() };
	return set;
}

/* A vector and a label of the record, each by its place there. */
static void
add_text(struct clustering *clustering, struct set *set, int64_t vector,
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

/* Cluster by one field; returns [n], to be freed. */
static int32_t *
cluster(const struct clustering *clustering, const struct set *set, int field)
{
	const struct score_options *options = clustering->options;
	struct kmeans_options how = { (int)strings_count(set->labels), batch_of(options),
		options->seed, options->by_choice };
	int32_t *assigned = mem_new((size_t)set->n, sizeof *assigned);
	int64_t steps = kmeans_fit(
	    assigned, set->x[field], set->n, clustering->vectors[field]->width, &how);

	inform("set %zu: %lld texts, %d labels, %lld steps", clustering->scored + 1,
	    (long long)set->n, how.clusters, (long long)steps);
	return assigned;
}

/* Cluster and score a set, and let its memory go. */
static void
score_set(struct clustering *clustering, struct set *set)
{
	int32_t labels = (int32_t)strings_count(set->labels), clusters = labels;
	double v = 1; /* one label, one cluster: as the reference has it */

	if (labels > 1) {
		int32_t *assigned = cluster(clustering, set, 0);
		if (clustering->vectors[1]) {
			int32_t *other = cluster(clustering, set, 1);
			clusters = legacy_sum_clusters(
			    assigned, other, set->n, clustering->options->legacy_sum);
			free(other);
		}
		v = partition_v_measure(set->label, labels, assigned, clusters, set->n).v;
		inform("set %zu: v %.6f", clustering->scored + 1, v);
		free(assigned);
	} else {
		clustering->single++;
	}
	clustering->v = mem_grow(clustering->v, &clustering->v_capacity,
	    clustering->scored + 1, sizeof *clustering->v);
	clustering->v[clustering->scored++] = v;
	progress_add(clustering->progress, set->n);
	free(set->x[0]);
	free(set->x[1]);
	free(set->label);
	strings_free(set->labels);
}

static void
load(const struct clustering *clustering, const struct record *record)
{
	for (int i = 0; i < 2 && clustering->vectors[i]; i++)
		vectors_load(clustering->vectors[i], record);
}

/* Dies unless the row has a vector for each of so many labels. */
static void
check_row(const struct clustering *clustering, int64_t row, int64_t labels)
{
	const struct reader *reader = clustering->reader;

	for (int i = 0; i < 2 && clustering->vectors[i]; i++) {
		int64_t count = vectors_row(clustering->vectors[i], row).count;
		if (count != labels || count == 0)
			die("%s: record %lld: row %lld has %lld vectors and %lld labels",
			    stream_name(reader), (long long)stream_records(reader),
			    (long long)row + 1, (long long)count, (long long)labels);
	}
}

/* MTEB's layout: each row is a set, scored as it comes. */
static void
score_rows(struct clustering *clustering)
{
	struct reader *reader = clustering->reader;
	const struct column *label = stream_column(reader, clustering->label);
	struct per_query *per_query = clustering->options->per_query;
	struct record record;

	while (stream_next(reader, &record)) {
		const struct array *labels = &record.columns[clustering->label];
		load(clustering, &record);
		for (int64_t row = 0; row < record.rows; row++) {
			struct span span = vectors_row(clustering->vectors[0], row);
			int64_t start = values_start(label, labels, row);
			int64_t count = values_start(label, labels, row + 1) - start;
			check_row(clustering, row, count);
			struct set *set = new_set(clustering);
			if (per_query)
				per_query_add_row(per_query, reader, &record, row,
				    (int64_t)clustering->count);
			for (int64_t i = 0; i < count; i++)
				add_text(
				    clustering, set, span.first + i, &record, start + i);
			score_set(clustering, set);
		}
	}
}

/* Sets by the values of their column; NULL: the stream is one. */
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

/* One text a row: sets by a column, or all of the stream. */
static void
score_texts(struct clustering *clustering)
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
	if (clustering->options->per_query)
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
	struct clustering clustering = { .options = options,
		.reader = reader,
		.vectors = { vectors_open(reader, options->fields[0], VECTORS_LISTS) } };
	bool lists = clustering.vectors[0]->lists;

	if (options->legacy_sum > 0)
		clustering.vectors[1] =
		    vectors_open(reader, options->fields[1], lists ? VECTORS_LISTS : 0);
	if (lists && clustering.vectors[1] && !clustering.vectors[1]->lists)
		values_embedding(reader, options->fields[1], 1);

	clustering.label = labels_column(reader, options->label, usual[lists]);
	values_single(reader, clustering.label, lists);
	clustering.progress = progress_new("texts", 0);
	if (lists)
		score_rows(&clustering);
	else
		score_texts(&clustering);
	progress_free(clustering.progress);
	int64_t sets = (int64_t)clustering.scored;
	if (sets == 0)
		die("%s: there are no texts in it", stream_name(reader));
	if (clustering.single)
		warn(
		    "%s: %lld of %lld sets have one label only: their v-measure counts as 1",
		    stream_name(reader), (long long)clustering.single, (long long)sets);
	kmeans_describe(report, options->seed, batch_of(options), options->by_choice);
	legacy_sum_describe(report, options->fields, options->legacy_sum);
	report_set(report, "sets", "%lld", (long long)sets);
	report_score(report, stats_mean(clustering.v, sets), "v_measure");
	report_score(report, stats_deviation(clustering.v, sets, 0), "v_measure_std");
	report_list(report, clustering.v, sets, "v_measures");
	report_main(report, "v_measure", "there is no set");
	if (options->per_query)
		per_query_column(options->per_query, clustering.v, "v_measure");
	for (int i = 0; i < 2 && clustering.vectors[i]; i++)
		vectors_close(clustering.vectors[i]);
	stream_close(reader);
	free(clustering.v);
	free(clustering.sets);
}
