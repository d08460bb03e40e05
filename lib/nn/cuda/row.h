/*
 * row - loops over rows, four floats at a time: which thread has which columns.
 *
 * A row's fours belong to the same threads whether they may be moved as a whole (aligned, and no row ends within one) or
 * must be moved one by one: its sums have the same bits either way.
 */
#ifndef NN_CUDA_ROW_H
#define NN_CUDA_ROW_H

#include "nn/cuda/device.h"

struct four {
	float at[4];
};

static __device__ __forceinline__ struct four
four_of(float value)
{
	return { { value, value, value, value } };
}

static __device__ __forceinline__ float
four_sum(struct four x)
{
	return (x.at[0] + x.at[1]) + (x.at[2] + x.at[3]);
}

/* True if rows of C columns, f32 or bf16, with this stride may be moved by fours; for each array of a launch. */
static inline bool
row_whole(const void *at, size_t stride, size_t C)
{
	return (uintptr_t)at % 16 == 0 && stride % 4 == 0 && C % 4 == 0;
}

/* Columns c..c+3 of a row of C; `rest` beyond its end. */
static __device__ __forceinline__ struct four
row_take(const float *row, size_t c, size_t C, bool whole, float rest = 0)
{
	struct four x = four_of(rest);

	if (whole) {
		if (c < C) {
			float4 all = *(const float4 *)(const void *)(row + c);
			x = { { all.x, all.y, all.z, all.w } };
		}
		return x;
	}
	for (int i = 0; i < 4; i++)
		if (c + i < C)
			x.at[i] = row[c + i];
	return x;
}

static __device__ __forceinline__ void
row_put(float *row, size_t c, size_t C, bool whole, struct four x)
{
	if (whole) {
		if (c < C)
			*(float4 *)(void *)(row + c) =
			    make_float4(x.at[0], x.at[1], x.at[2], x.at[3]);
		return;
	}
	for (int i = 0; i < 4; i++)
		if (c + i < C)
			row[c + i] = x.at[i];
}

/* The same of bf16, which are rounded when they are put. */
static __device__ __forceinline__ struct four
row_take(const __nv_bfloat16 *row, size_t c, size_t C, bool whole, float rest = 0)
{
	struct four x = four_of(rest);

	if (whole) {
		if (c < C) {
			uint2 all = *(const uint2 *)(const void *)(row + c);
			x = { { __uint_as_float(all.x << 16),
			    __uint_as_float(all.x & 0xffff0000),
			    __uint_as_float(all.y << 16),
			    __uint_as_float(all.y & 0xffff0000) } };
		}
		return x;
	}
	for (int i = 0; i < 4; i++)
		if (c + i < C)
			x.at[i] = __bfloat162float(row[c + i]);
	return x;
}

static __device__ __forceinline__ void
row_put(__nv_bfloat16 *row, size_t c, size_t C, bool whole, struct four x)
{
	if (whole) {
		if (c < C) {
			uint2 all;
			all.x = bf16_pair(x.at[0], x.at[1]);
			all.y = bf16_pair(x.at[2], x.at[3]);
			*(uint2 *)(void *)(row + c) = all;
		}
		return;
	}
	for (int i = 0; i < 4; i++)
		if (c + i < C)
			row[c + i] = __float2bfloat16_rn(x.at[i]);
}

static __device__ __forceinline__ size_t
quotient(size_t x, size_t by)
{
	/* 32-bit division is much quicker on a device */
	if ((x | by) >> 32)
		return x / by;
	return (unsigned)x / (unsigned)by;
}

/*
 * Rows without sums: a block has several rows, with up to a warp of threads each.  A kernel loops
 *	for (size_t r = lines_row(); r < R; r += lines_rows())
 *		for (size_t c = lines_column(); c < C; c += lines_columns())
 * over fours of columns.
 */
struct row_grid {
	dim3 grid, block;
};

static inline struct row_grid
row_grid_of(size_t R, size_t C)
{
	const size_t enough = (size_t)device_size() * 16;
	size_t fours = (C + 3) / 4, rows, wide = 1;
	unsigned width = 1;

	while (width < WARP && width < fours)
		width *= 2;
	rows = (R + BLOCK / width - 1) / (BLOCK / width);
	rows = rows < enough ? rows : enough;
	/* few rows are shared by more threads */
	if (rows && rows < enough)
		wide = (fours + width - 1) / width;
	wide = rows && wide > enough / rows ? enough / rows : wide;
	return { dim3((unsigned)rows, (unsigned)(C ? wide : 0)),
		dim3(width, BLOCK / width) };
}

