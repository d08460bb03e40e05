#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "score/knn.h"
#include "score/multilabel_rows.h"
#include "score/score.h"

enum { NEIGHBOURS = 5 };
enum { ACCURACY, LRAP, F1, HAMMING, METRICS };
static const char *const metrics[] = { "accuracy", "lrap", "f1", "hamming" };

struct multilabel {
	const struct score_options *options;
	struct strings *names; /* labels of both streams */
	struct multilabel_rows train, test;
	struct numbers *drawn; /* [experiments]: training rows */
	struct numbers scored; /* test rows */
	bool *known;	/* [names]: a scored row has the label; others are ignored */
	int64_t labels; /* known ones */
	float *x;	/* [scored, width] */
	double *of_row[METRICS]; /* [scored]: sums over experiments; not of F1 */
};

/* The known labels of a row: marks them in `has` [names] with +1, each once.  Returns their number. */
static int64_t
mark(const struct multilabel *task, const struct multilabel_rows *rows, int64_t row,
    int64_t *stamp, int64_t now, int *has)
{
	int64_t count = 0;

	for (int64_t i = rows->starts.data[row]; i < rows->starts.data[row + 1]; i++) {
		int64_t label = rows->label.data[i];
		if (!task->known[label] || stamp[label] == now)
			continue;
		stamp[label] = now;
		has[label]++;
		count++;
	}
	return count;
}

/* Work space to compare a row's labels with those of its neighbours. */
struct label_counts {
	int64_t *stamp, now;			   /* [names] */
	int *truth, *votes;			   /* [names] */
	int64_t *true_rows, *said_rows, *hit_rows; /* [names]: sums over rows */
};

/* scikit-learn's label_ranking_average_precision of 0-or-1 predictions: the rank of a predicted label is the number of
 * those predicted, that of another the number of labels. */
static double
ranking_precision(double right, double truth, double said, double labels)
{
	if (truth == 0 || truth == labels)
		return 1;
	double found = right > 0 ? right * right / said : 0;
	return (found + (truth - right) * truth / labels) / truth;
}

/* Scores one row: of[METRICS], without F1, whose counts go to `work`. */
static void
compare_row(const struct multilabel *task, struct label_counts *work, int64_t row,
    const struct numbers *drawn, const int64_t *neighbours, double of[METRICS])
{
	int64_t names = strings_count(task->names), said = 0, right = 0;
	size_t bytes = (size_t)names * sizeof(int);

	memset(work->truth, 0, bytes);
	memset(work->votes, 0, bytes);
	int64_t truth =
	    mark(task, &task->test, row, work->stamp, ++work->now, work->truth);
	for (int i = 0; i < NEIGHBOURS; i++)
		mark(task, &task->train, drawn->data[neighbours[i]], work->stamp,
		    ++work->now, work->votes);
	for (int64_t label = 0; label < names; label++) {
		bool predicted = 2 * work->votes[label] > NEIGHBOURS;
		said += predicted;
		right += predicted && work->truth[label];
		work->true_rows[label] += work->truth[label];
		work->said_rows[label] += predicted;
		work->hit_rows[label] += predicted && work->truth[label];
	}
	int64_t either = truth + said - right;
	of[ACCURACY] = truth == said && right == said;
	of[HAMMING] = either ? (double)right / (double)either : 1;
	of[LRAP] = ranking_precision(
	    (double)right, (double)truth, (double)said, (double)task->labels);
}

static double
macro_f1(const struct multilabel *task, const struct label_counts *work)
{
	double sum = 0;

	for (int64_t i = 0; i < strings_count(task->names); i++) {
		int64_t both = work->true_rows[i] + work->said_rows[i];
		if (both)
			sum += 2 * (double)work->hit_rows[i] / (double)both;
	}
	return sum / (double)task->labels;
}

static struct label_counts
start_counts(const struct multilabel *task)
{
	size_t names = (size_t)strings_count(task->names) + 1;

	return (struct label_counts){ .stamp = mem_zero(names, sizeof(int64_t)),
		.truth = mem_zero(names, sizeof(int)),
		.votes = mem_zero(names, sizeof(int)),
		.true_rows = mem_zero(names, sizeof(int64_t)),
		.said_rows = mem_zero(names, sizeof(int64_t)),
		.hit_rows = mem_zero(names, sizeof(int64_t)) };
}

