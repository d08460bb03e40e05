/*
 * covariance_bench ROWS WIDTH - the speed of the sums of a covariance, compared with the bare updates of its matrix
 *
 * Prints seconds, processor seconds and GFLOP/s of the bare updates (the BLAS's, of rank 512, always of the same block) and
 * of the sums over as many random vectors in memory; then the second rate as a share of the first, by processor seconds,
 * which other programs disturb less.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "geometry/covariance.h"
#include "nn/nn.h"

#include <cblas.h> /* included last: it defines I, a name in nn.h */

static double
processor_seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

static void
bare(int64_t rows, int width, const double *block, double *matrix)
{
	for (int64_t i = 0; i < rows; i += COVARIANCE_BLOCK)
		cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, width,
		    COVARIANCE_BLOCK, 1, block, width, 1, matrix, width);
}

struct source {
	const float *vectors; /* one block, read repeatedly */
	int64_t rows;
	size_t width;
};

/* A covariance_source that repeats the block. */
static int64_t
take(void *context, float *to)
{
	struct source *source = context;

	if (source->rows == 0)
		return 0;
	memcpy(to, source->vectors, COVARIANCE_BLOCK * source->width * sizeof *to);
	source->rows -= COVARIANCE_BLOCK;
	return COVARIANCE_BLOCK;
}

static double
tell(const char *what, double flops, double wall, double processor)
{
	printf("%s: %.3f s, %.3f s of processor, %.1f GFLOP/s\n", what, wall, processor,
	    flops / wall / 1e9);
	return processor;
}

int
main(int argc, char **argv)
{
	nn_start(0, argv);
	if (argc != 3)
		return 2;
	int64_t rows = atoll(argv[1]) / COVARIANCE_BLOCK * COVARIANCE_BLOCK;
	int width = atoi(argv[2]);
	size_t columns = (size_t)width;
	double *block = mem_new(COVARIANCE_BLOCK * columns, sizeof *block);
	float *vectors = mem_new(COVARIANCE_BLOCK * columns, sizeof *vectors);
	struct covariance *covariance = covariance_new(width);
	struct rng rng = rng_seed(1, 0);
	double flops = (double)rows * width * (width + 1.0), taken[2];

	for (size_t i = 0; i < COVARIANCE_BLOCK * columns; i++)
		block[i] = vectors[i] = (float)rng_normal(&rng);
	bare(
	    COVARIANCE_BLOCK, width, block, covariance->scatter); /* starts the threads */
	double wall = clock_now(), processor = processor_seconds();
	bare(rows, width, block, covariance->scatter);
	taken[0] = tell("rank-k updates alone", flops, clock_now() - wall,
	    processor_seconds() - processor);
	wall = clock_now();
	processor = processor_seconds();
	covariance_collect(covariance, take, &(struct source){ vectors, rows, columns });
	taken[1] = tell("sums of vectors", flops, clock_now() - wall,
	    processor_seconds() - processor);
	printf("%.2f of the updates' rate\n", taken[0] / taken[1]);
	covariance_free(covariance);
	free(vectors);
	free(block);
	return 0;
}
