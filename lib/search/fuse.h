/*
 * fuse - one run from the runs of several searches of one corpus, as of words (BM25) and of embeddings.
 *
 *	FUSE_RRF	sum over runs of weight / (60 + rank): reciprocal rank fusion (Cormack et al. 2009)
 *	FUSE_MIN_MAX	sum over runs of weight * (score - least) / (greatest - least), of the query's hits in the run
 *			(0 if all its scores are equal)
 *
 * A run adds nothing to a document that it has not found.  Sums are in f64, rounded to f32.  Queries may be in some of the runs.
 */
#ifndef SEARCH_FUSE_H
#define SEARCH_FUSE_H

#include <stdint.h>

#include "search/run.h"

enum fuse_method { FUSE_RRF = 1, FUSE_MIN_MAX };

/* The best `depth` documents of each query of the runs in `paths` [count]; weights [count].  Queries are in the order
 * of the first run that has them. */
struct run *fuse_runs(enum fuse_method method, const char *const *paths,
    const double *weights, int count, int64_t depth);

/* The weights [count] in a list "1,2" (NULL: 1 each), to be freed; a usage error if they are others. */
double *fuse_weights(const char *list, int count);

#endif
