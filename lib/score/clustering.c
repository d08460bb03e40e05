#include "score/clustering.h"

#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strings.h"
#include "score/kmeans.h"
#include "score/measure/partition.h"
#include "score/measure/stats.h"
#include "stream/values.h"

enum { LABELS_MOST = 100000 };

/* One set of texts to be clustered. */
struct set {
	float *x;
	int32_t *label;
	int64_t n;
	size_t x_capacity, label_capacity;
	struct strings *labels;
};

struct clustering {
	const struct clustering_options *options;
	struct reader *reader;
	int emb, label, width;
	struct set *sets;
	size_t count, capacity;
	double *v; /* [sets scored] */
	size_t scored, v_capacity;
	int64_t single; /* sets with one label only */
	struct progress *progress;
};

static struct set *
new_set(struct clustering *clustering)
{
	clustering->sets = mem_grow(clustering->sets, &clustering->capacity,
	    clustering->count + 1, sizeof *clustering->sets);
	struct set *set = &clustering->sets[clustering->count++];
	*set = (struct set){ .labels = strings_new() };
	return set;
}

static void
add_text(struct clustering *clustering, struct set *set, const float *vector,
    const struct array *labels, int64_t label, int64_t row)
{
	const struct column *column =
	    stream_column(clustering->reader, clustering->label);
	size_t row_bytes = (size_t)clustering->width * sizeof *set->x, length;
	char room[VALUES_ROOM];
	const char *text = values_text(column, labels, label, room, &length);

	values_refuse_nan(
	    clustering->reader, clustering->emb, row, vector, clustering->width);
	set->x = mem_grow(set->x, &set->x_capacity, (size_t)set->n + 1, row_bytes);
	set->label = mem_grow(
	    set->label, &set->label_capacity, (size_t)set->n + 1, sizeof *set->label);
	memcpy(set->x + set->n * clustering->width, vector, row_bytes);
	int64_t number = strings_add(set->labels, text, length, NULL);
	if (number >= LABELS_MOST)
		die("%s: column '%s' has more than %d different values; these are no "
		    "labels",
		    stream_name(clustering->reader), column->name, LABELS_MOST);
	set->label[set->n++] = (int32_t)number;
}

/* Cluster and score a set, and let its memory go. */
static void
score_set(struct clustering *clustering, struct set *set)
{
	const struct clustering_options *options = clustering->options;
	int32_t labels = (int32_t)strings_count(set->labels);
	double v = 1; /* one label, one cluster: as the reference has it */

	if (labels > 1) {
		struct kmeans_options how = { .clusters = labels,
			.batch = options->batch ? options->batch : 500,
			.seed = options->seed,
			.by_choice = options->by_choice };
		int32_t *assigned = mem_new((size_t)set->n, sizeof *assigned);
		int64_t steps =
		    kmeans_fit(assigned, set->x, set->n, clustering->width, &how);
		v = partition_v_measure(set->label, labels, assigned, labels, set->n).v;
		inform("set %zu: %lld texts, %d labels, %lld steps, v %.6f",
		    clustering->scored + 1, (long long)set->n, labels, (long long)steps,
		    v);
		free(assigned);
	} else {
		clustering->single++;
	}
	clustering->v = mem_grow(clustering->v, &clustering->v_capacity,
	    clustering->scored + 1, sizeof *clustering->v);
	clustering->v[clustering->scored++] = v;
	progress_add(clustering->progress, set->n);
	free(set->x);
	free(set->label);
	strings_free(set->labels);
}

static int
label_column(const struct reader *reader, const char *wanted, int depth)
{
	const char *const usual[] = { depth ? "labels" : "label",
		depth ? "label" : "labels", NULL };
	int label = wanted ? stream_find(reader, wanted) : values_find(reader, usual);

	if (label < 0)
		die("%s: there is no column '%s' of labels; name it with --label",
		    stream_name(reader), wanted ? wanted : usual[0]);
	values_single(reader, label, depth);
	return label;
}

