#include "score_classification.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "logreg.h"
#include "mem.h"
#include "mt19937.h"
#include "names.h"
#include "stats.h"
#include "stream.h"
#include "values.h"

enum { CLASSES_MOST = 20000, ITERATIONS_MOST = 2000 };
static const double tolerance = 1e-8;

struct training {
	float *x;	/* [n, width] */
	int32_t *label; /* [n]: number in names, then in sorted order */
	int64_t n;
	int width, classes;
	struct names *names; /* labels in order of arrival */
	bool numeric;	     /* labels are numbers: sorted as such */
	int32_t *sorted;     /* [classes]: place of a name in sorted order */
	int32_t *by_place;   /* [classes]: the inverse */
};

struct test {
	int64_t *confusion; /* [experiments, labels, classes] as counts; see cell() */
	int64_t rows, unseen;
	int labels; /* of the training set, then those that only the test set has */
	size_t capacity;
};

struct columns {
	struct reader *reader;
	int emb, label, width;
	struct floats room;
};

static struct columns
open_columns(const char *path, const struct classification_options *options)
{
	struct columns columns = { .reader = stream_open(path) };
	const char *label = options->label ? options->label : "label";

	columns.emb = values_embedding(columns.reader, options->field, 0);
	columns.width = values_width(columns.reader, columns.emb);
	columns.label = stream_find(columns.reader, label);
	if (columns.label < 0)
		die("%s: there is no column '%s' of labels; name it with --label",
		    stream_name(columns.reader), label);
	values_single(columns.reader, columns.label, 0);
	return columns;
}

static void
close_columns(struct columns *columns)
{
	free(columns->room.data);
	stream_close(columns->reader);
}

static const float *
vectors_of(struct columns *columns, const struct record *record)
{
	const float *x = values_floats(stream_column(columns->reader, columns->emb),
	    &record->columns[columns->emb], record->rows, &columns->room);

	for (int64_t row = 0; row < record->rows; row++)
		values_refuse_nan(columns->reader, columns->emb, row,
		    x + row * columns->width, columns->width);
	return x;
}

static int32_t
label_of(struct names *names, const struct columns *columns, const struct record *record,
    int64_t row)
{
	char room[VALUES_ROOM];
	size_t length;
	const char *text = values_text(stream_column(columns->reader, columns->label),
	    &record->columns[columns->label], row, room, &length);
	int64_t number = names_add(names, text, length, NULL);

	if (number >= CLASSES_MOST)
		die("%s: column '%s' has more than %d different values; these are no "
		    "labels",
		    stream_name(columns->reader),
		    stream_column(columns->reader, columns->label)->name, CLASSES_MOST);
	return (int32_t)number;
}

static int
by_name(const void *a, const void *b, void *context)
{
	const struct training *training = context;
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	if (!training->numeric)
		return names_compare(training->names, x, y);
	double p = strtod(names_get(training->names, x), NULL);
	double q = strtod(names_get(training->names, y), NULL);
	return (p > q) - (p < q);
}

/* Number the labels as scikit-learn does, in sorted order: it decides ties, and which of two
 * classes is the positive one. */
static void
sort_labels(struct training *training)
{
	int classes = training->classes;

	training->sorted = mem_new((size_t)classes, sizeof *training->sorted);
	training->by_place = mem_new((size_t)classes, sizeof *training->by_place);
	for (int i = 0; i < classes; i++)
		training->by_place[i] = i;
	qsort_r(training->by_place, (size_t)classes, sizeof *training->by_place, by_name,
	    training);
	for (int i = 0; i < classes; i++)
		training->sorted[training->by_place[i]] = i;
	for (int64_t i = 0; i < training->n; i++)
		training->label[i] = training->sorted[training->label[i]];
}

static void
tell_few(const struct training *training, const char *stream, int samples)
{
	int64_t *counts = mem_zero((size_t)training->classes, sizeof *counts);
	int few = 0, first = 0;

	for (int64_t i = 0; i < training->n; i++)
		counts[training->label[i]]++;
	for (int i = training->classes - 1; i >= 0; i--) {
		if (counts[i] >= samples)
			continue;
		few++;
		first = i;
	}
	if (few)
		warn("%s: %d labels have fewer than %d rows and contribute what they "
		     "have; "
		     "first: '%s'",
		    stream, few, samples,
		    names_get(training->names, training->by_place[first]));
	free(counts);
}

