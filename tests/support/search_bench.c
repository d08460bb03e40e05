/*
 * search_bench - seconds of an exact search over random unit vectors in memory
 *
 * search_bench QUERIES DOCUMENTS WIDTH DEPTH	-> seconds, GFLOP/s of the products, sum of scores
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "err.h"
#include "mem.h"
#include "nn.h"
#include "rng.h"
#include "search.h"

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

int
main(int argc, char **argv)
{
	program_name = "search_bench";
	if (argc != 5)
		die_usage("search_bench QUERIES DOCUMENTS WIDTH DEPTH");
	nn_start(0, argv);
	int64_t queries = atoll(argv[1]), documents = atoll(argv[2]),
		depth = atoll(argv[4]);
	int width = atoi(argv[3]);
	float *q = random_units(queries, width, 1),
	      *d = random_units(documents, width, 2);

	double start = omp_get_wtime(), sum = 0;
	struct search *search = search_new(q, queries, width, depth, by_number, NULL);
	for (int64_t first = 0; first < documents; first += 16384) {
		int64_t some = documents - first < 16384 ? documents - first : 16384;
		search_add(search, d + first * width, some);
	}
	for (int64_t i = 0; i < queries; i++) {
		const struct hit *hits;
		int64_t count = search_hits(search, i, &hits);
		for (int64_t j = 0; j < count; j++)
			sum += hits[j].score;
	}
	double seconds = omp_get_wtime() - start;
	printf("%.3f s, %.0f GFLOP/s, sum %.6f\n", seconds,
	    2e-9 * (double)queries * (double)documents * width / seconds, sum);
	search_free(search);
	free(q);
	free(d);
	return 0;
}
