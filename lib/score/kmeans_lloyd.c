#include "score/kmeans.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { STEPS = 300, BLOCK = 256 /* rows */ };
static const double tolerance = 1e-4;

struct lloyd {
	double *x; /* [n, width], centred */
	int64_t n;
	int width, clusters;
	double *centres, *moved; /* [clusters, width]: before and after a step */
	double *counts;		 /* [clusters] */
	double *norms;		 /* [clusters]: squared */
	int32_t *nearest;	 /* [n] */
};

/* Subtracts the mean; returns the mean variance of a component. */
static double
centre(struct lloyd *fit, const float *x)
{
	int width = fit->width;
	double *mean = mem_zero((size_t)width, sizeof *mean), variance = 0;

	for (int64_t i = 0; i < fit->n; i++)
		for (int j = 0; j < width; j++)
			mean[j] += x[i * width + j];
	for (int j = 0; j < width; j++)
		mean[j] /= (double)fit->n;
	for (int64_t i = 0; i < fit->n; i++) {
		for (int j = 0; j < width; j++)
			fit->x[i * width + j] = x[i * width + j] - mean[j];
		variance += kmeans_square(fit->x + i * width, width);
	}
	free(mean);
	return variance / (double)fit->n / width;
}

/* Assigns rows first .. first + count - 1; returns whether one changed its cluster. */
static bool
assign_block(struct lloyd *fit, int64_t first, int count)
{
	double *products = mem_new(
	    BLOCK, mem_multiply((size_t)fit->clusters, sizeof *products, "cluster"));
	int32_t nearest[BLOCK];
	size_t bytes = (size_t)count * sizeof *nearest;

	kmeans_nearest(nearest, fit->x + first * fit->width, count, fit->centres,
	    fit->norms, fit->clusters, fit->width, products);
	bool changed = memcmp(fit->nearest + first, nearest, bytes) != 0;
	memcpy(fit->nearest + first, nearest, bytes);
	free(products);
	return changed;
}

static bool
assign(struct lloyd *fit)
{
	bool changed = false;

	for (int j = 0; j < fit->clusters; j++)
		fit->norms[j] =
		    kmeans_square(fit->centres + (int64_t)j * fit->width, fit->width);
#pragma omp parallel for schedule(static) reduction(|| : changed)
	for (int64_t first = 0; first < fit->n; first += BLOCK)
		changed = assign_block(fit, first,
			      fit->n - first < BLOCK ? (int)(fit->n - first) : BLOCK) ||
			  changed;
	return changed;
}

static double
square_distance(const struct lloyd *fit, int64_t row)
{
	return kmeans_square_distance(fit->x + row * fit->width,
	    fit->centres + (int64_t)fit->nearest[row] * fit->width, fit->width);
}

/* The row farthest from its centre, except taken ones; -1: all distances are 0. */
static int64_t
farthest(const struct lloyd *fit, const bool *taken)
{
	double most = 0;
	int64_t found = -1;

	for (int64_t i = 0; i < fit->n; i++) {
		double distance = taken[i] ? 0 : square_distance(fit, i);
		if (distance > most) {
			most = distance;
			found = i;
		}
	}
	return found;
}

/* Gives each empty cluster one row; `moved` holds the clusters' sums. */
static void
fill_empty(struct lloyd *fit)
{
	bool *taken = NULL;
	int64_t row;

	for (int j = 0; j < fit->clusters; j++) {
		if (fit->counts[j] > 0)
			continue;
		if (!taken)
			taken = mem_zero((size_t)fit->n, sizeof *taken);
		if ((row = farthest(fit, taken)) < 0)
			break;
		taken[row] = true;
		double *from = fit->moved + (int64_t)fit->nearest[row] * fit->width;
		for (int k = 0; k < fit->width; k++) {
			double value = fit->x[row * fit->width + k];
			from[k] -= value;
			fit->moved[(int64_t)j * fit->width + k] = value;
		}
		fit->counts[fit->nearest[row]] -= 1;
		fit->counts[j] = 1;
	}
	free(taken);
}

/* Moves each centre to the mean of its rows; returns the sum of the squared moves. */
static double
move_centres(struct lloyd *fit)
{
	int width = fit->width;
	size_t size = (size_t)fit->clusters * (size_t)width;
	double shift = 0;

	memset(fit->moved, 0, size * sizeof *fit->moved);
	memset(fit->counts, 0, (size_t)fit->clusters * sizeof *fit->counts);
	for (int64_t i = 0; i < fit->n; i++) {
		double *moved = fit->moved + (int64_t)fit->nearest[i] * width;
		for (int k = 0; k < width; k++)
			moved[k] += fit->x[i * width + k];
		fit->counts[fit->nearest[i]] += 1;
	}
	fill_empty(fit);
	for (int j = 0; j < fit->clusters; j++)
		for (int k = 0; k < width; k++) {
			int64_t at = (int64_t)j * width + k;
			if (fit->counts[j] > 0)
				fit->moved[at] /= fit->counts[j];
			else
				fit->moved[at] = fit->centres[at];
			double move = fit->moved[at] - fit->centres[at];
			shift += move * move;
		}
	double *old = fit->centres;
	fit->centres = fit->moved;
	fit->moved = old;
	return shift;
}

/* Steps until convergence.  Returns the number of steps; rows are assigned to the final centres. */
static int
iterate(struct lloyd *fit, double least_shift)
{
	for (int step = 1;; step++) {
		bool changed = assign(fit);
		double shift = move_centres(fit);
		if (!changed)
			return step;
		if (shift <= least_shift || step == STEPS) {
			assign(fit);
			return step;
		}
	}
}

static struct kmeans_lloyd_result
measure(const struct lloyd *fit)
{
	struct kmeans_lloyd_result result = { .cluster = fit->nearest,
		.distance = mem_new((size_t)fit->n, sizeof *result.distance) };

	for (int64_t i = 0; i < fit->n; i++) {
		double square = square_distance(fit, i);
		result.inertia += square;
		result.distance[i] = sqrt(square);
	}
	return result;
}

struct kmeans_lloyd_result
kmeans_lloyd(const float *x, int64_t n, int width, int clusters, uint32_t seed)
{
	struct lloyd fit = { .n = n, .width = width, .clusters = clusters };
	size_t centre_bytes = (size_t)width * sizeof(double);
	struct mt19937 mt;

	fit.x = mem_new((size_t)n, centre_bytes);
	fit.centres = mem_new((size_t)clusters, centre_bytes);
	fit.moved = mem_new((size_t)clusters, centre_bytes);
	fit.counts = mem_new((size_t)clusters, sizeof *fit.counts);
	fit.norms = mem_new((size_t)clusters, sizeof *fit.norms);
	fit.nearest = mem_new((size_t)n, sizeof *fit.nearest);
	for (int64_t i = 0; i < n; i++)
		fit.nearest[i] = -1;
	double variance = centre(&fit, x);
	mt19937_seed_numpy(&mt, seed);
	kmeans_plusplus(fit.centres, &mt, fit.x, n, width, clusters);
	int steps = iterate(&fit, tolerance * variance);
	struct kmeans_lloyd_result result = measure(&fit);
	result.steps = steps;
	free(fit.x);
	free(fit.centres);
	free(fit.moved);
	free(fit.counts);
	free(fit.norms);
	return result;
}