static __device__ __forceinline__ size_t
lines_row()
{
	return (size_t)blockIdx.x * blockDim.y + threadIdx.y;
}

static __device__ __forceinline__ size_t
lines_rows()
{
	return (size_t)gridDim.x * blockDim.y;
}

static __device__ __forceinline__ size_t
lines_column()
{
	return 4 * ((size_t)blockIdx.y * blockDim.x + threadIdx.x);
}

static __device__ __forceinline__ size_t
lines_columns()
{
	return 4 * (size_t)gridDim.y * blockDim.x;
}

/*
 * Rows with sums: W threads of a block share a row; each has K fours, which stay in registers between passes over the row.  K 0:
 * any number of fours, read again in each pass.
 */
template <int W, int K> struct row_shape {
	static constexpr int WIDTH = W, KEPT = K;
	static constexpr int THREADS = W > BLOCK ? W : BLOCK, ROWS = THREADS / W;
};

/* Calls f with the row_shape for rows of C columns. */
template <class F>
static inline void
row_shaped(size_t C, F f)
{
	if (C <= 16)
		f(row_shape<4, 1>());
	else if (C <= 64)
		f(row_shape<16, 1>());
	else if (C <= 256)
		f(row_shape<32, 2>());
	else if (C <= 512)
		f(row_shape<32, 4>());
	else if (C <= 1024)
		f(row_shape<32, 8>());
	else if (C <= 4096)
		f(row_shape<256, 4>());
	else if (C <= 8192)
		f(row_shape<512, 4>());
	else
		f(row_shape<512, 0>());
}

/* f(k, c) for the thread's fours of a row of C columns: the k-th begins at column c, which may be beyond the end. */
template <int W, int K, class F>
static __device__ __forceinline__ void
row_each(size_t C, F f)
{
	size_t lane = threadIdx.x % W;

	if constexpr (K > 0) {
		for (int k = 0; k < K; k++)
			f(k, 4 * (k * W + lane));
	} else
		for (size_t c = 4 * lane; c < C; c += 4 * W)
			f(0, c);
}

/* A thread's fours between passes; with K 0, again() reads one again. */
template <int K> struct row_kept {
	struct four of[K];

	__device__ __forceinline__ void
	keep(int k, struct four x)
	{
		of[k] = x;
	}
	template <class F>
	__device__ __forceinline__ struct four
	take(int k, F again)
	{
		(void)again;
		return of[k];
	}
};

template <> struct row_kept<0> {
	__device__ __forceinline__ void
	keep(int, struct four)
	{
	}
	template <class F>
	__device__ __forceinline__ struct four
	take(int, F again)
	{
		return again();
	}
};

/* Sum over the W threads of a row, returned to each; if they are a block, room[WARP] is shared memory. */
template <int W>
static __device__ __forceinline__ float
row_sum(float x, float *room)
{
	if constexpr (W > WARP)
		return block_sum(x, room);
	else {
		for (int bits = W / 2; bits; bits /= 2)
			x += __shfl_xor_sync(ALL_LANES, x, bits);
		return x;
	}
}

/* The maximum; NaN is greater than all. */
static __device__ __forceinline__ float
row_greater(float x, float y)
{
	return y > x || y != y ? y : x;
}

template <int W>
static __device__ __forceinline__ float
row_max(float x, float *room)
{
	for (int bits = (W < WARP ? W : WARP) / 2; bits; bits /= 2)
		x = row_greater(x, __shfl_xor_sync(ALL_LANES, x, bits));
	if constexpr (W > WARP) {
		int lane = threadIdx.x % WARP, warps = (int)blockDim.x / WARP;
		__syncthreads(); /* the last call's room has been read */
		if (!lane)
			room[threadIdx.x / WARP] = x;
		__syncthreads();
		x = row_max<WARP>(lane < warps ? room[lane] : -INFINITY, room);
	}
	return x;
}

#endif
