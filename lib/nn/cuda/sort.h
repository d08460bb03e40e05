/*
 * sort - stable sort of integer keys, and scatter-add by it.
 */
#ifndef NN_CUDA_SORT_H
#define NN_CUDA_SORT_H

#include "nn/cuda/device.h"

/*
 * Stable: sorted[n] are keys[n] ascending, sorted[i] = keys[order[i]].  0 <= keys < below.
 */
void device_sort(
    int32_t *order, int32_t *sorted, const int32_t *keys, size_t n, size_t below);

/* y[rows[r],:] += x[r,:], in the order of r. */
void device_scatter_add(
    float *y, const float *x, const int32_t *rows, size_t R, size_t C);

#endif