static void
free_counts(struct label_counts *work)
{
	free(work->stamp);
	free(work->truth);
	free(work->votes);
	free(work->true_rows);
	free(work->said_rows);
	free(work->hit_rows);
}

/* The rows' vectors, one after another. */
static float *
gather(const struct row_subset *subset, const struct numbers *rows)
{
	size_t bytes = (size_t)subset->width * sizeof(float);
	float *x = mem_new(rows->count + 1, bytes);

	for (size_t i = 0; i < rows->count; i++)
		memcpy(x + i * (size_t)subset->width,
		    row_subset_row(subset, rows->data[i]), bytes);
	return x;
}

/* One experiment: writes its metrics. */
static void
run(struct multilabel *task, const struct numbers *drawn, double values[METRICS])
{
	int64_t rows = (int64_t)task->scored.count;
	int64_t *neighbours = mem_new((size_t)rows, NEIGHBOURS * sizeof *neighbours);
	float *x = gather(&task->train.subset, drawn);
	struct knn knn = { x, NULL, (int64_t)drawn->count, task->train.subset.width, 0,
		NEIGHBOURS };
	struct label_counts work = start_counts(task);

	knn_rows(&knn, task->x, rows, neighbours);
	memset(values, 0, METRICS * sizeof *values);
	for (int64_t i = 0; i < rows; i++) {
		double of[METRICS] = { 0 };
		compare_row(task, &work, task->scored.data[i], drawn,
		    neighbours + i * NEIGHBOURS, of);
		for (int metric = 0; metric < METRICS; metric++) {
			values[metric] += of[metric];
			task->of_row[metric][i] += of[metric];
		}
	}
	for (int metric = 0; metric < METRICS; metric++)
		values[metric] /= (double)rows;
	values[F1] = macro_f1(task, &work);
	free_counts(&work);
	free(neighbours);
	free(x);
}

/* Draws the training rows of all experiments, after those of the subsets that mteb scores before. */
static void
draw(struct multilabel *task)
{
	const struct score_options *options = task->options;
	int64_t labels = strings_count(task->names);
	int most = options->samples ? options->samples : 8;
	bool *sampled = mem_zero((size_t)task->train.n, sizeof *sampled);
	struct pcg64 pcg;

	pcg64_seed(&pcg, options->seed);
	for (int i = 0; i < options->earlier.count; i++) {
		int64_t *order = mem_zero((size_t)options->earlier.at[i], sizeof *order);
		for (int j = 0; j < options->experiments; j++)
			pcg64_shuffle(&pcg, order, options->earlier.at[i]);
		free(order);
	}
	task->drawn = mem_new((size_t)options->experiments, sizeof *task->drawn);
	for (int i = 0; i < options->experiments; i++) {
		task->drawn[i] = multilabel_undersample(&task->train, labels, most, &pcg);
		if (task->drawn[i].count < NEIGHBOURS)
			die("%s: an experiment draws %zu rows; the classifier needs its %d nearest",
			    options->train, task->drawn[i].count, NEIGHBOURS);
		for (size_t j = 0; j < task->drawn[i].count; j++)
			sampled[task->drawn[i].data[j]] = true;
	}
	multilabel_fetch(&task->train, options->fields[0], sampled);
	free(sampled);
}

