/*
 * attention_tiles - products of tiles in shared memory, for attention of f32 arrays and its backward; only they include it.
 *
 * A team of warps owns a tile of rows of one head of one sequence, 16 rows a warp, and walks over tiles of the other side.  f32_math
 * and bf16_math are the two GEMMs of a tile in either precision; all else is the same for both.
 *
 * The warps of a block are one team; if the sequence is so short that most warps would have no rows, they are several teams,
 * each with its own head.  Beside the sequence itself, only its length decides a row's bits.
 */
#ifndef NN_CUDA_ATTENTION_TILES_H
#define NN_CUDA_ATTENTION_TILES_H

#include "nn/cuda/attention.h"

/* Heads that a block takes one after another: four if that leaves enough blocks for the device. */
static inline unsigned
heads_of_block(size_t tiles, size_t heads)
{
	unsigned each = 4;

	while (each > 1 && tiles * device_blocks(heads, each) < 4 * device_size())
		each /= 2;
	return each;
}

/* The team of a thread. */
struct team {
	int warps, count, number;
	int warp, thread; /* in the team */
	int walk;	  /* rows of a tile that is walked */
};

template <class A>
static __device__ __forceinline__ struct team
team_of(int length)
{
	struct team team;
	int warp = threadIdx.x / WARP;

	team.warps = A::WARPS;
	team.walk = A::WALK;
	while (team.warps > 1 && team.warps / 2 * ROWS >= length && team.walk > ROWS) {
		team.warps /= 2;
		team.walk /= 2;
	}
	team.count = A::WARPS / team.warps;
	team.number = warp / team.warps;
	team.warp = warp % team.warps;
	team.thread = threadIdx.x % (team.warps * WARP);
	return team;
}

/* The first `left` of four columns, then zeros. */
static __device__ __forceinline__ float4
four_of(const float *from, int left, bool vectors)
{
	float4 x = make_float4(0, 0, 0, 0);

	if (left <= 0)
		return x;
	if (vectors)
		return *(const float4 *)from;
	x.x = from[0];
	x.y = left > 1 ? from[1] : 0;
	x.z = left > 2 ? from[2] : 0;
	x.w = left > 3 ? from[3] : 0;
	return x;
}

/* Loads the first `have` of `rows` rows, then zeros.  Each thread has several reads in flight. */
template <class A>
static __device__ __forceinline__ void
load_tile(typename A::element *to, const float *from, size_t ld, int have, int rows,
    const struct attention &a, const struct team &team)
{
	constexpr int PIECES = A::SIZE / 4, AT_ONCE = A::READS;
	int threads = team.warps * WARP, count = rows * PIECES;

	for (int i = team.thread; i < count; i += AT_ONCE * threads) {
		float4 x[AT_ONCE];
#pragma unroll
		for (int u = 0; u < AT_ONCE; u++) {
			int at = i + u * threads, row = at / PIECES,
			    column = at % PIECES * 4;
			bool there = at < count && row < have;
			x[u] = four_of(from + (size_t)row * ld + column,
			    there ? a.D - column : 0, a.vectors);
		}
#pragma unroll
		for (int u = 0; u < AT_ONCE; u++) {
			int at = i + u * threads;
			if (at < count)
				A::put(
				    to + at / PIECES * A::PITCH + at % PIECES * 4, x[u]);
		}
	}
}

/* GEMM of tiles. ------------------------------------------------------------------- */

/*
 * SIZE: columns of a head, zeros beyond D; WARPS of a block; WALK: rows of a tile that is walked.  PITCH: elements from row to row
 * of a tile, chosen so that lanes read from different banks.  READS: loads that a thread has in flight, as many as registers allow.
 *
 * multiply:	p[16,rows] = a[16,SIZE] b[rows,SIZE]^T, both in shared memory
 * accumulate:	sum[16,SIZE] += p[16,rows] b[rows,SIZE]
 * rows is a multiple of 16.  Each type has its own layout of sums, known to scale and store: sum[i][0..3] is of row g or
 * g + 8, or of both.
 */
