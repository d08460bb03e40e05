#include "score/kmeans_start.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

double
kmeans_square(const double *x, int width)
{
	double sum = 0;

#pragma omp simd reduction(+ : sum)
	for (int i = 0; i < width; i++)
		sum += x[i] * x[i];
	return sum;
}

struct start {
	const double *rows; /* [n, width] */
	int64_t n;
	int width, trials;
	double *norms;	    /* [n] */
	double *closest;    /* [n]: squared distance to the nearest centre so far */
	double *candidates; /* [trials, width] */
	double *distances;  /* [trials, n] */
	double potential;
};

/* distances[t, i] = |candidate t - row i|^2, by norms and products as the reference does */
static void
measure_candidates(struct start *start, int trials)
{
	cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, trials, (int)start->n,
	    start->width, 1, start->candidates, start->width, start->rows, start->width,
	    0, start->distances, (int)start->n);
	for (int t = 0; t < trials; t++) {
		double own = kmeans_square(
		    start->candidates + (int64_t)t * start->width, start->width);
		double *distance = start->distances + t * start->n;
		for (int64_t i = 0; i < start->n; i++)
			distance[i] = fmax(own - 2 * distance[i] + start->norms[i], 0);
	}
}

/* The first row whose running sum of squared distances reaches `value`. */
static int64_t
locate(const struct start *start, double value)
{
	double sum = 0;

	for (int64_t i = 0; i < start->n; i++) {
		sum += start->closest[i];
		if (sum >= value)
			return i;
	}
	return start->n - 1;
}

static void
next_centre(struct start *start, struct mt19937 *mt, double *centre)
{
	double *values = mem_new((size_t)start->trials, sizeof *values),
	       best_potential = INFINITY;
	int best = 0;
	size_t row_bytes = (size_t)start->width * sizeof(double);

	for (int t = 0; t < start->trials; t++)
		values[t] = mt19937_uniform(mt) * start->potential;
	for (int t = 0; t < start->trials; t++)
		memcpy(start->candidates + (int64_t)t * start->width,
		    start->rows + locate(start, values[t]) * start->width, row_bytes);
	measure_candidates(start, start->trials);
	for (int t = 0; t < start->trials; t++) {
		double *distance = start->distances + t * start->n, potential = 0;
		for (int64_t i = 0; i < start->n; i++)
			potential += distance[i] = fmin(distance[i], start->closest[i]);
		if (potential < best_potential) {
			best_potential = potential;
			best = t;
		}
	}
	start->potential = best_potential;
	memcpy(start->closest, start->distances + best * start->n,
	    (size_t)start->n * sizeof(double));
	memcpy(centre, start->candidates + (int64_t)best * start->width, row_bytes);
	free(values);
}

void
kmeans_start(double *centres, struct mt19937 *mt, const double *rows, int64_t n,
    int width, int clusters)
{
	struct start start = { .rows = rows,
		.n = n,
		.width = width,
		.trials = 2 + (int)log((double)clusters) };
	int64_t first;

	start.norms = mem_new((size_t)n, sizeof(double));
	start.closest = mem_new((size_t)n, sizeof(double));
	start.candidates = mem_new((size_t)start.trials, (size_t)width * sizeof(double));
	start.distances = mem_new((size_t)start.trials, (size_t)n * sizeof(double));
	for (int64_t i = 0; i < n; i++)
		start.norms[i] = kmeans_square(rows + i * width, width);
	mt19937_choices(mt, n, &first, 1);
	memcpy(centres, rows + first * width, (size_t)width * sizeof(double));
	memcpy(start.candidates, centres, (size_t)width * sizeof(double));
	measure_candidates(&start, 1);
	memcpy(start.closest, start.distances, (size_t)n * sizeof(double));
	for (int64_t i = 0; i < n; i++)
		start.potential += start.closest[i];
	for (int centre = 1; centre < clusters; centre++)
		next_centre(&start, mt, centres + (int64_t)centre * width);
	free(start.norms);
	free(start.closest);
	free(start.candidates);
	free(start.distances);
}
