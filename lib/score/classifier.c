#include "score/classifier.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "score/labels.h"
#include "score/logistic_regression.h"
#include "score/knn.h"
#include "stream/text_column.h"

enum { CLASSES_MOST = 20000, WIDTH_MOST = 1 << 20 };
/* A numeric label: i64 or f64, as the column. */
union number {
	int64_t whole;
	double real;
};

struct classifier {
	char *name, *model, *kind; /* of the stream; model NULL: not named there */
	int width, classes;
	struct strings *names;		      /* [classes], in scikit-learn's order */
	struct column column;		      /* of the labels */
	struct logistic_regression *logistic; /* or: */
	struct knn *neighbours;
	float *x;	/* [n, width]: training rows of the neighbours */
	int32_t *label; /* [n] */

	/* the latest predictions */
	int32_t *predicted;
	union number *numbers;
	struct text_column texts;
	size_t predicted_capacity, numbers_capacity;
};

static struct classifier *
start(const struct reader *reader, int label)
{
	struct classifier *classifier = mem_zero(1, sizeof *classifier);
	const struct column *column = stream_column(reader, label);
	const char *model = tree_string(stream_properties(reader), "model", NULL);

	classifier->name = mem_string(stream_name(reader));
	classifier->model = model ? mem_string(model) : NULL;
	classifier->names = strings_new();
	classifier->column = (struct column){ .dtype = DTYPE_I64 };
	if (values_are_text(column))
		classifier->column =
		    (struct column){ .dtype = DTYPE_U8, .text = true, .depth = 1 };
	else if (dtype_is_float(column->dtype))
		classifier->column.dtype = DTYPE_F64;
	else if (column->dtype == DTYPE_BOOL)
		classifier->column.dtype = DTYPE_BOOL;
	return classifier;
}

/* Fitting. -------------------------------------------------------------------------- */

/* The rows of a labelled stream. */
struct training_rows {
	int64_t n;
	struct strings *names; /* in the order of their arrival */
	size_t x_capacity, label_capacity;
};

static void
take_record(struct classifier *classifier, struct training_rows *labelled,
    const struct labelled_stream *stream, const struct record *record)
{
	size_t row = (size_t)classifier->width * sizeof(float);
	size_t rows = (size_t)(labelled->n + record->rows);

	vectors_load(stream->vectors, record);
	classifier->x = mem_grow(classifier->x, &labelled->x_capacity, rows, row);
	classifier->label = mem_grow(classifier->label, &labelled->label_capacity, rows,
	    sizeof *classifier->label);
	for (int64_t i = 0; i < record->rows; i++)
		classifier->label[labelled->n + i] =
		    labels_number(labelled->names, stream->reader, stream->label,
			&record->columns[stream->label], i, CLASSES_MOST);
	if (record->rows)
		memcpy(classifier->x + labelled->n * classifier->width,
		    stream->vectors->raw, (size_t)record->rows * row);
	labelled->n += record->rows;
}

/* Number the labels in scikit-learn's order. */
static void
sort_labels(struct classifier *classifier, const struct training_rows *labelled)
{
	int32_t *order = labels_sorted(labelled->names);
	int32_t *place = mem_new((size_t)classifier->classes, sizeof *place);

	for (int i = 0; i < classifier->classes; i++) {
		place[order[i]] = i;
		strings_add_from(classifier->names, labelled->names, order[i]);
	}
	for (int64_t i = 0; i < labelled->n; i++)
		classifier->label[i] = place[classifier->label[i]];
	free(order);
	free(place);
}

static void
learn(struct classifier *classifier, int64_t n, const struct classifier_options *options)
{
	if (options->method == CLASSIFIER_NEIGHBOURS) {
		if (n < options->neighbours)
			die("%s: -k %d: there are only %lld labelled rows",
			    classifier->name, options->neighbours, (long long)n);
		classifier->neighbours = mem_new(1, sizeof *classifier->neighbours);
		*classifier->neighbours = (struct knn){ classifier->x, classifier->label,
			n, classifier->width, classifier->classes, options->neighbours };
		return;
	}
	if (n > INT32_MAX)
		die("%s: it has more than %d rows; learn from a sample (mts rows --sample)",
		    classifier->name, INT32_MAX);
	classifier->logistic = logistic_regression_fit(classifier->x, classifier->label,
	    n, classifier->width, classifier->classes, &logistic_regression_reference);
	inform("%s: %lld rows, %d labels, %d iterations, gradient %.1e", classifier->name,
	    (long long)n, classifier->classes, classifier->logistic->iterations,
	    classifier->logistic->gradient);
	if (logistic_regression_stuck(classifier->logistic))
		warn(
		    "%s: the regression finds no step from zero (gradient %.1e), so that all labels are equally probable; scale the vectors",
		    classifier->name, classifier->logistic->gradient);
	free(classifier->x);
	free(classifier->label);
	classifier->x = NULL;
	classifier->label = NULL;
}

