/*
 * covariance - mean and covariance of vectors that pass by once, in double.
 *
 * Vectors are gathered into blocks; a block is centred on its own mean and added by one update of
 * rank "rows", with one row more that stands for what lies between the means (Chan, Golub and LeVeque
 * 1979): nothing is lost where the mean is far greater than the deviations.  By the same formula two
 * sums of different vectors are one.  Memory: the matrix and a block, however many vectors there are.
 *
 *	struct covariance *sums = covariance_new(width);
 *	while (...) covariance_add(sums, vectors, count);
 *	covariance_finish(sums);
 *	double *matrix = covariance_matrix(sums, 1);
 *
 * Vectors that take their time to come, from a stream, are better asked for by covariance_collect: one thread reads
 * while the others compute.
 *
 * Same vectors in the same order and as many threads: the same bits, however they are divided into calls.
 */
#ifndef GEOMETRY_COVARIANCE_H
#define GEOMETRY_COVARIANCE_H

#include <stdint.h>

struct covariance {
	int width;

	/* after covariance_finish or covariance_merge */
	int64_t count;
	double *mean; /* [width] */
	double *
	    scatter; /* [width, width]: of (x - mean) (x - mean)^T the sum; lower triangle */

	/* its own affairs */
	float *held;   /* [COVARIANCE_BLOCK, width] */
	double *block; /* [COVARIANCE_BLOCK + 1, width] */
	int64_t holds;
};

enum { COVARIANCE_BLOCK = 512 };

/* Of no vectors yet: mean and scatter are zero. */
struct covariance *covariance_new(int width);

/* `count` vectors [count, width], which must be finite. */
void covariance_add(struct covariance *covariance, const float *vectors, int64_t count);

/*
 * All vectors that there are: `source` puts the next COVARIANCE_BLOCK of them, which must be finite, to `to` [count,
 * width], and returns how many: fewer only at the end, 0 after it.  It is called by several threads, but never by two at a
 * time.  Memory: a matrix and a block for each thread, where the matrices take no more than 1 GiB.
 */
typedef int64_t covariance_source(void *context, float *to);
void covariance_collect(
    struct covariance *covariance, covariance_source *source, void *context);

/* Take in what is held; more may be added then. */
void covariance_finish(struct covariance *covariance);

/* What `other` (finished, of the same width) was given, too. */
void covariance_merge(struct covariance *covariance, const struct covariance *other);

/* [width, width], both triangles: the scatter divided by count - lost; `lost` 1: unbiased, 0: of a
 * population.  count must be greater than lost.  To be freed. */
double *covariance_matrix(const struct covariance *covariance, int lost);
void covariance_free(struct covariance *covariance);

#endif
