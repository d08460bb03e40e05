/*
 * square_sum - sums of squares in double: of chunks, by a block each, then of the chunks.
 */
#ifndef NN_CUDA_SQUARE_SUM_H
#define NN_CUDA_SQUARE_SUM_H

#include "nn/cuda/device.h"

/* Floats that one block sums. */
constexpr size_t SQUARE_SUM_CHUNK = 1 << 14;

/* Chunk `which` of x[n]; returned to all threads of the block. */
static __device__ __forceinline__ double
square_sum_of_chunk(const float *x, size_t which, size_t n, double *room)
{
	size_t from = which * SQUARE_SUM_CHUNK,
	       to = n - from < SQUARE_SUM_CHUNK ? n : from + SQUARE_SUM_CHUNK;
	double sum = 0;

	for (size_t i = from + threadIdx.x; i < to; i += blockDim.x)
		sum += (double)x[i] * x[i];
	return block_sum(sum, room);
}

/* The sum of n chunks. */
static __device__ __forceinline__ double
square_sum_of_chunks(const double *parts, size_t n, double *room)
{
	double sum = 0;

	for (size_t i = threadIdx.x; i < n; i += blockDim.x)
		sum += parts[i];
	return block_sum(sum, room);
}

#endif
