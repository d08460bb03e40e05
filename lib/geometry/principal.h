/*
 * principal - principal components of embeddings: the coordinates of several streams in one basis.
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

#endif
