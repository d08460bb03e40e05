/*
 * whitening - a linear map after which embeddings have mean 0 and the identity as covariance.
 *
 * With the unbiased covariance C = V L V^T, eigenvalues L descending,
 *	ZCA	y = V L^-1/2 V^T (x - mean)	nearest to x (REZE, section 4.1.3)
 *	PCA	y = L^-1/2 V^T (x - mean)	along the principal components; optionally the first only
 *	scale	y = (x - mean) / deviation	each component alone: covariances stay
 * ZCA and PCA differ by a rotation: cosines, dot products and distances are the same.  Eigenvalues (of `scale`, variances) below a share
 * of the greatest are raised to it.  A partial whitening has L^(-power/2) instead of L^-1/2; the covariance becomes
 * L^(1 - power).
 *
 * Its file is a stream of one row: mean f64 [in], matrix f64 [out,in], eigenvalues f64 [in], vectors (their number) i64; the
 * property "model" is that of the embeddings.
 */
#ifndef GEOMETRY_WHITENING_H
#define GEOMETRY_WHITENING_H

#include "geometry/embeddings.h"
#include "geometry/transform.h"

enum whitening_kind { WHITENING_ZCA, WHITENING_PCA, WHITENING_SCALE };
enum whitening_centre { WHITENING_MEAN, WHITENING_ZERO };

struct whitening_options {
	enum whitening_kind kind;
	enum whitening_centre centre; /* zero: the mean is not subtracted */
	double power;		      /* 0: the identity, to 1: a whole whitening */
	int width;		      /* components that PCA keeps; 0: all */
	double least;		      /* share of the greatest eigenvalue */
};

/* Fits a whitening to all embeddings of the streams.  Without `model`, writes it to the file `output`; otherwise `output` becomes a
 * copy of the folder `model` (model_folder), which made the embeddings, with the whitening as its last module (model_append). */
void whitening_fit(const char *const *paths, int count,
    const struct embeddings_options *columns, const struct whitening_options *options,
    const char *model, const char *output);

/* Applies the whitening in `file` to the stream at `path`. */
void whitening_apply(
    const char *file, const char *path, const struct transform_options *options);

#endif
