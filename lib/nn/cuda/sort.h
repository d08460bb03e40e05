/*
 * sort - rows in the order of whole numbers, and sums of those that belong together.
 */
#ifndef NN_CUDA_SORT_H
#define NN_CUDA_SORT_H

#include "nn/cuda/device.h"

/*
 * Stable: order[i], below n, is where the i-th of keys[n] in ascending order stands among them, sorted[i] that key.  No key
 * is negative; all are below `below`.
 */
void device_sort(
    int32_t *order, int32_t *sorted, const int32_t *keys, size_t n, size_t below);

/* y[rows[r],:] += x[r,:], those of a row of y one after another in the order of r. */
void device_scatter_add(
    float *y, const float *x, const int32_t *rows, size_t R, size_t C);

#endif