static void
read_training(struct training *training, const struct classification_options *options)
{
	struct columns columns = open_columns(options->train, options);
	const char *name = stream_name(columns.reader);
	size_t x_capacity = 0, label_capacity = 0, row_bytes;
	struct record record;

	training->width = columns.width;
	training->names = names_new();
	training->numeric =
	    !values_are_text(stream_column(columns.reader, columns.label));
	row_bytes = (size_t)columns.width * sizeof(float);
	while (stream_next(columns.reader, &record)) {
		const float *x = vectors_of(&columns, &record);
		size_t need = (size_t)(training->n + record.rows);
		training->x = mem_grow(training->x, &x_capacity, need, row_bytes);
		training->label = mem_grow(
		    training->label, &label_capacity, need, sizeof *training->label);
		memcpy(training->x + training->n * columns.width, x,
		    (size_t)record.rows * row_bytes);
		for (int64_t row = 0; row < record.rows; row++)
			training->label[training->n++] =
			    label_of(training->names, &columns, &record, row);
	}
	training->classes = (int)names_count(training->names);
	if (training->n == 0)
		die("%s: there are no training rows in it", name);
	if (training->classes < 2)
		die("%s: all %lld rows have the label '%s'; two labels at least are "
		    "needed",
		    name, (long long)training->n, names_get(training->names, 0));
	sort_labels(training);
	tell_few(training, name, options->samples);
	close_columns(&columns);
}

/* Walk the shuffled rows and take each whose label has not enough yet; order [n] goes on from
 * the experiment before.  Returns how many were taken. */
static int64_t
draw(const struct training *training, int64_t *order, int samples, uint32_t seed,
    int64_t *taken)
{
	int *counts = mem_zero((size_t)training->classes, sizeof *counts);
	struct mt19937 mt;
	int64_t size = 0;

	mt19937_seed_numpy(&mt, seed);
	mt19937_shuffle(&mt, order, training->n);
	for (int64_t i = 0; i < training->n; i++) {
		int32_t label = training->label[order[i]];
		if (counts[label] == samples)
			continue;
		counts[label]++;
		taken[size++] = order[i];
	}
	free(counts);
	return size;
}

static struct logreg *
fit(const struct training *training, const int64_t *taken, int64_t size)
{
	float *x = mem_new((size_t)size, (size_t)training->width * sizeof *x);
	int32_t *label = mem_new((size_t)size, sizeof *label);

	for (int64_t i = 0; i < size; i++) {
		memcpy(x + i * training->width, training->x + taken[i] * training->width,
		    (size_t)training->width * sizeof *x);
		label[i] = training->label[taken[i]];
	}
	struct logreg *model = logreg_fit(x, label, size, training->width,
	    training->classes, 1, tolerance, ITERATIONS_MOST);
	free(x);
	free(label);
	return model;
}

static struct logreg **
fit_all(const struct training *training, const struct classification_options *options)
{
	int experiments = options->experiments;
	struct logreg **models = mem_new((size_t)experiments, sizeof *models);
	int64_t *order = mem_new((size_t)training->n, sizeof *order);
	int64_t *taken =
	    mem_new((size_t)experiments * (size_t)training->n, sizeof *taken);
	int64_t *size = mem_new((size_t)experiments, sizeof *size);
	double worst = 0;

	for (int64_t i = 0; i < training->n; i++)
		order[i] = i;
	for (int i = 0; i < experiments; i++)
		size[i] = draw(training, order, options->samples, options->seed,
		    taken + i * training->n);
#pragma omp parallel for schedule(dynamic)
	for (int i = 0; i < experiments; i++)
		models[i] = fit(training, taken + i * training->n, size[i]);
	for (int i = 0; i < experiments; i++) {
		inform("experiment %d: %lld rows, %d iterations, gradient %.1e", i,
		    (long long)size[i], models[i]->iterations, models[i]->gradient);
		worst = fmax(worst, models[i]->gradient);
	}
	if (worst > 1e-6)
		warn("a logistic regression stopped at a gradient of %.1e, short of its "
		     "optimum",
		    worst);
	free(order);
	free(taken);
	free(size);
	return models;
}

/* Counts by experiment, true label and predicted class; labels that only the test set has follow
 * those of the training set. */
static int64_t *
cell(const struct test *test, int classes, int experiments, int experiment, int label)
{
	return test->confusion + ((int64_t)label * experiments + experiment) * classes;
}

static void
count_rows(struct test *test, const struct training *training, int experiments,
    int experiment, const int32_t *truth, const int32_t *predicted, int64_t rows)
{
	for (int64_t i = 0; i < rows; i++)
		cell(test, training->classes, experiments, experiment,
		    truth[i])[predicted[i]]++;
}

static int32_t
test_label(struct test *test, struct training *training, const struct columns *columns,
    const struct record *record, int64_t row, size_t label_bytes)
{
	int32_t number = label_of(training->names, columns, record, row);

	if (number >= test->labels) {
		size_t before = (size_t)test->labels;
		test->labels = number + 1;
		test->confusion = mem_grow(
		    test->confusion, &test->capacity, (size_t)test->labels, label_bytes);
		memset((char *)test->confusion + before * label_bytes, 0,
		    ((size_t)test->labels - before) * label_bytes);
	}
	test->unseen += number >= training->classes;
	return number < training->classes ? training->sorted[number] : number;
}