struct classifier *
classifier_fit(const char *path, const struct classifier_options *options)
{
	static const char *const usual[] = { "label", NULL };
	struct labelled_stream stream =
	    labels_open(path, options->field, options->label, usual, "labels");
	struct training_rows labelled = { .names = strings_new() };
	struct record record;

	values_single(stream.reader, stream.label, 0);
	struct classifier *classifier = start(stream.reader, stream.label);
	classifier->kind = mem_string(vectors_kind(stream.vectors));
	classifier->width = stream.vectors->width;
	while (stream_next(stream.reader, &record))
		take_record(classifier, &labelled, &stream, &record);
	classifier->classes = (int)strings_count(labelled.names);
	if (labelled.n == 0)
		die("%s: there is no labelled row in it", classifier->name);
	if (classifier->classes < 2)
		die("%s: all %lld rows have the label '%s'; two labels at least are needed",
		    classifier->name, (long long)labelled.n,
		    strings_get(labelled.names, 0));
	sort_labels(classifier, &labelled);
	labels_close(&stream);
	strings_free(labelled.names);
	learn(classifier, labelled.n, options);
	return classifier;
}

/* Predicting. ----------------------------------------------------------------------- */

void
classifier_agree(
    const struct classifier *classifier, const struct vectors *vectors, bool any_model)
{
	vectors_agree_with(vectors,
	    &(struct vectors_origin){ classifier->name, classifier->model,
		classifier->kind, classifier->width },
	    any_model);
}

struct column
classifier_column(const struct classifier *classifier)
{
	return classifier->column;
}

static union number
number_of(const struct classifier *classifier, int32_t class)
{
	long double value = labels_value(classifier->names, class);

	return classifier->column.dtype == DTYPE_I64
		   ? (union number){ .whole = (int64_t)value }
		   : (union number){ .real = (double)value };
}

/* The labels of classes [n] as values of the label column, borrowed until the next call. */
static struct array
put_labels(struct classifier *classifier, const int32_t *classes, int64_t n)
{
	const struct strings *names = classifier->names;

	if (classifier->column.text) {
		text_column_clear(&classifier->texts);
		for (int64_t i = 0; i < n; i++)
			text_column_add(&classifier->texts,
			    strings_get(names, classes[i]),
			    strings_length(names, classes[i]));
		return text_column_array(&classifier->texts);
	}
	classifier->numbers = mem_grow(classifier->numbers, &classifier->numbers_capacity,
	    (size_t)n, sizeof *classifier->numbers);
	bool *truths = (bool *)classifier->numbers;
	for (int64_t i = 0; classifier->column.dtype == DTYPE_BOOL && i < n; i++)
		truths[i] = labels_value(names, classes[i]) != 0;
	if (classifier->column.dtype == DTYPE_BOOL)
		return (struct array){ .data = truths };
	for (int64_t i = 0; i < n; i++)
		classifier->numbers[i] = number_of(classifier, classes[i]);
	return (struct array){ .data = classifier->numbers };
}

struct array
classifier_predict(
    struct classifier *classifier, const float *x, int64_t n, double *probability)
{
	classifier->predicted = mem_grow(classifier->predicted,
	    &classifier->predicted_capacity, (size_t)n, sizeof *classifier->predicted);
	if (classifier->logistic)
		logistic_regression_predict(
		    classifier->logistic, x, n, classifier->predicted, probability);
	else
		knn_predict(
		    classifier->neighbours, x, n, classifier->predicted, probability);
	return put_labels(classifier, classifier->predicted, n);
}

/* Saving. --------------------------------------------------------------------------- */

/* Weights [classes, width] and intercepts [classes].  Two classes have one fitted vector; the first class's is 0. */
static double *
all_classes(const struct classifier *classifier, double **intercepts)
{
	const struct logistic_regression *logistic = classifier->logistic;
	size_t classes = (size_t)classifier->classes, width = (size_t)classifier->width;
	size_t skipped = classes - (size_t)logistic->vectors;
	double *weights = mem_zero(classes * width, sizeof *weights);

	*intercepts = mem_zero(classes, sizeof **intercepts);
	memcpy(weights + skipped * width, logistic->weights,
	    (size_t)logistic->vectors * width * sizeof *weights);
	memcpy(*intercepts + skipped, logistic->intercepts,
	    (size_t)logistic->vectors * sizeof **intercepts);
	return weights;
}

