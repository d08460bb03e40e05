#include "score/kmeans.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "score/measure/stats.h"

struct minibatch {
	const float *x;
	int64_t n;
	int width, clusters, batch;
	bool by_choice;
	struct mt19937 mt;
	double *centres, *moved; /* [clusters, width]: before and after a step */
	double *counts;		 /* [clusters] */
	double *norms;		 /* [clusters] */
	double *rows;		 /* [batch, width] */
	double *products;	 /* [batch, clusters] */
	int64_t *drawn;		 /* [batch] */
	int32_t *nearest;	 /* [batch] */
	int64_t seen;		 /* samples since centres were last replaced */
};

static void
gather(double *to, const float *x, const int64_t *rows, int64_t count, int width)
{
	for (int64_t i = 0; i < count; i++)
		for (int j = 0; j < width; j++)
			to[i * width + j] = x[rows[i] * width + j];
}

static void
initialise(struct minibatch *fit)
{
	int64_t size = 3 * (int64_t)fit->batch;

	if (size < fit->clusters)
		size = 3 * (int64_t)fit->clusters;
	if (size > fit->n)
		size = fit->n;
	int64_t *rows = mem_new((size_t)size, sizeof *rows);
	double *sample = mem_new(
	    mem_multiply((size_t)size, (size_t)fit->width, "cluster"), sizeof *sample);
	/* scikit-learn draws validation rows even for a single initialisation, which does not use them */
	mt19937_integers(&fit->mt, fit->n, rows, size);
	for (int64_t i = 0; i < size; i++)
		rows[i] = i;
	if (size < fit->n)
		mt19937_integers(&fit->mt, fit->n, rows, size);
	gather(sample, fit->x, rows, size, fit->width);
	kmeans_plusplus(fit->centres, &fit->mt, sample, size, fit->width, fit->clusters);
	free(rows);
	free(sample);
}

/* Steps ---------------------------------------------------------------------------------- */

/* The nearest centre of each of `count` gathered rows. */
static void
assign(struct minibatch *fit, int count, int32_t *nearest)
{
	for (int j = 0; j < fit->clusters; j++)
		fit->norms[j] =
		    kmeans_square(fit->centres + (int64_t)j * fit->width, fit->width);
	kmeans_nearest(nearest, fit->rows, count, fit->centres, fit->norms, fit->clusters,
	    fit->width, fit->products);
}

static double
batch_inertia(const struct minibatch *fit)
{
	double sum = 0;

	for (int i = 0; i < fit->batch; i++)
		sum += kmeans_square_distance(fit->rows + (int64_t)i * fit->width,
		    fit->centres + (int64_t)fit->nearest[i] * fit->width, fit->width);
	return sum;
}

/* Moves each centre to the mean of all rows ever assigned to it. */
static void
move_centres(struct minibatch *fit)
{
	int width = fit->width;

	for (int j = 0; j < fit->clusters; j++)
		for (int i = 0; i < width; i++)
			fit->moved[(int64_t)j * width + i] =
			    fit->centres[(int64_t)j * width + i] * fit->counts[j];
	memset(
	    fit->norms, 0, (size_t)fit->clusters * sizeof *fit->norms); /* members now */
	for (int i = 0; i < fit->batch; i++) {
		double *moved = fit->moved + (int64_t)fit->nearest[i] * width;
		const double *row = fit->rows + (int64_t)i * width;
		for (int k = 0; k < width; k++)
			moved[k] += row[k];
		fit->norms[fit->nearest[i]] += 1;
	}
	for (int j = 0; j < fit->clusters; j++) {
		double *moved = fit->moved + (int64_t)j * width;
		if (fit->norms[j] == 0) {
			memcpy(moved, fit->centres + (int64_t)j * width,
			    (size_t)width * sizeof *moved);
			continue;
		}
		fit->counts[j] += fit->norms[j];
		for (int k = 0; k < width; k++)
			moved[k] *= 1 / fit->counts[j];
	}
}

/* Marks the centres with few members, at most batch / 2 of them; returns their number. */
static int
mark_poor(const struct minibatch *fit, bool *poor)
{
	int64_t *order = mem_new((size_t)fit->clusters, sizeof *order);
	int marked = 0;

	stats_ascending(order, fit->counts, fit->clusters);
	double most = fit->counts[order[fit->clusters - 1]];
	while (fit->counts[order[marked]] < 0.01 * most)
		marked++;
	if (marked > fit->batch / 2)
		marked = fit->batch / 2;
	for (int j = 0; j < fit->clusters; j++)
		poor[order[j]] = j < marked;
	free(order);
	return marked;
}

