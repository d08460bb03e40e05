/*
 * debias - debiased targets of relations (REZE, section 3.2, equation 7): W A W^T (r - u) + u with the factors A of r's source.
 *
 * Computed as r + W (A - 1) W^T (r - u), with the eigenvectors whose factor is not 1 for some source: components that are not shrunk
 * keep their bits, even if not all eigenvectors are known.
 */
#ifndef PAPERS_REZE_DEBIAS_H
#define PAPERS_REZE_DEBIAS_H

#include <stdint.h>

#include "papers/reze/statistics.h"

struct debias;

/* The statistics must be solved; their arrays are copied. */
struct debias *debias_new(const struct statistics *statistics);

/* to[count, width] from relations [count, width] of sources[count]. */
void debias_relations(struct debias *debias, double *to, const float *relations,
    const int *sources, int64_t count);
void debias_free(struct debias *debias);

#endif
