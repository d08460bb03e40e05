/*
 * whitening - a linear map after which embeddings have mean 0 and the identity as covariance.
 *
 * With the unbiased covariance C = V L V^T, eigenvalues L descending,
 *	ZCA	y = V L^-1/2 V^T (x - mean)	nearest to x (REZE, section 4.1.3)
 *	PCA	y = L^-1/2 V^T (x - mean)	along the principal components; optionally the first only
 * They differ by a rotation: cosines, dot products and distances are the same.  Eigenvalues below a share of the greatest are raised
 * to it.
 */
#ifndef GEOMETRY_WHITENING_H
#define GEOMETRY_WHITENING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "geometry/covariance.h"
#include "geometry/transform.h"

enum whitening_kind { WHITENING_ZCA, WHITENING_PCA };

struct whitening_options {
	enum whitening_kind kind;
	int width;    /* components that PCA keeps; 0: all */
	double least; /* share of the greatest eigenvalue */
};

struct whitening {
	int in, out;
	double *mean;	/* [in] */
	double *matrix; /* [out,in] */
	double *values; /* [in] eigenvalues before raising */
	int raised;	/* number of used eigenvalues that were raised */
};

/* Dies if PCA is to keep more components than there are. */
struct whitening *whitening_new(
    const struct covariance *covariance, const struct whitening_options *options);
void whitening_free(struct whitening *whitening);

/* to[rows,out] = (from[rows,in] - mean) matrix^T, summed in double; a row's result does not depend on other rows. */
void whitening_apply(
    const struct whitening *whitening, float *to, const float *from, size_t rows);

#endif