/* Replaces the centres with few members by random rows of the batch. */
static void
replace_poor(struct minibatch *fit)
{
	bool *poor = mem_new((size_t)fit->clusters, sizeof *poor);
	double least = INFINITY;
	int next = 0;

	if (mark_poor(fit, poor) > 0) {
		for (int i = 0; i < fit->batch; i++)
			fit->drawn[i] = i;
		mt19937_shuffle(&fit->mt, fit->drawn, fit->batch);
		for (int j = 0; j < fit->clusters; j++)
			if (!poor[j])
				least = fmin(least, fit->counts[j]);
		for (int j = 0; j < fit->clusters; j++) {
			if (!poor[j])
				continue;
			memcpy(fit->moved + (int64_t)j * fit->width,
			    fit->rows + fit->drawn[next++] * fit->width,
			    (size_t)fit->width * sizeof *fit->moved);
			fit->counts[j] = least;
		}
	}
	free(poor);
}

/* Replacement is due if a centre is empty or 10 x clusters rows have passed. */
static bool
replacement_due(struct minibatch *fit)
{
	bool due = false;

	fit->seen += fit->batch;
	for (int j = 0; j < fit->clusters; j++)
		due |= fit->counts[j] == 0;
	due |= fit->seen >= 10 * (int64_t)fit->clusters;
	if (due)
		fit->seen = 0;
	return due;
}

/* One mini-batch; returns its inertia before the centres move. */
static double
advance(struct minibatch *fit)
{
	if (fit->by_choice)
		mt19937_choices(&fit->mt, fit->n, fit->drawn, fit->batch);
	else
		mt19937_integers(&fit->mt, fit->n, fit->drawn, fit->batch);
	gather(fit->rows, fit->x, fit->drawn, fit->batch, fit->width);
	bool due = replacement_due(fit);
	assign(fit, fit->batch, fit->nearest);
	double inertia = batch_inertia(fit);
	move_centres(fit);
	if (due)
		replace_poor(fit);
	double *old = fit->centres;
	fit->centres = fit->moved;
	fit->moved = old;
	return inertia;
}

/* Stops after ten steps without a new minimum of the smoothed inertia; the first step does not count. */
static int64_t
iterate(struct minibatch *fit)
{
	int64_t steps = 100 * fit->n / fit->batch, step = 0, idle = 0;
	double alpha = fmin(2.0 * fit->batch / ((double)fit->n + 1), 1);
	double smooth = NAN, least = INFINITY;

	while (step < steps) {
		double inertia = advance(fit) / fit->batch;
		if (step++ == 0)
			continue;
		smooth = step == 2 ? inertia : smooth * (1 - alpha) + inertia * alpha;
		idle = smooth < least ? 0 : idle + 1;
		least = fmin(least, smooth);
		if (idle >= 10)
			break;
	}
	return step;
}

int64_t
kmeans_fit(int32_t *assigned, const float *x, int64_t n, int width,
    const struct kmeans_options *options)
{
	int batch = n < options->batch ? (int)n : options->batch;
	struct minibatch fit = { .x = x,
		.n = n,
		.width = width,
		.clusters = options->clusters,
		.batch = batch,
		.by_choice = options->by_choice };
	size_t centre_bytes = (size_t)width * sizeof(double);

	fit.centres = mem_new((size_t)fit.clusters, centre_bytes);
	fit.moved = mem_new((size_t)fit.clusters, centre_bytes);
	fit.counts = mem_zero((size_t)fit.clusters, sizeof(double));
	fit.norms = mem_new((size_t)fit.clusters, sizeof(double));
	fit.rows = mem_new((size_t)batch, centre_bytes);
	fit.products = mem_new((size_t)batch, (size_t)fit.clusters * sizeof(double));
	fit.drawn = mem_new((size_t)batch, sizeof *fit.drawn);
	fit.nearest = mem_new((size_t)batch, sizeof *fit.nearest);
	mt19937_seed_numpy(&fit.mt, options->seed);
	initialise(&fit);
	int64_t steps = iterate(&fit);
	for (int64_t first = 0; first < n; first += batch) {
		int some = n - first < batch ? (int)(n - first) : batch;
		for (int i = 0; i < some; i++)
			fit.drawn[i] = first + i;
		gather(fit.rows, x, fit.drawn, some, width);
		assign(&fit, some, assigned + first);
	}
	free(fit.centres);
	free(fit.moved);
	free(fit.counts);
	free(fit.norms);
	free(fit.rows);
	free(fit.products);
	free(fit.drawn);
	free(fit.nearest);
	return steps;
}

void
kmeans_minibatch_describe(struct report *report, uint32_t seed, int batch, bool by_choice)
{
	report_set(report, "seed", "%u", seed);
	report_set(report, "clusterer", "mini-batch k-means, batch %d, in double", batch);
	report_set(
	    report, "random stream", "scikit-learn %s", by_choice ? "1.9" : "1.3 to 1.8");
	report_set(report, "rounding", "none");
}
