/*
 * cells - an inverted file (IVF): vectors in cells by their nearest centroid, so that a query compares only those of a few
 * cells.
 *
 * Centroids are unit vectors, trained by spherical k-means: Lloyd's steps on a sample, as FAISS does for inner products.
 * A vector is in the cell whose centroid has the greatest dot product with it.
 */
#ifndef SEARCH_CELLS_H
#define SEARCH_CELLS_H

#include <stdint.h>

/* Writes centroids [cells, width], trained on at most CELLS_SAMPLE x cells of the vectors [count, width], count >= cells.
 * The same vectors give the same centroids. */
enum { CELLS_SAMPLE = 128 };
void cells_train(
    float *centroids, int cells, const float *vectors, int64_t count, int width);

/* Writes cell [count] of each of the vectors [count, width]; 0 for NaN. */
void cells_assign(uint32_t *cell, const float *vectors, int64_t count,
    const float *centroids, int cells, int width);

/* Writes the `probe` cells with the greatest dot products, [count, probe], best first, of equal ones the first.  Exact, so
 * that it does not depend on the processor. */
void cells_nearest(uint32_t *cell, int probe, const float *queries, int64_t count,
    const float *centroids, int cells, int width);

#endif
