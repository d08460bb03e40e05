/*
 * columns - column sums in two steps: parts of the rows by a block each, then the parts in their order.  The number of rows
 * alone decides the parts, so the bits are the same on any device.
 */
#ifndef NN_CUDA_COLUMNS_H
#define NN_CUDA_COLUMNS_H

#include "nn/cuda/device.h"

constexpr int COLUMN_ROWS = BLOCK / WARP; /* of a block, of WARP columns */
constexpr size_t COLUMN_PARTS = 512;

/* Rows of a part, a multiple of `at_once`. */
static inline size_t
column_part_rows(size_t rows, size_t at_once)
{
	size_t all = COLUMN_PARTS * at_once;

	return (rows + all - 1) / all * at_once;
}

/* The sum over the block's rows of threads, in the first row. */
static __device__ __forceinline__ float
column_fold(float sum)
{
	__shared__ float room[COLUMN_ROWS][WARP];

	__syncthreads();
	room[threadIdx.y][threadIdx.x] = sum;
	__syncthreads();
	for (int y = 1; !threadIdx.y && y < COLUMN_ROWS; y++)
		sum += room[y][threadIdx.x];
	return sum;
}

/* parts[p,c] = sum of value(r, c) over the rows r of part p */
template <class V>
static __global__ void
column_parts(float *parts, V value, size_t part_rows, size_t rows, size_t C)
{
	size_t c = (size_t)blockIdx.x * WARP + threadIdx.x;
	size_t from = blockIdx.y * part_rows,
	       to = rows - from < part_rows ? rows : from + part_rows;
	float sum = 0;

	for (size_t r = from + threadIdx.y; c < C && r < to; r += COLUMN_ROWS)
		sum += value(r, c);
	sum = column_fold(sum);
	if (!threadIdx.y && c < C)
		parts[blockIdx.y * C + c] = sum;
}

/* y[c] += sum of parts[p,c] over p */
template <class F>
static __global__ void
column_totals(F *y, const F *parts, size_t count, size_t C)
{
	size_t c = (size_t)blockIdx.x * WARP + threadIdx.x;
	F sum = 0;

	for (size_t p = threadIdx.y; c < C && p < count; p += COLUMN_ROWS)
		sum += parts[p * C + c];
	sum = column_fold(sum);
	if (!threadIdx.y && c < C)
		y[c] += sum;
}

static inline void
column_add(float *y, const float *parts, size_t count, size_t C)
{
	device_launch(column_totals<float>, device_blocks(C, WARP),
	    dim3(WARP, COLUMN_ROWS), 0, y, parts, count, C);
}

/* y[c] += sum of value(r, c) over the rows r; `value` is a function object. */
template <class V>
static inline void
column_sums(float *y, V value, size_t rows, size_t C)
{
	size_t part_rows = column_part_rows(rows, COLUMN_ROWS);

	if (!rows || !C)
		return;
	unsigned count = device_blocks(rows, part_rows);
	scratch<float> parts(count * C);
	device_launch(column_parts<V>, dim3(device_blocks(C, WARP), count),
	    dim3(WARP, COLUMN_ROWS), 0, parts.at, value, part_rows, rows, C);
	column_add(y, parts.at, count, C);
}

/* `value` of a matrix's column sums. */
struct matrix_element {
	const float *x;
	size_t ld;

	__device__ float
	operator()(size_t r, size_t c) const
	{
		return x[r * ld + c];
	}
};

#endif
