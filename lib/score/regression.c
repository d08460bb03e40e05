#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "score/labels.h"
#include "score/linear_regression.h"
#include "score/measure/correlation.h"
#include "score/measure/stats.h"
#include "score/row_subset.h"
#include "score/score.h"
#include "score/stratify.h"
#include "search/vectors.h"

struct regression {
	const struct score_options *options;
	struct row_subset subset;
	struct series y; /* of the training rows */
	int samples; /* training rows of an experiment; all rows if there are no more */
	int fits;    /* different regressions: 1 if all rows are used */
	struct linear_regression **fitted; /* [fits] */
	struct series truth, *predicted;   /* of the test rows; [fits] */
};

static struct labelled_stream
open_stream(const char *path, const struct score_options *options)
{
	static const char *const usual[] = { "value", "label", NULL };
	struct labelled_stream stream =
	    labels_open(path, options->fields[0], options->label, usual, "numbers");

	values_single(stream.reader, stream.label, 0);
	return stream;
}

/* Appends the numbers of a record.  Dies unless they are finite. */
static void
take_values(
    struct series *to, const struct labelled_stream *stream, const struct record *record)
{
	for (int64_t i = 0; i < record->rows; i++)
		series_add(to, labels_finite(stream->reader, stream->label, record, i,
				   "to predict"));
}

static void
read_training(struct regression *regression, struct labelled_stream *stream)
{
	struct record record;

	regression->subset =
	    row_subset_start(regression->options->train, stream->vectors);
	while (stream_next(stream->reader, &record)) {
		take_values(&regression->y, stream, &record);
		row_subset_add(&regression->subset, stream->vectors, &record);
	}
	if (regression->y.count < 2)
		die("%s: %lld training rows; two at least are needed",
		    stream_name(stream->reader), (long long)regression->y.count);
	labels_close(stream);
}

/* The training rows [fits, samples]; of a file only these vectors are kept. */
static int64_t *
draw_rows(struct regression *regression)
{
	const struct score_options *options = regression->options;
	int64_t n = regression->y.count, samples = regression->samples;
	int64_t *rows = mem_new((size_t)regression->fits, (size_t)samples * sizeof *rows);

	for (int64_t i = 0; i < samples && samples == n; i++)
		rows[i] = i;
	for (int i = 0; i < regression->fits && samples < n; i++)
		stratify_numbers(regression->y.at, n, samples,
		    options->seed + (uint32_t)i, rows + i * samples);
	row_subset_want(&regression->subset, rows, regression->fits * samples);
	row_subset_fetch(&regression->subset, options->train, options->fields[0]);
	return rows;
}

/* Where scikit-learn counts singular values of f32 vectors as 0. */
static double
cutoff(const struct regression *regression)
{
	int width = regression->subset.width, samples = regression->samples;

	return regression->options->by_choice
		   ? 1e-6
		   : (samples > width ? samples : width) * (double)FLT_EPSILON;
}

static void
fit(struct regression *regression, const int64_t *rows, int which)
{
	int64_t samples = regression->samples;
	const float **x = mem_new((size_t)samples, sizeof *x);
	double *y = mem_new((size_t)samples, sizeof *y);

	for (int64_t i = 0; i < samples; i++) {
		int64_t row = rows[which * samples + i];
		x[i] = row_subset_row(&regression->subset, row);
		y[i] = regression->y.at[row];
	}
	regression->fitted[which] = linear_regression_fit(
	    x, y, samples, regression->subset.width, cutoff(regression));
	free(x);
	free(y);
}

static void
fit_all(struct regression *regression)
{
	int64_t *rows = draw_rows(regression);
	int fits = regression->fits;

	regression->fitted = mem_new((size_t)fits, sizeof *regression->fitted);
	/* in a parallel region LAPACK takes one thread, so its sums do not depend on their number */
#pragma omp parallel for schedule(dynamic)
	for (int i = 0; i < fits; i++)
		fit(regression, rows, i);
	for (int i = 0; i < fits; i++)
		inform("regression %d: %d rows, rank %d", i, regression->samples,
		    regression->fitted[i]->rank);
	free(rows);
}

static void
run_test(struct regression *regression, struct labelled_stream *stream)
{
	struct per_query *per_query = regression->options->per_query;
	struct record record;

	regression->predicted =
	    mem_zero((size_t)regression->fits, sizeof *regression->predicted);
	while (stream_next(stream->reader, &record)) {
		int64_t before = regression->truth.count, rows = record.rows;
		take_values(&regression->truth, stream, &record);
		vectors_load(stream->vectors, &record);
		for (int64_t i = 0; i < rows; i++)
			per_query_add_row(
			    per_query, stream->reader, &record, i, before + i + 1);
		for (int i = 0; i < regression->fits; i++) {
			struct series *to = &regression->predicted[i];
			to->at = mem_grow(
			    to->at, &to->room, (size_t)(before + rows), sizeof *to->at);
			linear_regression_predict(regression->fitted[i],
			    stream->vectors->raw, rows, to->at + before);
		}
	}
	if (!regression->truth.count)
		die("%s: there are no test rows in it", stream_name(stream->reader));
	labels_close(stream);
}

