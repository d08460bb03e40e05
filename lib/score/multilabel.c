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

enum { TRUTH, VOTES };

/* Counts of a label, to compare a row's labels with those of its neighbours. */
struct label_count {
	int64_t stamp; /* of the last row that was marked */
	int has[2];    /* the scored row, 0 or 1; its neighbours */
	int64_t true_rows, said_rows, hit_rows; /* sums over rows */
};

struct label_counts {
	struct label_count *of; /* [names] */
	int64_t now;		/* stamp of the row that is marked */
};

/* Counts the known labels of a row, each once, as TRUTH or VOTES.  Returns their number. */
static int64_t
mark(const struct multilabel *task, const struct multilabel_rows *rows, int64_t row,
    struct label_counts *work, int which)
{
	int64_t count = 0;

	work->now++;
	for (int64_t i = rows->starts.data[row]; i < rows->starts.data[row + 1]; i++) {
		int64_t label = rows->label.data[i];
		if (!task->known[label] || work->of[label].stamp == work->now)
			continue;
		work->of[label].stamp = work->now;
		work->of[label].has[which]++;
		count++;
	}
	return count;
}

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
	int64_t truth = mark(task, &task->test, row, work, TRUTH);

	for (int i = 0; i < NEIGHBOURS; i++)
		mark(task, &task->train, drawn->data[neighbours[i]], work, VOTES);
	for (int64_t label = 0; label < names; label++) {
		struct label_count *of_label = &work->of[label];
		bool predicted = 2 * of_label->has[VOTES] > NEIGHBOURS;
		bool hit = predicted && of_label->has[TRUTH];
		said += predicted;
		right += hit;
		of_label->true_rows += of_label->has[TRUTH];
		of_label->said_rows += predicted;
		of_label->hit_rows += hit;
		of_label->has[TRUTH] = of_label->has[VOTES] = 0;
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
		const struct label_count *of_label = &work->of[i];
		int64_t both = of_label->true_rows + of_label->said_rows;
		if (both)
			sum += 2 * (double)of_label->hit_rows / (double)both;
	}
	return sum / (double)task->labels;
}

/* One experiment: writes its metrics. */
static void
run(struct multilabel *task, const struct numbers *drawn, double values[METRICS])
{
	int64_t rows = (int64_t)task->scored.count;
	int64_t *neighbours = mem_new((size_t)rows, NEIGHBOURS * sizeof *neighbours);
	const struct row_subset *train = &task->train.subset;
	float *x = row_subset_gather(train, drawn->data, (int64_t)drawn->count);
	struct knn knn = { x, NULL, (int64_t)drawn->count, train->width, 0, NEIGHBOURS };
	size_t names = (size_t)strings_count(task->names);
	struct label_counts work = { mem_zero(names + 1, sizeof *work.of), 0 };

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
	free(work.of);
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
		row_subset_want(&task->train.subset, task->drawn[i].data,
		    (int64_t)task->drawn[i].count);
	}
	row_subset_fetch(&task->train.subset, options->train, options->fields[0]);
}

/* Chooses the test rows, and finds the labels that they have. */
static void
choose(struct multilabel *task)
{
	const struct score_options *options = task->options;
	struct row_subset *test = &task->test.subset;
	int64_t most = options->test_rows ? options->test_rows : INT64_MAX;

	task->scored = multilabel_sample(&task->test, task->names, most, options->seed);
	task->known =
	    mem_zero((size_t)strings_count(task->names) + 1, sizeof *task->known);
	for (size_t i = 0; i < task->scored.count; i++) {
		int64_t row = task->scored.data[i];
		for (int64_t j = task->test.starts.data[row];
		     j < task->test.starts.data[row + 1]; j++)
			task->known[task->test.label.data[j]] = true;
	}
	for (int64_t i = 0; i < strings_count(task->names); i++)
		task->labels += task->known[i];
	if (task->labels < 2)
		die("%s: its rows have %lld different labels; two at least are needed",
		    options->files[0], (long long)task->labels);
	row_subset_want(test, task->scored.data, (int64_t)task->scored.count);
	row_subset_fetch(test, options->files[0], options->fields[0]);
	task->x = row_subset_gather(test, task->scored.data, (int64_t)task->scored.count);
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
		const int64_t *ends = test->ids.offsets.data + task->scored.data[i];
		per_query_add(
		    table, test->ids.bytes.data + ends[0], (size_t)(ends[1] - ends[0]));
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

	vectors_agree(
	    task.train.stream.vectors, task.test.stream.vectors, options->any_model);
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
