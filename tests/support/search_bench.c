/*
 * search_bench QUERIES DOCUMENTS WIDTH DEPTH - the speed of an exact search over random unit vectors in memory, compared with
 * its bare products
 *
 * Prints seconds, processor seconds and GFLOP/s of the bare products (the BLAS's, all queries by blocks of documents, results
 * dropped) and of the search; then the second rate as a share of the first, by processor seconds, which other programs disturb
 * less.
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "nn/nn.h"
#include "search/search.h"

#include <cblas.h> /* included last: it defines I, a name in nn.h */

static float *
random_units(int64_t n, int width, uint64_t stream)
{
	float *x = mem_new((size_t)n, (size_t)width * sizeof *x);

#pragma omp parallel for schedule(static)
	for (int64_t i = 0; i < n; i++) {
		struct rng rng = rng_seed(stream, (uint64_t)i);
		double square = 0;
		for (int j = 0; j < width; j++) {
			x[i * width + j] = (float)rng_normal(&rng);
			square += x[i * width + j] * x[i * width + j];
		}
		for (int j = 0; j < width; j++)
			x[i * width + j] /= (float)sqrt(square);
	}
	return x;
}

static int
by_number(const void *context, uint32_t a, uint32_t b)
{
	(void)context;
	return (a > b) - (a < b);
}

enum { BLOCK = 16384 };

struct problem {
	const float *queries, *documents;
	int64_t count, size, depth;
	int width;
};

static double
multiply(const struct problem *problem)
{
	float *scores = mem_new((size_t)problem->count, BLOCK * sizeof *scores);
	double sum = 0;

	for (int64_t first = 0; first < problem->size; first += BLOCK) {
		int some =
		    (int)(problem->size - first < BLOCK ? problem->size - first : BLOCK);
		cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)problem->count,
		    some, problem->width, 1, problem->queries, problem->width,
		    problem->documents + first * problem->width, problem->width, 0,
		    scores, some);
		sum += scores[0];
	}
	free(scores);
	return sum;
}

static double
search(const struct problem *problem)
{
	double sum = 0;
	struct search *search = search_new(problem->queries, problem->count,
	    problem->width, problem->depth, -INFINITY, by_number, NULL);

	for (int64_t first = 0; first < problem->size; first += BLOCK) {
		int64_t some =
		    problem->size - first < BLOCK ? problem->size - first : BLOCK;
		search_add(
		    search, problem->documents + first * problem->width, some, 1.001);
	}
	struct hits *hits = mem_new((size_t)problem->count, sizeof *hits);
	struct hit *memory = search_finish(search, hits);
	for (int64_t i = 0; i < problem->count; i++)
		for (int64_t j = 0; j < hits[i].count; j++)
			sum += hits[i].at[j].score;
	free(hits);
	free(memory);
	return sum;
}

/* Prints a line; returns seconds of processor. */
static double
timed(const char *what, double (*run)(const struct problem *),
    const struct problem *problem)
{
	double start = omp_get_wtime(), processor = (double)clock();
	double sum = run(problem);
	double seconds = omp_get_wtime() - start,
	       used = ((double)clock() - processor) / CLOCKS_PER_SEC;
	double work = 2e-9 * (double)problem->count * (double)problem->size *
		      (double)problem->width;

	printf("%s\t%.3f s\t%.3f s of processor\t%.0f GFLOP/s, %.0f a core\tsum %.6f\n",
	    what, seconds, used, work / seconds, work / used, sum);
	return used;
}

int
main(int argc, char **argv)
{
	program_name = "search_bench";
	if (argc != 5)
		die_usage("search_bench QUERIES DOCUMENTS WIDTH DEPTH");
	nn_start(0, argv);
	struct problem problem = { .count = atoll(argv[1]),
		.size = atoll(argv[2]),
		.width = atoi(argv[3]),
		.depth = atoll(argv[4]) };
	float *queries = random_units(problem.count, problem.width, 1);
	float *documents = random_units(problem.size, problem.width, 2);

	problem.queries = queries;
	problem.documents = documents;
	double bare = timed("products", multiply, &problem);
	double whole = timed("search", search, &problem);
	printf("share\t%.2f\n", bare / whole);
	free(queries);
	free(documents);
	return 0;
}
