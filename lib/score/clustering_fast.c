#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/strings.h"
#include "score/row_subset.h"
#include "score/kmeans.h"
#include "score/labels.h"
#include "score/measure/partition.h"
#include "score/measure/stats.h"
#include "base/mt19937.h"
#include "score/score.h"
#include "search/vectors.h"

enum { LEVELS_MOST = 16, LABELS_MOST = 100000, MISSING = -1 };

/* The labels of a level of the hierarchy. */
struct level {
	struct strings *names;
	int32_t *label; /* [rows]: number in `names`, or MISSING */
	size_t capacity;
};

struct labelled_texts {
	const struct score_options *options;
	int samples, batch;
	struct reader *reader;
	char *name;
	int label;
	bool text; /* labels are text; numbers otherwise */
	struct row_subset subset;
	struct level level[LEVELS_MOST];
	int levels;
};

static int32_t
number_of(struct labelled_texts *texts, struct level *level, const struct array *labels,
    int64_t index)
{
	int32_t number = labels_number(
	    level->names, texts->reader, texts->label, labels, index, LABELS_MOST);
	bool none = !texts->text && !strcmp(strings_get(level->names, number), "-1");

	return none ? MISSING : number;
}

/* Adds a level, MISSING in the first `rows` rows. */
static void
add_level(struct labelled_texts *texts, int64_t rows)
{
	if (texts->levels == LEVELS_MOST)
		die("%s: labels have more than %d levels", stream_name(texts->reader),
		    LEVELS_MOST);
	struct level *level = &texts->level[texts->levels++];
	level->names = strings_new();
	level->label =
	    mem_grow(NULL, &level->capacity, (size_t)rows + 1, sizeof *level->label);
	for (int64_t i = 0; i < rows; i++)
		level->label[i] = MISSING;
}

/* Appends the labels of a record to those of `rows` rows. */
static void
read_labels(struct labelled_texts *texts, int64_t rows, const struct record *record)
{
	const struct column *column = stream_column(texts->reader, texts->label);
	const struct array *labels = &record->columns[texts->label];

	for (int64_t row = 0; row < record->rows; row++) {
		int64_t first = values_start(column, labels, row);
		int64_t count = values_start(column, labels, row + 1) - first;
		while (texts->levels < count)
			add_level(texts, rows + row);
		for (int i = 0; i < texts->levels; i++) {
			struct level *level = &texts->level[i];
			level->label = mem_grow(level->label, &level->capacity,
			    (size_t)(rows + row + 1), sizeof *level->label);
			level->label[rows + row] =
			    i < count ? number_of(texts, level, labels, first + i)
				      : MISSING;
		}
	}
}

/* Appends the labels of mteb's older rows, each a set of texts. */
static void
read_sets(struct labelled_texts *texts, const struct vectors *vectors,
    const struct record *record)
{
	const struct array *labels = &record->columns[texts->label];
	int64_t rows = texts->subset.rows,
		more = column_elements(stream_column(vectors->reader, vectors->column),
		    &record->columns[vectors->column], record->rows);

	values_same_lengths(texts->reader, record, vectors->column, texts->label);
	if (!texts->levels)
		add_level(texts, 0);
	struct level *level = &texts->level[0];
	level->label = mem_grow(
	    level->label, &level->capacity, (size_t)(rows + more), sizeof *level->label);
	for (int64_t i = 0; i < more; i++)
		level->label[rows + i] = number_of(texts, level, labels, i);
}

static void
read_texts(struct labelled_texts *texts)
{
	static const char *const usual[] = { "labels", "label", NULL };
	const struct score_options *options = texts->options;
	struct reader *reader = stream_open(options->files[0]);
	struct vectors *vectors = vectors_open(reader, options->fields[0], VECTORS_LISTS);
	struct record record;

	texts->reader = reader;
	texts->name = mem_string(stream_name(reader));
	texts->label = labels_column(reader, options->label, usual, "labels");
	const struct column *column = stream_column(reader, texts->label);
	texts->text = values_are_text(column);
	values_single(reader, texts->label,
	    vectors->lists || column->depth > (texts->text ? 1 : 0));
	texts->subset = row_subset_start(options->files[0], vectors);
	while (stream_next(reader, &record)) {
		if (vectors->lists)
			read_sets(texts, vectors, &record);
		else
			read_labels(texts, texts->subset.rows, &record);
		row_subset_add(&texts->subset, vectors, &record);
	}
	vectors_close(vectors);
	stream_close(reader);
}