template <int SIZE_, int WARPS_, int WALK_> struct f32_math {
	static constexpr int SIZE = SIZE_, WARPS = WARPS_, WALK = WALK_, PITCH = SIZE + 4;
	static constexpr int READS = SIZE <= 128 ? 4 : 2;
	typedef float element;
	typedef float products[WALK / 8][4];
	typedef float sums[SIZE / 8][4];

	static __device__ __forceinline__ void
	put(float *to, float4 x)
	{
		*(float4 *)to = x;
	}

	static __device__ __forceinline__ float
	dot(float sum, const float4 &x, const float4 &y)
	{
		sum += x.x * y.x;
		sum += x.y * y.y;
		sum += x.z * y.z;
		return sum + x.w * y.w;
	}

	static __device__ __forceinline__ void
	multiply(products &p, const float *a, const float *b, int rows)
	{
		int lane = threadIdx.x % WARP;
		const float *row = a + lane / 4 * PITCH,
			    *column = b + lane % 4 * 2 * PITCH;

#pragma unroll
		for (int n = 0; n < WALK / 8; n++)
			p[n][0] = p[n][1] = p[n][2] = p[n][3] = 0;
#pragma unroll 1
		for (int d = 0; d < SIZE; d += 4) {
			float4 x = *(const float4 *)(row + d);
			float4 y = *(const float4 *)(row + 8 * PITCH + d);
#pragma unroll
			for (int n = 0; n < WALK / 8; n++) {
				if (8 * n >= rows)
					break;
#pragma unroll
				for (int j = 0; j < 2; j++) {
					float4 z =
					    *(const float4 *)(column +
							      (8 * n + j) * PITCH + d);
					p[n][j] = dot(p[n][j], x, z);
					p[n][2 + j] = dot(p[n][2 + j], y, z);
				}
			}
		}
	}

	/* The other elements of p that a lane needs are in its three neighbours. */
	static __device__ __forceinline__ void
	accumulate(sums &sum, const products &p, const float *b, int rows)
	{
		int lane = threadIdx.x % WARP;

#pragma unroll 1
		for (int t = 0; t < 4; t++) {
			const float *from = b + 2 * t * PITCH + lane % 4 * 4;
#pragma unroll
			for (int n = 0; n < WALK / 8; n++) {
				if (8 * n >= rows)
					break;
#pragma unroll
				for (int j = 0; j < 2; j++)
					add_row(sum,
					    __shfl_sync(ALL_LANES, p[n][j], t, 4),
					    __shfl_sync(ALL_LANES, p[n][2 + j], t, 4),
					    from + (8 * n + j) * PITCH);
			}
		}
	}

	static __device__ __forceinline__ void
	add_row(sums &sum, float low, float high, const float *from)
	{
#pragma unroll
		for (int c = 0; c < SIZE / 16; c++) {
			float4 x = *(const float4 *)(from + 16 * c);
			float(&y)[4] = sum[2 * c], (&z)[4] = sum[2 * c + 1];
			y[0] += low * x.x;
			y[1] += low * x.y;
			y[2] += low * x.z;
			y[3] += low * x.w;
			z[0] += high * x.x;
			z[1] += high * x.y;
			z[2] += high * x.z;
			z[3] += high * x.w;
		}
	}

	/* Row g by `low`, row g + 8 by `high`. */
	static __device__ __forceinline__ void
	scale(sums &sum, float low, float high)
	{
#pragma unroll
		for (int i = 0; i < SIZE / 8; i++)
#pragma unroll
			for (int j = 0; j < 4; j++)
				sum[i][j] *= i % 2 ? high : low;
	}

	/* The first `have` rows. */
	static __device__ __forceinline__ void
	store(float *to, size_t ld, const sums &sum, int have, const struct attention &a)
	{
		int lane = threadIdx.x % WARP, g = lane / 4;

#pragma unroll
		for (int i = 0; i < SIZE / 8; i++) {
			int row = g + i % 2 * 8, column = i / 2 * 16 + lane % 4 * 4;
			if (row < have)
				store_some<4>(to + (size_t)row * ld + column, sum[i],
				    a.D - column, a.vectors);
		}
	}
};