/* MTEB's layout: each row is a set, scored as it comes. */
static void
score_rows(struct clustering *clustering)
{
	struct reader *reader = clustering->reader;
	const struct column *emb = stream_column(reader, clustering->emb);
	const struct column *label = stream_column(reader, clustering->label);
	struct floats room = { 0 };
	struct record record;

	while (stream_next(reader, &record)) {
		const struct array *vectors = &record.columns[clustering->emb];
		const struct array *labels = &record.columns[clustering->label];
		const float *x = values_floats(
		    emb, vectors, column_elements(emb, vectors, record.rows), &room);
		for (int64_t row = 0; row < record.rows; row++) {
			int64_t first = values_start(emb, vectors, row);
			int64_t count = values_start(emb, vectors, row + 1) - first;
			int64_t start = values_start(label, labels, row);
			if (values_start(label, labels, row + 1) - start != count ||
			    count == 0)
				die("%s: record %lld: row %lld has %lld vectors and %lld "
				    "labels",
				    stream_name(reader),
				    (long long)stream_records(reader), (long long)row + 1,
				    (long long)count,
				    (long long)(values_start(label, labels, row + 1) -
						start));
			struct set *set = new_set(clustering);
			for (int64_t i = 0; i < count; i++)
				add_text(clustering, set,
				    x + (first + i) * clustering->width, labels,
				    start + i, row);
			score_set(clustering, set);
		}
	}
	free(room.data);
}

/* One text a row: sets by a column, or all of the stream. */
static void
score_texts(struct clustering *clustering)
{
	struct reader *reader = clustering->reader;
	const struct column *emb = stream_column(reader, clustering->emb);
	const char *wanted = clustering->options->set;
	int by = stream_find(reader, wanted ? wanted : "set");
	struct strings *names = strings_new();
	struct floats room = { 0 };
	struct record record;

	if (wanted && by < 0)
		die("%s: there is no column '%s' that names the sets",
		    stream_name(reader), wanted);
	if (by >= 0)
		values_single(reader, by, 0);
	while (stream_next(reader, &record)) {
		const float *x = values_floats(
		    emb, &record.columns[clustering->emb], record.rows, &room);
		for (int64_t row = 0; row < record.rows; row++) {
			char text[VALUES_ROOM];
			size_t length = 0;
			const char *name =
			    by < 0 ? ""
				   : values_text(stream_column(reader, by),
					 &record.columns[by], row, text, &length);
			int64_t number = strings_add(names, name, length, NULL);
			struct set *set = number < (int64_t)clustering->count
					      ? &clustering->sets[number]
					      : new_set(clustering);
			add_text(clustering, set, x + row * clustering->width,
			    &record.columns[clustering->label], row, row);
		}
	}
	for (size_t i = 0; i < clustering->count; i++)
		score_set(clustering, &clustering->sets[i]);
	strings_free(names);
	free(room.data);
}

void
score_clustering(struct report *report, struct reader *reader,
    const struct clustering_options *options)
{
	struct clustering clustering = { .options = options, .reader = reader };
	int depth = 1;

	clustering.emb = values_find_embedding(reader, options->field, depth);
	if (clustering.emb < 0)
		clustering.emb = values_embedding(reader, options->field, depth = 0);
	clustering.width = values_width(reader, clustering.emb);
	clustering.label = label_column(reader, options->label, depth);
	clustering.progress = progress_new("texts", 0);
	if (depth == 1)
		score_rows(&clustering);
	else
		score_texts(&clustering);
	progress_free(clustering.progress);
	if (clustering.scored == 0)
		die("%s: there are no texts in it", stream_name(reader));
	if (clustering.single)
		warn("%s: %lld of %zu sets have one label only: their v-measure counts "
		     "as 1",
		    stream_name(reader), (long long)clustering.single, clustering.scored);
	report_set(report, "seed", "%u", options->seed);
	report_set(report, "clusterer", "mini-batch k-means, batch %d, in double",
	    options->batch ? options->batch : 500);
	report_set(report, "random stream", "scikit-learn %s",
	    options->by_choice ? "1.9" : "1.3 to 1.8");
	report_set(report, "rounding", "none");
	report_set(report, "sets", "%zu", clustering.scored);
	int64_t sets = (int64_t)clustering.scored;
	report_score(report, "v_measure", stats_mean(clustering.v, sets));
	report_score(report, "v_measure_std", stats_deviation(clustering.v, sets, 0));
	report_list(report, "v_measures", clustering.v, sets);
	report_main(report, "v_measure", "there is no set");
	free(clustering.v);
	free(clustering.sets);
}