/* Draws *count rows, in the order of the draw. */
static int64_t *
draw_documents(const struct labelled_texts *texts, struct mt19937 *mt, int64_t *count)
{
	int64_t rows = texts->subset.rows;
	double wanted = texts->options->documents;
	const char *name = texts->name;

	if (rows == 0)
		die("%s: there are no texts in it", name);
	*count =
	    wanted == 0 ? rows : (int64_t)(wanted < 1 ? wanted * (double)rows : wanted);
	if (*count > rows)
		*count = rows;
	if (*count == 0)
		die("%s: a share of %g of its %lld texts is none; give --max-documents more",
		    name, wanted, (long long)rows);
	int64_t *drawn = mem_new((size_t)*count, sizeof *drawn);
	if (wanted == 0)
		for (int64_t i = 0; i < rows; i++)
			drawn[i] = i;
	else
		mt19937_python_sample(mt, rows, drawn, *count);
	return drawn;
}

/* The drawn rows [n] that have a label at one level, and their labels [n] as 0..labels-1. */
struct level_rows {
	int64_t *row;
	int32_t *label, labels;
	int64_t n;
};

static struct level_rows
prepare_level(
    struct labelled_texts *texts, int number, const int64_t *drawn, int64_t count)
{
	struct level *level = &texts->level[number];
	int32_t missing = MISSING;
	struct level_rows rows = { .row = mem_new((size_t)count, sizeof *rows.row),
		.label = mem_new((size_t)count, sizeof *rows.label) };
	int64_t without = 0;

	if (texts->text)
		missing = (int32_t)strings_add(level->names, "-1", 2, NULL);
	int32_t *again = mem_new((size_t)strings_count(level->names) + 1, sizeof *again);
	for (int64_t i = 0; i < strings_count(level->names); i++)
		again[i] = -1;
	for (int64_t i = 0; i < count; i++) {
		int32_t label = level->label[drawn[i]];
		without += label == MISSING;
		if (label == MISSING && (label = missing) == MISSING)
			continue;
		if (again[label] < 0)
			again[label] = rows.labels++;
		rows.label[rows.n] = again[label];
		rows.row[rows.n++] = drawn[i];
	}
	free(again);
	if (rows.labels > texts->samples)
		die("%s: %d labels at level %d are more than the %d texts of an experiment; give --samples more",
		    texts->name, rows.labels, number, texts->samples);
	if (rows.n == 0)
		die("%s: no text that was drawn has a label at level %d", texts->name,
		    number);
	if (without)
		warn(
		    "%s: %lld of %lld texts have no label at level %d: %s, as in the reference",
		    texts->name, (long long)without, (long long)count, number,
		    texts->text ? "they count as labelled '-1'"
				: "they are left out there");
	return rows;
}

/* One experiment, on the sample `at` [samples] of the level's rows. */
static void
run(const struct labelled_texts *texts, const struct level_rows *rows, const int64_t *at,
    double *v, double *ami)
{
	const struct score_options *options = texts->options;
	size_t size = (size_t)texts->samples,
	       row_bytes = (size_t)texts->subset.width * sizeof(float);
	struct kmeans_options how = { rows->labels, texts->batch, options->seed,
		options->by_choice };
	int32_t *label = mem_new(size, 2 * sizeof *label), *assigned = label + size;
	float *x = mem_new(size, row_bytes);

	for (int i = 0; i < texts->samples; i++) {
		memcpy(x + (int64_t)i * texts->subset.width,
		    row_subset_row(&texts->subset, rows->row[at[i]]), row_bytes);
		label[i] = rows->label[at[i]];
	}
	kmeans_fit(assigned, x, texts->samples, texts->subset.width, &how);
	*v = partition_v_measure(
	    label, rows->labels, assigned, rows->labels, texts->samples);
	*ami = partition_ami(label, rows->labels, assigned, rows->labels, texts->samples);
	free(label);
	free(x);
}