static struct test
run_test(struct training *training, struct logreg **models,
    const struct classification_options *options)
{
	struct columns columns = open_columns(options->test, options);
	const char *name = stream_name(columns.reader);
	int experiments = options->experiments, classes = training->classes;
	size_t label_bytes = (size_t)experiments * (size_t)classes * sizeof(int64_t);
	struct test test = { .labels = classes,
		.capacity = (size_t)classes,
		.confusion = mem_zero((size_t)classes, label_bytes) };
	struct record record;

	if (columns.width != training->width)
		die("%s: the test rows have width %d, the training rows %d; encode both "
		    "with one "
		    "model",
		    name, columns.width, training->width);
	while (stream_next(columns.reader, &record)) {
		const float *x = vectors_of(&columns, &record);
		int32_t *truth = mem_new((size_t)record.rows, 2 * sizeof *truth);
		int32_t *predicted = truth + record.rows;
		for (int64_t row = 0; row < record.rows; row++)
			truth[row] = test_label(
			    &test, training, &columns, &record, row, label_bytes);
		for (int i = 0; i < experiments; i++) {
			logreg_predict(models[i], x, record.rows, predicted);
			count_rows(&test, training, experiments, i, truth, predicted,
			    record.rows);
		}
		test.rows += record.rows;
		free(truth);
	}
	if (test.rows == 0)
		die("%s: there are no test rows in it", name);
	if (test.unseen)
		warn("%s: %lld rows have %d labels that no training row has (first: "
		     "'%s'): they "
		     "count as wrong",
		    name, (long long)test.unseen, test.labels - classes,
		    names_get(training->names, classes));
	close_columns(&columns);
	return test;
}

enum { ACCURACY, F1, F1_WEIGHTED, AP, METRICS };
static const char *const metrics[] = { "accuracy", "f1", "f1_weighted", "ap" };

/*
 * scikit-learn's macro and weighted F1 over all labels that occur as truth or prediction; average
 * precision (two classes) of the hard predictions, which has two thresholds only.
 */
static void
measure(
    const struct test *test, int classes, int experiments, int experiment, double *score)
{
	double right = 0, macro = 0, weighted = 0, rows = (double)test->rows;
	int present = 0;

	for (int label = 0; label < test->labels; label++) {
		const int64_t *row = cell(test, classes, experiments, experiment, label);
		double truth = 0, predicted = 0,
		       hit = label < classes ? (double)row[label] : 0;
		for (int i = 0; i < classes; i++)
			truth += (double)row[i];
		for (int i = 0; label < classes && i < test->labels; i++)
			predicted += (double)cell(
			    test, classes, experiments, experiment, i)[label];
		if (truth + predicted == 0)
			continue;
		double f1 = 2 * hit / (truth + predicted);
		present++;
		right += hit;
		macro += f1;
		weighted += f1 * truth / rows;
		if (classes == 2 && label == 1) {
			double recall = truth > 0 ? hit / truth : 0;
			double precision = predicted > 0 ? hit / predicted : 0;
			score[AP] = truth > 0
					? recall * precision + (1 - recall) * truth / rows
					: 0;
		}
	}
	score[ACCURACY] = right / rows;
	score[F1] = macro / present;
	score[F1_WEIGHTED] = weighted;
}

static void
report_metrics(
    struct report *report, const struct test *test, int classes, int experiments)
{
	double *all = mem_zero((size_t)experiments * METRICS, 2 * sizeof *all);
	double *one = all + (int64_t)experiments * METRICS;

	for (int i = 0; i < experiments; i++)
		measure(test, classes, experiments, i, all + (int64_t)i * METRICS);
	for (int metric = 0; metric < (classes == 2 ? METRICS : AP); metric++) {
		char *name = mem_format("%s_per_experiment", metrics[metric]);
		for (int i = 0; i < experiments; i++)
			one[i] = all[i * METRICS + metric];
		report_score(report, metrics[metric], stats_mean(one, experiments));
		report_list(report, name, one, experiments);
		free(name);
	}
	free(all);
}

void
score_classification(struct report *report, const struct classification_options *options)
{
	struct training training = { 0 };

	read_training(&training, options);
	struct logreg **models = fit_all(&training, options);
	struct test test = run_test(&training, models, options);
	report_set(report, "seed", "%u", options->seed);
	report_set(report, "classifier",
	    "logistic regression, C 1, optimum to gradient %g", tolerance);
	report_set(report, "experiments", "%d", options->experiments);
	report_set(report, "samples per label", "%d", options->samples);
	report_set(report, "rounding", "none");
	report_set(report, "labels", "%d", training.classes);
	report_set(report, "train", "%lld", (long long)training.n);
	report_set(report, "test", "%lld", (long long)test.rows);
	report_metrics(report, &test, training.classes, options->experiments);
	report_main(report, "accuracy", "there is no test row");
	for (int i = 0; i < options->experiments; i++)
		logreg_free(models[i]);
	free(models);
	free(test.confusion);
	free(training.x);
	free(training.label);
	free(training.sorted);
	free(training.by_place);
	names_free(training.names);
}