void
classifier_save(const struct classifier *classifier, const char *path)
{
	struct writer *writer = stream_create(path, NULL);
	struct column label = classifier->column;
	double *intercepts, *weights = all_classes(classifier, &intercepts);
	int32_t *classes = mem_new((size_t)classifier->classes, sizeof *classes);

	for (int i = 0; i < classifier->classes; i++)
		classes[i] = i;
	label.name = "label";
	stream_property(writer, "model", classifier->model);
	stream_property(writer, "emb",
	    strcmp(classifier->kind, "embeddings") != 0 ? classifier->kind : NULL);
	int labels = stream_add(writer, &label);
	int of_weights = stream_add(writer, &(struct column){ .name = "weights",
						.dtype = DTYPE_F64,
						.rank = 1,
						.shape = { classifier->width } });
	int of_intercepts = stream_add(
	    writer, &(struct column){ .name = "intercept", .dtype = DTYPE_F64 });
	struct record *record = stream_make(writer, NULL);
	record->rows = classifier->classes;
	record->columns[labels] =
	    put_labels((struct classifier *)classifier, classes, classifier->classes);
	record->columns[of_weights].data = weights;
	record->columns[of_intercepts].data = intercepts;
	stream_put(writer, record);
	stream_finish(writer);
	free(classes);
	free(weights);
	free(intercepts);
}

/* The columns of a saved classifier. */
struct kept_columns {
	int label, weights, intercept;
};

static struct kept_columns
find_columns(const struct reader *reader)
{
	struct kept_columns found = { stream_find(reader, "label"),
		stream_find(reader, "weights"), stream_find(reader, "intercept") };
	const struct column *weights =
	    found.weights < 0 ? NULL : stream_column(reader, found.weights);
	const struct column *intercept =
	    found.intercept < 0 ? NULL : stream_column(reader, found.intercept);

	if (found.label < 0 || !weights || weights->dtype != DTYPE_F64 ||
	    weights->depth || weights->rank != 1 || weights->shape[0] > WIDTH_MOST ||
	    !intercept || intercept->dtype != DTYPE_F64 || intercept->depth ||
	    intercept->rank)
		die("%s: is not a classifier: 'classify --save' writes one, with the columns label, weights and intercept",
		    stream_name(reader));
	values_single(reader, found.label, 0);
	return found;
}

static void
take_kept(struct classifier *classifier, const struct reader *reader,
    const struct record *record, struct kept_columns columns)
{
	size_t width = (size_t)classifier->width;
	struct logistic_regression *logistic = mem_zero(1, sizeof *logistic);
	const double *weights = record->columns[columns.weights].data;
	const double *intercepts = record->columns[columns.intercept].data;

	classifier->logistic = logistic;
	classifier->classes = (int)record->rows;
	for (int32_t i = 0; i < classifier->classes; i++)
		if (labels_number(classifier->names, reader, columns.label,
			&record->columns[columns.label], i, CLASSES_MOST) != i)
			die("%s: is not a classifier: two of its rows have one label",
			    stream_name(reader));
	size_t size = (size_t)classifier->classes * width;
	*logistic = (struct logistic_regression){ .classes = classifier->classes,
		.width = classifier->width,
		.vectors = classifier->classes,
		.weights = mem_new(size + (size_t)classifier->classes, sizeof(double)) };
	logistic->intercepts = logistic->weights + size;
	memcpy(logistic->weights, weights, size * sizeof *weights);
	memcpy(logistic->intercepts, intercepts,
	    (size_t)classifier->classes * sizeof *intercepts);
	for (size_t i = 0; i < size + (size_t)classifier->classes; i++)
		if (!isfinite(logistic->weights[i]))
			die("%s: is not a classifier: a weight is not finite",
			    stream_name(reader));
}

struct classifier *
classifier_load(const char *path)
{
	struct reader *reader = stream_open(path);
	struct kept_columns columns = find_columns(reader);
	struct classifier *classifier = start(reader, columns.label);
	struct record record;

	classifier->kind =
	    mem_string(tree_string(stream_properties(reader), "emb", "embeddings"));
	classifier->width = (int)stream_column(reader, columns.weights)->shape[0];
	if (!stream_next(reader, &record) || record.rows < 2 ||
	    record.rows > CLASSES_MOST)
		die("%s: is not a classifier: it does not have one record of two labels or more",
		    stream_name(reader));
	take_kept(classifier, reader, &record, columns);
	if (stream_next(reader, &record))
		die("%s: is not a classifier: it has more than one record",
		    stream_name(reader));
	stream_close(reader);
	return classifier;
}

void
classifier_free(struct classifier *classifier)
{
	if (classifier->logistic)
		logistic_regression_free(classifier->logistic);
	strings_free(classifier->names);
	free(classifier->neighbours);
	free(classifier->name);
	free(classifier->model);
	free(classifier->kind);
	free(classifier->x);
	free(classifier->label);
	free(classifier->predicted);
	free(classifier->numbers);
	text_column_free(&classifier->texts);
	free(classifier);
}