/* All experiments of a level; v and ami [experiments]. */
static void
run_level(struct labelled_texts *texts, int level, const int64_t *drawn, int64_t count,
    struct mt19937 *mt, double *v, double *ami)
{
	struct level_rows rows = prepare_level(texts, level, drawn, count);
	int experiments = texts->options->experiments, samples = texts->samples;
	int64_t *at = mem_new((size_t)experiments, (size_t)samples * sizeof *at);

	mt19937_python_choices(mt, rows.n, at, (int64_t)experiments * samples);
#pragma omp parallel for schedule(dynamic)
	for (int i = 0; i < experiments; i++)
		run(texts, &rows, at + (int64_t)i * samples, v + i, ami + i);
	for (int i = 0; i < experiments; i++)
		inform("level %d, experiment %d: %d labels, v %.6f, ami %.6f", level, i,
		    rows.labels, v[i], ami[i]);
	free(at);
	free(rows.row);
	free(rows.label);
}

/* Drops the last levels if no drawn text has a label there. */
static void
drop_levels(struct labelled_texts *texts, const int64_t *drawn, int64_t count)
{
	while (texts->levels > 0) {
		const struct level *last = &texts->level[texts->levels - 1];
		for (int64_t i = 0; i < count; i++)
			if (last->label[drawn[i]] != MISSING)
				return;
		strings_free(last->names);
		free(last->label);
		texts->levels--;
	}
	die("%s: no text that was drawn has a label", texts->name);
}

static void
report_metric(struct report *report, const char *name, const char *list,
    const double *values, int levels, int experiments)
{
	int64_t all = (int64_t)levels * experiments;
	struct report by_level = report_part(report);

	report_score(report, stats_mean(values, all), "%s", name);
	report_score(report, stats_deviation(values, all, 0), "%s_std", name);
	for (int level = 0; level < levels; level++)
		report_list(&by_level, values + (int64_t)level * experiments, experiments,
		    "Level %d", level);
	report_put(report, list, &by_level);
}

static void
report_settings(struct report *report, const struct labelled_texts *texts, int64_t drawn)
{
	const struct score_options *options = texts->options;

	kmeans_minibatch_describe(
	    report, options->seed, texts->batch, options->by_choice);
	report_set(report, "texts", "%lld", (long long)texts->subset.rows);
	report_set(report, "drawn", "%lld", (long long)drawn);
	report_set(report, "levels", "%d", texts->levels);
	report_set(report, "experiments", "%d of %d texts", options->experiments,
	    texts->samples);
}

void
score_clustering_fast(struct report *report, const struct score_options *options)
{
	struct labelled_texts texts = { .options = options,
		.samples = options->samples ? options->samples : 16384,
		.batch = options->batch ? options->batch : 512 };
	int experiments = options->experiments;
	struct mt19937 mt;
	int64_t count;

	mt19937_seed_python(&mt, options->seed);
	read_texts(&texts);
	int64_t *drawn = draw_documents(&texts, &mt, &count);
	drop_levels(&texts, drawn, count);
	row_subset_want(&texts.subset, drawn, count);
	row_subset_fetch(&texts.subset, options->files[0], options->fields[0]);
	double *v = mem_new((size_t)texts.levels * (size_t)experiments, 2 * sizeof *v);
	double *ami = v + (int64_t)texts.levels * experiments;
	struct progress *progress = progress_new("levels", texts.levels);
	for (int level = 0; level < texts.levels; level++) {
		int64_t at = (int64_t)level * experiments;
		run_level(&texts, level, drawn, count, &mt, v + at, ami + at);
		progress_add(progress, 1);
	}
	progress_free(progress);
	report_settings(report, &texts, count);
	report_metric(report, "v_measure", "v_measures", v, texts.levels, experiments);
	report_metric(report, "ami", "ami_scores", ami, texts.levels, experiments);
	report_main(report, "v_measure", "there is no experiment");
	for (int i = 0; i < texts.levels; i++) {
		strings_free(texts.level[i].names);
		free(texts.level[i].label);
	}
	row_subset_free(&texts.subset);
	free(texts.name);
	free(drawn);
	free(v);
}