template <int SIZE_, int WARPS_, int WALK_> struct bf16_math {
	static constexpr int SIZE = SIZE_, WARPS = WARPS_, WALK = WALK_, PITCH = SIZE + 8;
	static constexpr int READS = SIZE == 64 ? 2 : 4;
	typedef __nv_bfloat16 element;
	typedef float products[WALK / 8][4];
	typedef float sums[SIZE / 8][4];

	static __device__ __forceinline__ void
	put(__nv_bfloat16 *to, float4 x)
	{
		uint2 pair;

		pair.x = bf16_pair(x.x, x.y);
		pair.y = bf16_pair(x.z, x.w);
		*(uint2 *)(void *)to = pair;
	}

	static __device__ __forceinline__ void
	multiply(products &p, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int rows)
	{
		int lane = threadIdx.x % WARP;
		const __nv_bfloat16 *row = a + lane % 16 * PITCH + lane / 16 * 8;
		const __nv_bfloat16 *column =
		    b + (lane % 8 + lane / 16 * 8) * PITCH + lane / 8 % 2 * 8;

#pragma unroll
		for (int n = 0; n < WALK / 8; n++)
			p[n][0] = p[n][1] = p[n][2] = p[n][3] = 0;
#pragma unroll
		for (int d = 0; d < SIZE; d += 16) {
			unsigned x[4], y[4];
			load_matrices(x, row + d);
#pragma unroll
			for (int n = 0; n < WALK / 8; n += 2) {
				if (8 * n >= rows)
					break;
				load_matrices(y, column + 8 * n * PITCH + d);
				matrix_product(p[n], x, y[0], y[1]);
				matrix_product(p[n + 1], x, y[2], y[3]);
			}
		}
	}

	static __device__ __forceinline__ void
	accumulate(sums &sum, const products &p, const __nv_bfloat16 *b, int rows)
	{
		int lane = threadIdx.x % WARP;
		const __nv_bfloat16 *from = b + lane % 16 * PITCH + lane / 16 * 8;

#pragma unroll
		for (int n = 0; n < WALK / 8; n += 2) {
			unsigned x[4], y[4];
			if (8 * n >= rows)
				break;
			x[0] = bf16_pair(p[n][0], p[n][1]);
			x[1] = bf16_pair(p[n][2], p[n][3]);
			x[2] = bf16_pair(p[n + 1][0], p[n + 1][1]);
			x[3] = bf16_pair(p[n + 1][2], p[n + 1][3]);
#pragma unroll
			for (int d = 0; d < SIZE; d += 16) {
				load_matrices_transposed(y, from + 8 * n * PITCH + d);
				matrix_product(sum[d / 8], x, y[0], y[1]);
				matrix_product(sum[d / 8 + 1], x, y[2], y[3]);
			}
		}
	}

	static __device__ __forceinline__ void
	scale(sums &sum, float low, float high)
	{
#pragma unroll
		for (int i = 0; i < SIZE / 8; i++)
#pragma unroll
			for (int j = 0; j < 4; j++)
				sum[i][j] *= j / 2 ? high : low;
	}

	static __device__ __forceinline__ void
	store(float *to, size_t ld, const sums &sum, int have, const struct attention &a)
	{
		int lane = threadIdx.x % WARP, g = lane / 4;

#pragma unroll
		for (int i = 0; i < SIZE / 8; i++)
#pragma unroll
			for (int j = 0; j < 4; j += 2) {
				int row = g + j * 4, column = i * 8 + lane % 4 * 2;
				float pair[2] = { sum[i][j], sum[i][j + 1] };
				if (row < have)
					store_some<2>(to + (size_t)row * ld + column,
					    pair, a.D - column, a.vectors);
			}
	}
};

#endif
