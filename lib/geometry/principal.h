/*
 * principal - the principal components of embeddings: several streams drawn in one basis, and what became of texts
 * between two models.
 *
 * Rows have one vector each, in one column or, of relations, in several.  The streams may be of several models.
 */
#ifndef GEOMETRY_PRINCIPAL_H
#define GEOMETRY_PRINCIPAL_H

#include <stdbool.h>

#include "geometry/embeddings.h"

/* Coordinates of each row of the streams, in TSV to standard output: stream, id, dataset (empty where there is no such
 * column or attribute), pc1 to pcN.  The basis, mean and eigenvectors, is that of all the streams, or of the stream
 * `basis`.  Streams are read twice, and must be files. */
struct principal_options {
	int components;
	const char *basis; /* NULL: all */
};
void principal_print(const char *const *paths, int count,
    const struct embeddings_options *columns, const struct principal_options *options);

/*
 * How far the texts of the stream `before` have moved in `after`, d = y - x, along the eigenvectors e of the covariance
 * of x; a line for each of the first components, one for the rest and one for all:
 *
 *	variance, share		the eigenvalue (unbiased), and of their sum
 *	shift			mean of e . d; of several: the length of the mean's part
 *	moved, moved_share	mean of (e . d)^2, and of the mean of |d|^2
 *
 * The streams must have the same rows in the same order, by their ids.  per_text, unless NULL: id, distance |d| and
 * cosine of x and y, a line a text.
 */
struct drift_options {
	int components;
	bool json;
	const char *per_text;
};
void drift_print(const char *before, const char *after,
    const struct embeddings_options *columns, const struct drift_options *options);

#endif
