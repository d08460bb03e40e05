#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strings.h"
#include "score/row_subset.h"
#include "score/labels.h"
#include "score/legacy_sum.h"
#include "score/logistic_regression.h"
#include "score/measure/confusion.h"
#include "base/mt19937.h"
#include "score/score.h"
#include "search/vectors.h"

enum { CLASSES_MOST = 20000 };
static int
per_label(const struct score_options *options)
{
	return options->samples ? options->samples : 8;
}

/* A growing array of label numbers: of training rows, test rows, or predictions. */
struct label_array {
	int32_t *at;
	size_t capacity;
};

struct training {
	struct row_subset subset;
	struct label_array label; /* [n]: number in `names`, later rank in sorted order */
	int64_t n;
	int classes;
	struct strings
	    *names;    /* labels in order of appearance; the test set may add some */
	bool numeric;  /* all labels are numbers (perhaps as text), and sorted as such */
	int32_t *rank; /* [classes]: the rank of a name in sorted order */
	int32_t *by_rank; /* [classes]: the inverse */
};

struct test {
	struct label_array truth;      /* [rows] */
	struct label_array *predicted; /* [experiments] of [rows] */
	int64_t rows, unseen;
};

static struct labelled_stream
open_columns(const char *path, const struct score_options *options)
{
	static const char *const usual[] = { "label", NULL };
	struct labelled_stream columns =
	    labels_open(path, options->fields[0], options->label, usual, "labels");
	const struct column *labels = stream_column(columns.reader, columns.label);

	if (labels->rank == 0 && labels->depth > (labels->text ? 1 : 0))
		die("%s: column '%s' has lists of labels: score them by multilabelclassification, or give one label a row",
		    stream_name(columns.reader), labels->name);
	values_single(columns.reader, columns.label, 0);
	return columns;
}

/* Appends the labels of a record to those of `rows` rows. */
static void
read_labels(struct label_array *labels, int64_t rows, struct strings *names,
    const struct labelled_stream *columns, const struct record *record)
{
	labels->at = mem_grow(labels->at, &labels->capacity,
	    (size_t)(rows + record->rows), sizeof *labels->at);
	for (int64_t row = 0; row < record->rows; row++)
		labels->at[rows + row] = labels_number(names, columns->reader,
		    columns->label, &record->columns[columns->label], row, CLASSES_MOST);
}

/* Numbers the labels in sorted order, as scikit-learn: the order breaks ties and selects the positive class
 * of two. */
static void
sort_labels(struct training *training)
{
	int classes = training->classes;

	training->rank = mem_new((size_t)classes, sizeof *training->rank);
	training->by_rank = labels_sorted(training->names);
	for (int i = 0; i < classes; i++)
		training->rank[training->by_rank[i]] = i;
	for (int64_t i = 0; i < training->n; i++)
		training->label.at[i] = training->rank[training->label.at[i]];
}

static void
tell_few(const struct training *training, const char *stream, int samples)
{
	int64_t *counts = mem_zero((size_t)training->classes, sizeof *counts);
	int few = 0, first = 0;

	for (int64_t i = 0; i < training->n; i++)
		counts[training->label.at[i]]++;
	for (int i = training->classes - 1; i >= 0; i--) {
		if (counts[i] >= samples)
			continue;
		few++;
		first = i;
	}
	if (few)
		warn(
		    "%s: %d labels have fewer than %d rows: all of their rows are used; first: '%s'",
		    stream, few, samples,
		    strings_get(training->names, training->by_rank[first]));
	free(counts);
}

static void
read_training(struct training *training, struct labelled_stream *columns,
    const char *path, int samples)
{
	const char *name = stream_name(columns->reader);
	struct record record;

	training->subset = row_subset_start(path, columns->vectors);
	training->names = strings_new();
	while (stream_next(columns->reader, &record)) {
		read_labels(
		    &training->label, training->n, training->names, columns, &record);
		row_subset_add(&training->subset, columns->vectors, &record);
		training->n += record.rows;
	}
	training->classes = (int)strings_count(training->names);
	training->numeric = labels_are_numbers(training->names);
	if (training->n == 0)
		die("%s: there are no training rows in it", name);
	if (training->classes < 2)
		die("%s: all %lld rows have the label '%s'; two labels at least are needed",
		    name, (long long)training->n, strings_get(training->names, 0));
	sort_labels(training);
	tell_few(training, name, samples);
	labels_close(columns);
}

/* Reads the vectors of the rows that any experiment samples. */
static void
fetch_rows(struct training *training, const struct mt19937_sample *samples,
    const struct score_options *options)
{
	for (int i = 0; i < options->experiments; i++)
		row_subset_want(&training->subset, samples[i].rows, samples[i].size);
	row_subset_fetch(&training->subset, options->train, options->fields[0]);
}

static struct logistic_regression *
fit(const struct training *training, const struct mt19937_sample *sample,
    const struct logistic_regression_options *how)
{
	float *x = row_subset_gather(&training->subset, sample->rows, sample->size);
	int32_t *label = mem_new((size_t)sample->size, sizeof *label);

	for (int64_t i = 0; i < sample->size; i++)
		label[i] = training->label.at[sample->rows[i]];
	struct logistic_regression *model = logistic_regression_fit(
	    x, label, sample->size, training->subset.width, training->classes, how);
	free(x);
	free(label);
	return model;
}

