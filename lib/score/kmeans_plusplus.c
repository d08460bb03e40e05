#include "score/kmeans.h"

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

double
kmeans_square_distance(const double *x, const double *y, int width)
{
	double sum = 0;

#pragma omp simd reduction(+ : sum)
	for (int i = 0; i < width; i++)
		sum += (x[i] - y[i]) * (x[i] - y[i]);
	return sum;
}

void
kmeans_nearest(int32_t *nearest, const double *x, int count, const double *centres,
    const double *norms, int clusters, int width, double *products)
{
	cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, count, clusters, width, 1, x,
	    width, centres, width, 0, products, clusters);
	for (int i = 0; i < count; i++) {
		const double *product = products + (int64_t)i * clusters;
		double least = INFINITY;
		nearest[i] = 0;
		for (int j = 0; j < clusters; j++) {
			double distance = norms[j] - 2 * product[j];
			if (distance < least) {
				least = distance;
				nearest[i] = j;
			}
		}
	}
}

struct seeding {
	const double *rows; /* [n, width] */
	int64_t n;
	int width, trials;
	double *norms;	    /* [n] */
	double *closest;    /* [n]: squared distance to the nearest centre so far */
	double *candidates; /* [trials, width] */
	double *distances;  /* [trials, n] */
	double potential;
};

/* distances[t, i] = |candidate t - row i|^2, by norms and products as in scikit-learn */
static void
measure_candidates(struct seeding *seeding, int trials)
{
	cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, trials, (int)seeding->n,
	    seeding->width, 1, seeding->candidates, seeding->width, seeding->rows,
	    seeding->width, 0, seeding->distances, (int)seeding->n);
	for (int t = 0; t < trials; t++) {
		double own = kmeans_square(
		    seeding->candidates + (int64_t)t * seeding->width, seeding->width);
		double *distance = seeding->distances + t * seeding->n;
		for (int64_t i = 0; i < seeding->n; i++)
			distance[i] = fmax(own - 2 * distance[i] + seeding->norms[i], 0);
	}
}

/* The first row whose running sum of squared distances reaches `value`. */
static int64_t
locate(const struct seeding *seeding, double value)
{
	double sum = 0;

	for (int64_t i = 0; i < seeding->n; i++) {
		sum += seeding->closest[i];
		if (sum >= value)
			return i;
	}
	return seeding->n - 1;
}

static void
next_centre(struct seeding *seeding, struct mt19937 *mt, double *centre)
{
	double best_potential = INFINITY;
	int best = 0;
	size_t row_bytes = (size_t)seeding->width * sizeof(double);

	for (int t = 0; t < seeding->trials; t++) {
		double value = mt19937_uniform(mt) * seeding->potential;
		memcpy(seeding->candidates + (int64_t)t * seeding->width,
		    seeding->rows + locate(seeding, value) * seeding->width, row_bytes);
	}
	measure_candidates(seeding, seeding->trials);
	for (int t = 0; t < seeding->trials; t++) {
		double *distance = seeding->distances + t * seeding->n, potential = 0;
		for (int64_t i = 0; i < seeding->n; i++)
			potential += distance[i] = fmin(distance[i], seeding->closest[i]);
		if (potential < best_potential) {
			best_potential = potential;
			best = t;
		}
	}
	seeding->potential = best_potential;
	memcpy(seeding->closest, seeding->distances + best * seeding->n,
	    (size_t)seeding->n * sizeof(double));
	memcpy(centre, seeding->candidates + (int64_t)best * seeding->width, row_bytes);
}

void
kmeans_plusplus(double *centres, struct mt19937 *mt, const double *rows, int64_t n,
    int width, int clusters)
{
	struct seeding seeding = { .rows = rows,
		.n = n,
		.width = width,
		.trials = 2 + (int)log((double)clusters) };
	int64_t first;

	seeding.norms = mem_new((size_t)n, sizeof(double));
	seeding.closest = mem_new((size_t)n, sizeof(double));
	seeding.candidates =
	    mem_new((size_t)seeding.trials, (size_t)width * sizeof(double));
	seeding.distances = mem_new((size_t)seeding.trials, (size_t)n * sizeof(double));
	for (int64_t i = 0; i < n; i++)
		seeding.norms[i] = kmeans_square(rows + i * width, width);
	mt19937_choices(mt, n, &first, 1);
	memcpy(centres, rows + first * width, (size_t)width * sizeof(double));
	memcpy(seeding.candidates, centres, (size_t)width * sizeof(double));
	measure_candidates(&seeding, 1);
	memcpy(seeding.closest, seeding.distances, (size_t)n * sizeof(double));
	for (int64_t i = 0; i < n; i++)
		seeding.potential += seeding.closest[i];
	for (int centre = 1; centre < clusters; centre++)
		next_centre(&seeding, mt, centres + (int64_t)centre * width);
	free(seeding.norms);
	free(seeding.closest);
	free(seeding.candidates);
	free(seeding.distances);
}
