/*
 * principal - principal components of embeddings: coordinates of several streams in one basis, and the drift of texts between two
 * models.
 *
 * Rows have one vector each, in one column, or in several for relations.  The streams may be of several models.
 */
#ifndef GEOMETRY_PRINCIPAL_H
#define GEOMETRY_PRINCIPAL_H

#include <stdbool.h>

#include "geometry/embeddings.h"

/* Prints the coordinates of each row in TSV: stream, id, dataset (may be empty), pc1 to pcN.  The basis, mean and eigenvectors, is
 * that of all streams, or of the stream `basis`.  Streams are read twice, and must be files. */
struct principal_options {
	int components;
	const char *basis; /* NULL: all streams */
};
void principal_print(const char *const *paths, int count,
    const struct embeddings_options *columns, const struct principal_options *options);

/*
 * Prints how far texts moved from x in the stream `before` to y in `after`: d = y - x along the eigenvectors e of the covariance of
 * x; a line for each of the first components, one for the rest and one for all:
 *
 *	variance, share		the eigenvalue (unbiased), and its share of their sum
 *	shift			mean of e . d; for several components its norm
 *	moved, moved_share	mean of (e . d)^2, and its share of the mean of |d|^2
 *
 * The streams must have the same rows in the same order, by id.  per_text: a file with a line per text: id, distance |d|, cosine of
 * x and y; NULL: none.
 */
struct drift_options {
	int components;
	bool json;
	const char *per_text;
};
void drift_print(const char *before, const char *after,
    const struct embeddings_options *columns, const struct drift_options *options);

#endif
