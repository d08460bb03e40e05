/*
 * covariance - mean and covariance of vectors, in one pass, in double.
 *
 * Vectors are gathered into blocks.  A block is centred on its own mean and added by one rank-k update, with an extra row for the
 * difference of the means (Chan, Golub and LeVeque 1979), which is exact even if the mean is far greater than the deviations.  The
 * same formula merges two covariances.  Memory: the matrix and a block, for any number of vectors.
 *
 *	struct covariance *sums = covariance_new(width);
 *	while (...) covariance_add(sums, vectors, count);
 *	covariance_finish(sums);
 *	double *matrix = covariance_matrix(sums, 1);
 *
 * covariance_collect suits vectors from a stream: one thread reads while the others compute.
 *
 * The same vectors, order and number of threads give the same bits, however they are divided into calls.
 */
#ifndef GEOMETRY_COVARIANCE_H
#define GEOMETRY_COVARIANCE_H

#include <stdint.h>

struct covariance {
	int width;

	/* after covariance_finish or covariance_merge */
	int64_t count;
	double *mean;	 /* [width] */
	double *scatter; /* [width, width] sum of (x - mean) (x - mean)^T, lower */

	/* private */
	float *pending; /* [COVARIANCE_BLOCK, width] vectors not yet added */
	double *block;	/* [COVARIANCE_BLOCK + 1, width] */
	int64_t pending_count;
};

enum { COVARIANCE_BLOCK = 512 };

/* Mean and scatter are zero. */
struct covariance *covariance_new(int width);

/* vectors [count, width] must be finite. */
void covariance_add(struct covariance *covariance, const float *vectors, int64_t count);

/*
 * Adds all vectors of `source`, which writes the next COVARIANCE_BLOCK of them, finite, to `to` [count, width] and returns their
 * number: fewer only at the end, 0 after it.  Several threads call it, one at a time.  Memory: a matrix and a block per thread; one
 * matrix if these would take more than 1 GiB.
 */
typedef int64_t covariance_source(void *context, float *to);
void covariance_collect(
    struct covariance *covariance, covariance_source *source, void *context);

/* Adds the pending vectors; more may be added afterwards. */
void covariance_finish(struct covariance *covariance);

/* Adds the vectors of `other`, which is finished and has the same width. */
void covariance_merge(struct covariance *covariance, const struct covariance *other);

/* [width, width], both triangles: scatter / (count - lost); `lost` 1: unbiased, 0: of a population.  count must be greater than
 * lost.  The caller frees it. */
double *covariance_matrix(const struct covariance *covariance, int lost);
void covariance_free(struct covariance *covariance);

#endif