enum { MAE, MSE, RMSE, R2, KENDALL, METRICS };
static const char *const metrics[] = { "mae", "mse", "rmse", "r2", "kendalltau" };

static void
measure(double values[METRICS], const double *truth, const double *predicted, int64_t n)
{
	double mean = stats_mean(truth, n), absolute = 0, square = 0, spread = 0;

	for (int64_t i = 0; i < n; i++) {
		double error = truth[i] - predicted[i], offset = truth[i] - mean;
		absolute += fabs(error);
		square += error * error;
		spread += offset * offset;
	}
	values[MAE] = absolute / (double)n;
	values[MSE] = square / (double)n;
	values[RMSE] = sqrt(values[MSE]);
	values[R2] = spread > 0 ? 1 - square / spread : square > 0 ? 0 : 1;
	if (n < 2)
		values[R2] = NAN;
	values[KENDALL] = correlation_kendall(truth, predicted, n);
}

/* Experiments that use all training rows are equal. */
static void
report_metrics(const struct regression *regression, struct report *report)
{
	int experiments = regression->options->experiments;
	double *all = mem_new(METRICS, (size_t)experiments * sizeof *all);
	double values[METRICS] = { 0 };

	for (int i = 0; i < experiments; i++) {
		if (i < regression->fits)
			measure(values, regression->truth.at, regression->predicted[i].at,
			    regression->truth.count);
		for (int metric = 0; metric < METRICS; metric++)
			all[metric * experiments + i] = values[metric];
	}
	report_experiments(report, metrics, METRICS, all, experiments);
	report_main(report, "kendalltau", "all values or all predictions are equal");
	free(all);
}

/* The mean absolute and squared error of each test row over the experiments. */
static void
put_rows(const struct regression *regression, struct per_query *table)
{
	int64_t n = regression->truth.count;
	double *errors = mem_zero((size_t)n, 2 * sizeof *errors), *squares = errors + n;

	for (int64_t row = 0; row < n; row++)
		for (int i = 0; i < regression->fits; i++) {
			double error =
			    regression->truth.at[row] - regression->predicted[i].at[row];
			errors[row] += fabs(error) / regression->fits;
			squares[row] += error * error / regression->fits;
		}
	per_query_column(table, errors, "mae");
	per_query_column(table, squares, "mse");
	free(errors);
}

static void
describe(const struct regression *regression, struct report *report)
{
	const struct score_options *options = regression->options;

	report_set(report, "seed", "%u", options->seed);
	report_set(report, "regression",
	    "least squares of least norm, singular values from %g of the greatest",
	    cutoff(regression));
	report_set(report, "experiments", "%d", options->experiments);
	report_set(report, "samples", "%d%s", regression->samples,
	    regression->fits == 1 && regression->samples == regression->y.count ? " (all)"
										: "");
	report_set(report, "precision", "float64");
	report_set(report, "rounding", "none");
	report_set(report, "train", "%lld", (long long)regression->y.count);
	report_set(report, "test", "%lld", (long long)regression->truth.count);
}

void
score_regression(struct report *report, const struct score_options *options)
{
	enum { SAMPLES = 2048 };
	struct labelled_stream train = open_stream(options->train, options);
	struct labelled_stream test = open_stream(options->files[0], options);
	struct regression regression = { .options = options };

	vectors_agree(train.vectors, test.vectors, options->any_model);
	read_training(&regression, &train);
	regression.samples = options->samples ? options->samples : SAMPLES;
	if (regression.y.count <= regression.samples)
		regression.samples = (int)regression.y.count;
	regression.fits =
	    regression.samples < regression.y.count ? options->experiments : 1;
	fit_all(&regression);
	run_test(&regression, &test);
	describe(&regression, report);
	report_metrics(&regression, report);
	if (options->per_query)
		put_rows(&regression, options->per_query);
	for (int i = 0; i < regression.fits; i++) {
		linear_regression_free(regression.fitted[i]);
		free(regression.predicted[i].at);
	}
	free(regression.fitted);
	free(regression.predicted);
	free(regression.truth.at);
	free(regression.y.at);
	row_subset_free(&regression.subset);
}
