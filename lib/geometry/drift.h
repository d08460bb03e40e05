/*
 * drift - prints how far texts moved from x in the stream `before` to y in `after`: d = y - x along the eigenvectors e of the
 * covariance of x; a line for each of the first components, one for the rest and one for all:
 *
 *	variance, share		the eigenvalue (unbiased), and its share of their sum
 *	shift			mean of e . d; for several components its norm
 *	moved, moved_share	mean of (e . d)^2, and its share of the mean of |d|^2
 *
 * The streams must have the same rows in the same order, by id.  per_text: a file with a line per text: id, distance |d|, cosine of
 * x and y; NULL: none.
 */
#ifndef GEOMETRY_DRIFT_H
#define GEOMETRY_DRIFT_H

#include "geometry/embeddings.h"

struct drift_options {
	int components; /* 0: 10, or all if there are fewer */
	bool json;
	const char *per_text;
};
void drift_print(const char *before, const char *after,
    const struct embeddings_options *columns, const struct drift_options *options);

#endif