static struct logistic_regression **
fit_all(const struct training *training, struct mt19937_sample *samples,
    const struct score_options *options)
{
	const struct logistic_regression_options *how =
	    options->reference ? &logistic_regression_reference
			       : &logistic_regression_optimum;
	int experiments = options->experiments;
	struct logistic_regression **models =
	    mem_new((size_t)experiments, sizeof *models);
	double worst = 0;

#pragma omp parallel for schedule(dynamic)
	for (int i = 0; i < experiments; i++)
		models[i] = fit(training, &samples[i], how);
	for (int i = 0; i < experiments; i++) {
		inform("experiment %d: %lld rows, %d iterations, gradient %.1e", i,
		    (long long)samples[i].size, models[i]->iterations,
		    models[i]->gradient);
		worst = fmax(worst, models[i]->gradient);
		free(samples[i].rows);
	}
	if (!options->reference && worst > 1e-6)
		warn(
		    "a logistic regression stopped at a gradient of %.1e, short of its optimum",
		    worst);
	free(samples);
	return models;
}

/* Labels absent from the training set are numbered after it. */
static void
read_truth(struct test *test, struct training *training,
    const struct labelled_stream *columns, const struct record *record)
{
	read_labels(&test->truth, test->rows, training->names, columns, record);
	for (int64_t i = test->rows; i < test->rows + record->rows; i++) {
		int32_t *label = &test->truth.at[i];
		if (*label < training->classes)
			*label = training->rank[*label];
		else
			test->unseen++;
	}
}

static struct test
run_test(struct training *training, struct logistic_regression **models,
    struct labelled_stream *columns, const struct score_options *options)
{
	const char *name = stream_name(columns->reader);
	int experiments = options->experiments;
	struct test test = { .predicted =
				 mem_zero((size_t)experiments, sizeof *test.predicted) };
	struct record record;

	while (stream_next(columns->reader, &record)) {
		vectors_load(columns->vectors, &record);
		read_truth(&test, training, columns, &record);
		for (int64_t row = 0; row < record.rows; row++)
			per_query_add_row(options->per_query, columns->reader, &record,
			    row, test.rows + row + 1);
#pragma omp parallel for schedule(dynamic)
		for (int i = 0; i < experiments; i++) {
			struct label_array *predicted = &test.predicted[i];
			predicted->at = mem_grow(predicted->at, &predicted->capacity,
			    (size_t)(test.rows + record.rows), sizeof *predicted->at);
			logistic_regression_predict(models[i], columns->vectors->raw,
			    record.rows, predicted->at + test.rows, NULL);
		}
		test.rows += record.rows;
	}
	if (test.rows == 0)
		die("%s: there are no test rows in it", name);
	if (test.unseen)
		warn(
		    "%s: %lld rows have %lld labels that no training row has (first: '%s'): they count as wrong",
		    name, (long long)test.unseen,
		    (long long)strings_count(training->names) - training->classes,
		    strings_get(training->names, training->classes));
	labels_close(columns);
	return test;
}

/*
 * The positive class of average precision: the label 1, as scikit-learn requires, else the last of the two
 * labels in order.  -1 unless the training set (protocol v1) or the test set (v2) has exactly two labels.
 */
static int32_t
positive_label(
    const struct training *training, const struct test *test, enum protocol protocol)
{
	int32_t seen[2] = { 0, 1 }, one = -1;
	int count = protocol == PROTOCOL_V1 ? training->classes : 0;

	for (int64_t i = 0; count < 3 && protocol == PROTOCOL_V2 && i < test->rows; i++) {
		int32_t label = test->truth.at[i];
		if ((count > 0 && label == seen[0]) || (count > 1 && label == seen[1]))
			continue;
		if (count < 2)
			seen[count] = label;
		count++;
	}
	for (int i = 0; i < 2 && training->numeric; i++)
		if (seen[i] < training->classes &&
		    labels_value(training->names, training->by_rank[seen[i]]) == 1)
			one = seen[i];
	if (count != 2)
		return -1;
	return one >= 0 ? one : seen[seen[1] > seen[0]];
}

enum { AP = 3, AP_WEIGHTED, METRICS = 9 };
static const char *const metrics[] = { "accuracy", "f1", "f1_weighted", "ap",
	"ap_weighted", "precision", "precision_weighted", "recall", "recall_weighted" };

