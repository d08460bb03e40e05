/*
 * isotropy - how evenly embeddings use their dimensions: IsoScore (Rudman et al. 2022).
 *
 * Of the variances v of the principal components, n of them, unbiased: v' = v sqrt(n) / |v|, its distance from
 * (1, ..., 1) in units of the greatest that there is, delta = |v' - 1| / sqrt(2 (n - sqrt n)), and
 *
 *	phi = (n - delta^2 (n - sqrt n))^2 / n^2 = (sum v)^2 / (n sum v^2)
 *	score = (n phi - 1) / (n - 1)
 *
 * 1: all directions vary alike; 0: one alone does.  Sum v is the covariance's trace and sum v^2 the sum of its
 * squares, so that no eigenvalue has to be known.
 */
#ifndef GEOMETRY_ISOTROPY_H
#define GEOMETRY_ISOTROPY_H

#include <stdbool.h>

#include "geometry/covariance.h"
#include "geometry/embeddings.h"

struct isotropy {
	double variance;   /* in all directions together */
	double score;	   /* IsoScore */
	double dimensions; /* n phi: as many that vary alike would have this phi */
};

/* Finished, of two vectors of two values at least that are not all the same. */
struct isotropy isotropy_of(const struct covariance *covariance);

/* A line a stream to standard output, or JSON: what isotropy_of says of its embeddings. */
void isotropy_print(const char *const *paths, int count,
    const struct embeddings_options *columns, bool json);

#endif
