/*
 * debias - targets of relations: equation 7 of REZE, W A W^T (r - u) + u with the factors A of r's source.
 *
 * Computed as r + W (A - 1) W^T (r - u), of the eigenvectors alone whose factor is not 1 for some source:
 * what is not shrunk keeps its bits, whether or not all eigenvectors are known.
 */
#ifndef PAPERS_REZE_DEBIAS_H
#define PAPERS_REZE_DEBIAS_H

#include <stdint.h>

#include "papers/reze/statistics.h"

struct debias;

/* Copies what it needs of statistics that are solved. */
struct debias *debias_new(const struct statistics *statistics);

/* to[count, width] from relations [count, width] of those sources. */
void debias_relations(struct debias *debias, double *to, const float *relations,
    const int *sources, int64_t count);
void debias_free(struct debias *debias);

#endif