/* Chooses the test rows, and finds the labels that they have. */
static void
choose(struct multilabel *task)
{
	const struct score_options *options = task->options;
	bool *sampled = mem_zero((size_t)task->test.n, sizeof *sampled);
	int64_t most = options->test_rows ? options->test_rows : INT64_MAX;

	task->scored = multilabel_sample(&task->test, task->names, most, options->seed);
	task->known =
	    mem_zero((size_t)strings_count(task->names) + 1, sizeof *task->known);
	for (size_t i = 0; i < task->scored.count; i++) {
		int64_t row = task->scored.data[i];
		sampled[row] = true;
		for (int64_t j = task->test.starts.data[row];
		     j < task->test.starts.data[row + 1]; j++)
			task->known[task->test.label.data[j]] = true;
	}
	for (int64_t i = 0; i < strings_count(task->names); i++)
		task->labels += task->known[i];
	if (task->labels < 2)
		die("%s: its rows have %lld different labels; two at least are needed",
		    options->files[0], (long long)task->labels);
	multilabel_fetch(&task->test, options->fields[0], sampled);
	task->x = gather(&task->test.subset, &task->scored);
	free(sampled);
}

static void
tell_unknown(const struct multilabel *task)
{
	int64_t unknown = strings_count(task->names) - task->labels;

	if (unknown)
		warn(
		    "%lld labels of the training rows are of no test row that is scored: they are ignored, as in the reference",
		    (long long)unknown);
}

/* The mean of each row over the experiments. */
static void
put_rows(struct multilabel *task, struct per_query *table)
{
	const struct multilabel_rows *test = &task->test;
	static const int shown[] = { ACCURACY, LRAP, HAMMING };

	for (size_t i = 0; i < task->scored.count; i++) {
		int64_t row = task->scored.data[i];
		int64_t start = row ? test->id_ends.data[row - 1] : 0;
		per_query_add(table, test->ids.data + start,
		    (size_t)(test->id_ends.data[row] - start));
	}
	for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
		double *values = task->of_row[shown[i]];
		for (size_t row = 0; row < task->scored.count; row++)
			values[row] /= task->options->experiments;
		per_query_column(table, values, "%s", metrics[shown[i]]);
	}
}

static void
report_all(struct multilabel *task, struct report *report)
{
	const struct score_options *options = task->options;
	int experiments = options->experiments;
	double *all = mem_new(METRICS, (size_t)experiments * sizeof *all);
	double values[METRICS] = { 0 };

	for (int i = 0; i < experiments; i++) {
		run(task, &task->drawn[i], values);
		inform("experiment %d: %zu rows, accuracy %.6f", i, task->drawn[i].count,
		    values[ACCURACY]);
		for (int metric = 0; metric < METRICS; metric++)
			all[metric * experiments + i] = values[metric];
	}
	report_set(report, "seed", "%u", options->seed);
	report_set(report, "classifier", "%d nearest neighbours", NEIGHBOURS);
	report_set(report, "experiments", "%d", experiments);
	report_set(
	    report, "samples per label", "%d", options->samples ? options->samples : 8);
	report_set(report, "precision", "float64");
	report_set(report, "rounding", "none");
	report_set(report, "labels", "%lld", (long long)task->labels);
	report_set(report, "train", "%lld", (long long)task->train.n);
	report_set(
	    report, "test", "%zu of %lld", task->scored.count, (long long)task->test.n);
	report_experiments(report, metrics, METRICS, all, experiments);
	report_main(report, "accuracy", "there is no test row");
	free(all);
}

void
score_multilabelclassification(struct report *report, const struct score_options *options)
{
	struct multilabel task = { .options = options,
		.names = strings_new(),
		.train = multilabel_open(options->train, options),
		.test = multilabel_open(options->files[0], options) };

	vectors_agree(task.train.vectors, task.test.vectors, options->any_model);
	multilabel_read(&task.train, task.names, false);
	multilabel_read(&task.test, task.names, options->per_query != NULL);
	choose(&task);
	draw(&task);
	tell_unknown(&task);
	for (int metric = 0; metric < METRICS; metric++)
		task.of_row[metric] = mem_zero(task.scored.count, sizeof(double));
	report_all(&task, report);
	if (options->per_query)
		put_rows(&task, options->per_query);
	for (int metric = 0; metric < METRICS; metric++)
		free(task.of_row[metric]);
	for (int i = 0; i < options->experiments; i++)
		free(task.drawn[i].data);
	free(task.drawn);
	free(task.scored.data);
	free(task.known);
	free(task.x);
	multilabel_free(&task.train);
	multilabel_free(&task.test);
	strings_free(task.names);
}
