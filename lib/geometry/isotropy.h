/*
 * isotropy - IsoScore (Rudman et al. 2022): how evenly embeddings use their dimensions.
 *
 * With the unbiased variances v of the n principal components, v' = v sqrt(n) / |v| and its normalised distance from (1, ..., 1),
 * delta = |v' - 1| / sqrt(2 (n - sqrt n)):
 *
 *	phi = (n - delta^2 (n - sqrt n))^2 / n^2 = (sum v)^2 / (n sum v^2)
 *	score = (n phi - 1) / (n - 1)
 *
 * 1: all directions have the same variance; 0: one has all of it.  Sum v is the covariance's trace and sum v^2 its squared Frobenius
 * norm, so no eigenvalue is computed.
 */
#ifndef GEOMETRY_ISOTROPY_H
#define GEOMETRY_ISOTROPY_H

#include <stdbool.h>

#include "geometry/covariance.h"
#include "geometry/embeddings.h"

/* Prints for each stream: vectors, width, total variance, IsoScore, and n phi, the effective dimensions; TSV or JSON. */
void isotropy_print(const char *const *paths, int count,
    const struct embeddings_options *columns, bool json);

#endif
