/*
 * squares - sums of squares in double: of stretches, each by a block, then of the stretches.
 */
#ifndef NN_CUDA_SQUARES_H
#define NN_CUDA_SQUARES_H

#include "nn/cuda/device.h"

/* Floats that one block sums: whoever has them, in the same order. */
constexpr size_t SQUARES = 1 << 14;

/* Of stretch `which` of x[n], for all threads of the block. */
static __device__ __forceinline__ double
squares_of(const float *x, size_t which, size_t n, double *room)
{
	size_t from = which * SQUARES, to = n - from < SQUARES ? n : from + SQUARES;
	double sum = 0;

	for (size_t i = from + threadIdx.x; i < to; i += blockDim.x)
		sum += (double)x[i] * x[i];
	return block_sum(sum, room);
}

/* Of all the n stretches. */
static __device__ __forceinline__ double
squares_total(const double *parts, size_t n, double *room)
{
	double sum = 0;

	for (size_t i = threadIdx.x; i < n; i += blockDim.x)
		sum += parts[i];
	return block_sum(sum, room);
}

#endif