static void
report_metrics(struct report *report, const struct training *training, struct test *test,
    const struct score_options *options)
{
	int32_t labels = (int32_t)strings_count(training->names);
	int experiments = options->experiments;
	int32_t positive = positive_label(training, test, options->protocol);
	int count = options->protocol == PROTOCOL_V2 ? METRICS
		    : positive < 0		     ? AP
						     : AP_WEIGHTED + 1;
	double *all = mem_zero((size_t)experiments * METRICS, sizeof *all);

	for (int i = 0; i < experiments; i++) {
		const int32_t *truth = test->truth.at, *predicted = test->predicted[i].at;
		struct confusion found =
		    confusion_measure(truth, predicted, test->rows, labels);
		double ap = positive < 0 ? NAN
					 : confusion_average_precision(truth, predicted,
					       test->rows, labels, positive);
		double values[METRICS] = { found.accuracy, found.f1, found.f1_weighted,
			ap, ap, found.precision, found.precision_weighted, found.recall,
			found.recall_weighted };
		for (int metric = 0; metric < METRICS; metric++)
			all[metric * experiments + i] = values[metric];
	}
	report_experiments(report, metrics, count, all, experiments);
	free(all);
}

/* The accuracy of each test row over the experiments. */
static void
put_rows(struct per_query *table, const struct test *test, int experiments)
{
	double *accuracy = mem_zero((size_t)test->rows, sizeof *accuracy);

	for (int64_t row = 0; row < test->rows; row++) {
		for (int i = 0; i < experiments; i++)
			accuracy[row] +=
			    test->predicted[i].at[row] == test->truth.at[row];
		accuracy[row] /= experiments;
	}
	per_query_column(table, accuracy, "accuracy");
	free(accuracy);
}

static void
report_settings(struct report *report, const struct training *training,
    const struct test *test, const struct score_options *options)
{
	report_set(report, "seed", "%u", options->seed);
	if (options->reference)
		report_set(report, "classifier",
		    "logistic regression, C 1, as scikit-learn >= 1.4 stops: gradient %g, %d iterations",
		    logistic_regression_reference.tolerance,
		    logistic_regression_reference.most);
	else
		report_set(report, "classifier",
		    "logistic regression, C 1, optimum to gradient %g",
		    logistic_regression_optimum.tolerance);
	legacy_sum_describe(report, options->fields, options->legacy_sum);
	report_set(report, "experiments", "%d", options->experiments);
	report_set(report, "samples per label", "%d", per_label(options));
	report_set(report, "rounding", "none");
	report_set(report, "labels", "%d", training->classes);
	report_set(report, "train", "%lld", (long long)training->n);
	report_set(report, "test", "%lld", (long long)test->rows);
}

static void
train_and_test(
    struct training *training, struct test *test, const struct score_options *options)
{
	struct labelled_stream train = open_columns(options->train, options);
	struct labelled_stream columns = open_columns(options->files[0], options);

	vectors_agree(train.vectors, columns.vectors, options->any_model);
	read_training(training, &train, options->train, per_label(options));
	struct mt19937_sample *samples =
	    mt19937_undersample(training->label.at, training->n, training->classes,
		per_label(options), options->experiments, options->seed);
	fetch_rows(training, samples, options);
	struct logistic_regression **models = fit_all(training, samples, options);
	*test = run_test(training, models, &columns, options);
	for (int i = 0; i < options->experiments; i++)
		logistic_regression_free(models[i]);
	free(models);
}

static void
free_all(struct training *training, struct test *test, int experiments)
{
	for (int i = 0; i < experiments; i++)
		free(test->predicted[i].at);
	free(test->predicted);
	free(test->truth.at);
	row_subset_free(&training->subset);
	free(training->label.at);
	free(training->rank);
	free(training->by_rank);
	strings_free(training->names);
}

/* The first label as a number.  Dies unless the others are the following integers, so that a truncated average is a
 * label. */
static double
first_number(const struct training *training)
{
	double first = labels_value(training->names, training->by_rank[0]);

	for (int i = 0; i < training->classes; i++) {
		double number = labels_value(training->names, training->by_rank[i]);
		if (number != first + i || number != trunc(number))
			die("--legacy-sum averages labels as numbers: they must be consecutive integers; there is '%s'",
			    strings_get(training->names, training->by_rank[i]));
	}
	return first;
}

/* Averages the predictions of both fields. */
static void
sum_predictions(const struct training *training, struct test *test,
    const struct score_options *options)
{
	struct training other_training = { 0 };
	struct test other;
	struct score_options second = *options;
	double first = first_number(training);

	second.fields[0] = options->fields[1];
	second.per_query = NULL;
	train_and_test(&other_training, &other, &second);
	for (int i = 0; i < options->experiments; i++)
		for (int64_t row = 0; row < test->rows; row++) {
			int32_t *label = &test->predicted[i].at[row];
			*label = (int32_t)(trunc(legacy_sum(first + *label,
					       first + other.predicted[i].at[row],
					       options->legacy_sum)) -
					   first);
		}
	free_all(&other_training, &other, options->experiments);
}

void
score_classification(struct report *report, const struct score_options *options)
{
	struct training training = { 0 };
	struct test test;

	train_and_test(&training, &test, options);
	if (options->legacy_sum > 0)
		sum_predictions(&training, &test, options);
	report_settings(report, &training, &test, options);
	report_metrics(report, &training, &test, options);
	report_main(report, "accuracy", "there is no test row");
	if (options->per_query)
		put_rows(options->per_query, &test, options->experiments);
	free_all(&training, &test, options->experiments);
}
