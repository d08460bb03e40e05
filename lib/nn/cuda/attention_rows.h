/*
 * attention_rows - products of bf16 arrays in attention; only attention_bf16.cu and attention_hopper.cu include it.
 *
 * A warp has 16 or 32 queries of one head.  Keys and values lie in shared memory.  The product q k^T takes columns in any order, if q
 * and k have the same.  So lane 4 g + t reads columns 8 t .. 8 t + 7 of every 32 at once, in place of the four pairs of columns
 * that matrix_product calls for.
 */
#ifndef NN_CUDA_ATTENTION_ROWS_H
#define NN_CUDA_ATTENTION_ROWS_H

#include "nn/cuda/attention.h"

/* out is bf16, or f32 with an lse, which may be nullptr. */
struct arrays {
	void *out;
	float *lse;
	const __nv_bfloat16 *q, *k, *v;
};

/*
 * SIZE: columns of a head, zeros beyond D; TILES of 16 rows that a warp has; WARPS of a block; WALK: keys of a tile; BLOCKS that
 * a multiprocessor has room for.  PLAIN: heads begin on 16 bytes, and there is no bias.  WIDE: the result is f32.
 */
template <int SIZE_, int TILES_, int WARPS_, int WALK_, int BLOCKS_, bool PLAIN_,
    bool WIDE_>
struct plan {
	static constexpr bool PLAIN = PLAIN_, WIDE = WIDE_;
	static constexpr int SIZE = SIZE_, TILES = TILES_, WARPS = WARPS_, WALK = WALK_;
	/* OWN: rows of a warp; IN_REGISTERS: where its queries lie */
	static constexpr int BLOCKS = BLOCKS_, OWN = TILES * ROWS, QUERIES = WARPS * OWN;
	static constexpr bool IN_REGISTERS = SIZE * TILES <= 128;
	/* two tiles of keys, then two of values */
	static constexpr int VALUES = 2 * WALK * SIZE, SHARED_ROWS = QUERIES + 4 * WALK;
};

/* Shared memory. -------------------------------------------------------------------- */

/* Where a row has its columns 8 piece .. 8 piece + 7: no two of the lanes that read at once share a bank. */
template <int SIZE>
static __device__ __forceinline__ unsigned
place(unsigned row, unsigned piece)
{
	unsigned turn = row / 2 % 4 ^ (SIZE % 64 ? 0 : row % 2 * 4);

	return row * SIZE + (piece ^ turn) * 8;
}

/* The first `left` of eight columns, then zeros. */
template <class A>
static __device__ __forceinline__ uint4
eight_of(const __nv_bfloat16 *from, int left)
{
	uint4 x = { 0, 0, 0, 0 };

	if constexpr (A::PLAIN) {
		if (left > 0)
			x = *(const uint4 *)(const void *)from;
	} else {
		float y[8];
#pragma unroll
		for (int i = 0; i < 8; i++)
			y[i] = i < left ? __bfloat162float(from[i]) : 0;
		x.x = bf16_pair(y[0], y[1]);
		x.y = bf16_pair(y[2], y[3]);
		x.z = bf16_pair(y[4], y[5]);
		x.w = bf16_pair(y[6], y[7]);
	}
	return x;
}

/*
 * Copies `rows` rows of keys, of which `have` exist, by `threads` threads, and as many of values, `values` elements further; the
 * others are zeros.
 */
template <class A>
static __device__ __forceinline__ void
copy_rows(__nv_bfloat16 *to, const __nv_bfloat16 *from, ptrdiff_t values,
    const struct attention &a, unsigned have, unsigned rows, unsigned thread,
    unsigned threads)
{
	constexpr unsigned PIECES = A::SIZE / 8, ACROSS = PIECES == 12 ? 16 : PIECES;
	unsigned row = thread / ACROSS, piece = thread % ACROSS, step = threads / ACROSS;
	const __nv_bfloat16 *at = from + row * a.ldkv + piece * 8;
	int left = a.D - (int)piece * 8;

	if (piece >= PIECES)
		return;
	for (; row < rows; row += step, at += step * a.ldkv) {
		__nv_bfloat16 *into = to + place<A::SIZE>(row, piece);
		if constexpr (A::PLAIN) {
			bool there = row < have && left > 0;
			const __nv_bfloat16 *real = there ? at : from;
			copy_ahead(into, real, there);
			copy_ahead(into + A::VALUES, real + values, there);
		} else {
			int some = row < have ? left : 0;
			*(uint4 *)(void *)into = eight_of<A>(at, some);
			*(uint4 *)(void *)(into + A::VALUES) =
			    eight_of<A>(at + values, some);
		}
	}
}

/* Where a lane reads a tile's first 8 keys (matrix_product's b: rows are keys) and its first 16 values (rows are columns). */
template <int SIZE> struct places {
	int key[2], value[4]; /* columns in turns: 32 in two, 16 in four */

	__device__ __forceinline__
	places()
	{
		unsigned lane = threadIdx.x % WARP;

		key[0] = (int)place<SIZE>(lane / 4, lane % 4);
		key[1] = (int)place<SIZE>(lane / 4, lane % 4 + 4) - 32;
#pragma unroll
		for (int i = 0; i < 4; i++)
			value[i] =
			    (int)place<SIZE>(lane % 16, lane / 16 + 2 * i) - 16 * i;
	}
};

/* Queries in registers, or in shared memory. ---------------------------------------- */

/*
 * The operands of the queries: of step s, columns that are 4 of the lane's 8 of every 32.  Each lane copies what it reads to a place
 * of its own, so that no barrier is needed.
 */
template <class A> struct queries {
	static constexpr int STEPS = A::SIZE / 16;
	unsigned x[A::IN_REGISTERS ? A::TILES * STEPS : 1][4];
	uint4 *own;

	__device__ __forceinline__
	queries(void *memory)
	    : x(), own((uint4 *)memory + threadIdx.x / WARP * (A::TILES * STEPS * WARP) +
		       threadIdx.x % WARP)
	{
	}

	/* Begins to copy the first `have` rows; the others become zeros. */
	__device__ __forceinline__ void
	fetch(const __nv_bfloat16 *q, const struct attention &a, int have)
	{
		int lane = threadIdx.x % WARP;

#pragma unroll
		for (int i = 0; i < A::TILES * STEPS; i++) {
			int m = i / STEPS, c = i % STEPS / 2;
			int row = m * ROWS + i % 2 * 8 + lane / 4;
			int column = c * 32 + lane % 4 * 8;
			int left = row < have ? a.D - column : 0;
			const __nv_bfloat16 *at = q + row * a.ldq + column;
			if constexpr (A::PLAIN)
				copy_ahead(own + i * WARP, left > 0 ? at : q, left > 0);
			else
				own[i * WARP] = eight_of<A>(at, left);
		}
	}

	/* Makes operands of the rows. */
	__device__ __forceinline__ void
	settle()
	{
#pragma unroll
		for (int i = 0; i < A::TILES * STEPS; i += 2) {
			uint4 low = own[i * WARP], high = own[(i + 1) * WARP];
			put(i, low.x, high.x, low.y, high.y);
			put(i + 1, low.z, high.z, low.w, high.w);
		}
	}

	__device__ __forceinline__ void
	put(int i, unsigned x0, unsigned x1, unsigned x2, unsigned x3)
	{
		if constexpr (A::IN_REGISTERS) {
			x[i][0] = single(x0);
			x[i][1] = single(x1);
			x[i][2] = single(x2);
			x[i][3] = single(x3);
		} else
			own[i * WARP] = uint4{ x0, x1, x2, x3 };
	}

	/* x.  An operand must lie in four consecutive registers, and of plain copies nvcc makes one before each product. */
	static __device__ __forceinline__ unsigned
	single(unsigned x)
	{
		return __shfl_sync(ALL_LANES, x, threadIdx.x % WARP);
	}

	__device__ __forceinline__ void
	take(unsigned (&to)[4], int m, int step) const
	{
		if constexpr (A::IN_REGISTERS) {
#pragma unroll
			for (int i = 0; i < 4; i++)
				to[i] = x[m * STEPS + step][i];
		} else {
			uint4 y = own[(m * STEPS + step) * WARP];
			to[0] = y.x;
			to[1] = y.y;
			to[2] = y.z;
			to[3] = y.w;
		}
	}
};

/* A warp's rows: sums, and the products with COUNT keys. ------------------------------ */

template <class A> struct rows_of {
	float values[A::TILES][A::SIZE / 8][4];
	/* of rows g and g + 8 of each tile: the greatest score, never infinite, and the sum of exponentials relative to it */
	float top[A::TILES][2], sum[A::TILES][2];

	__device__ __forceinline__
	rows_of()
	{
#pragma unroll
		for (int m = 0; m < A::TILES; m++) {
			top[m][0] = top[m][1] = -1e30f;
			sum[m][0] = sum[m][1] = 0;
#pragma unroll
			for (int i = 0; i < A::SIZE / 8; i++)
#pragma unroll
				for (int j = 0; j < 4; j++)
					values[m][i][j] = 0;
		}
	}

	/* Products of the queries and COUNT keys. */
	template <int COUNT>
	static __device__ __forceinline__ void
	multiply(float (&p)[A::TILES][COUNT / 8][4], const struct queries<A> &q,
	    const struct places<A::SIZE> &at, const __nv_bfloat16 *keys)
	{
#pragma unroll
		for (int m = 0; m < A::TILES; m++)
#pragma unroll
			for (int n = 0; n < COUNT / 8; n++)
				p[m][n][0] = p[m][n][1] = p[m][n][2] = p[m][n][3] = 0;
#pragma unroll
		for (int c = 0; c < A::SIZE / 32; c++) {
			unsigned x[A::TILES][2][4];
#pragma unroll
			for (int m = 0; m < A::TILES; m++) {
				q.take(x[m][0], m, 2 * c);
				q.take(x[m][1], m, 2 * c + 1);
			}
#pragma unroll
			for (int n = 0; n < COUNT / 8; n++) {
				uint4 y =
				    *(const uint4 *)(const void *)(keys + at.key[c % 2] +
								   8 * n * A::SIZE +
								   32 * c);
#pragma unroll
				for (int m = 0; m < A::TILES; m++) {
					matrix_product(p[m][n], x[m][0], y.x, y.y);
					matrix_product(p[m][n], x[m][1], y.z, y.w);
				}
			}
		}
	}

	/*
	 * Milakov and Gimelshein 2018: p becomes 2^(scale (p - top)), and factor rescales the sums.  fmaf: all plans round alike.
	 */
	template <int COUNT>
	__device__ __forceinline__ void
	weigh(float (&p)[COUNT / 8][4], int m, float scale, float (&factor)[2])
	{
#pragma unroll
		for (int r = 0; r < 2; r++) {
			/* two chains, so that half of the latencies overlap */
			float high = top[m][r], other = high, part[2] = { 0, 0 };
#pragma unroll
			for (int n = 0; n < COUNT / 8; n++) {
				float &most = n % 2 ? other : high;
				most = fmaxf(most, fmaxf(p[n][2 * r], p[n][2 * r + 1]));
			}
			high = fmaxf(high, other);
			high = fmaxf(high, __shfl_xor_sync(ALL_LANES, high, 1));
			high = fmaxf(high, __shfl_xor_sync(ALL_LANES, high, 2));
			float least = -high * scale;
#pragma unroll
			for (int n = 0; n < COUNT / 8; n++)
#pragma unroll
				for (int j = 0; j < 2; j++) {
					float &x = p[n][2 * r + j];
					x = exp2_quick(fmaf(x, scale, least));
					part[j] += x;
				}
			factor[r] = exp2_quick((top[m][r] - high) * scale);
			sum[m][r] = fmaf(sum[m][r], factor[r], part[0] + part[1]);
			top[m][r] = high;
		}
	}

	/* For most tiles there is no greater score. */
	__device__ __forceinline__ void
	rescale(int m, const float (&factor)[2])
	{
		if (!__ballot_sync(ALL_LANES, factor[0] < 1 || factor[1] < 1))
			return;
#pragma unroll
		for (int i = 0; i < A::SIZE / 8; i++)
#pragma unroll
			for (int j = 0; j < 4; j++)
				values[m][i][j] *= factor[j / 2];
	}

	template <int COUNT>
	__device__ __forceinline__ void
	accumulate(const float (&p)[A::TILES][COUNT / 8][4],
	    const struct places<A::SIZE> &at, const __nv_bfloat16 *from)
	{
#pragma unroll
		for (int n = 0; n < COUNT / 8; n += 2) {
			unsigned x[A::TILES][4];
#pragma unroll
			for (int m = 0; m < A::TILES; m++)
#pragma unroll
				for (int i = 0; i < 4; i++)
					x[m][i] = bf16_pair(p[m][n + i / 2][i % 2 * 2],
					    p[m][n + i / 2][i % 2 * 2 + 1]);
#pragma unroll
			for (int d = 0; d < A::SIZE / 8; d += 2) {
				unsigned y[4];
				load_matrices_transposed(y,
				    from + at.value[d / 2 % 4] + 8 * n * A::SIZE + 8 * d);
#pragma unroll
				for (int m = 0; m < A::TILES; m++) {
					matrix_product(values[m][d], x[m], y[0], y[1]);
					matrix_product(
					    values[m][d + 1], x[m], y[2], y[3]);
				}
			}
		}
	}

	/* Takes COUNT keys. */
	template <int COUNT>
	__device__ __forceinline__ void
	attend(const struct queries<A> &q, const struct places<A::SIZE> &at,
	    const struct attention &a, struct score_tile<false> scores, const float *bias,
	    const __nv_bfloat16 *keys)
	{
		float p[A::TILES][COUNT / 8][4], factor[2];

		multiply<COUNT>(p, q, at, keys);
		scores.count = COUNT;
#pragma unroll
		for (int m = 0; m < A::TILES; m++) {
			if (A::PLAIN)
				scores.mask(p[m], a);
			else
				scores.score(p[m], a, bias);
			weigh<COUNT>(p[m], m, A::PLAIN ? a.scale : 1, factor);
			rescale(m, factor);
			scores.row += ROWS;
		}
		accumulate<COUNT>(p, at, keys + A::VALUES);
	}

	/* The result: divides by the sums. */
	__device__ __forceinline__ void
	finish()
	{
#pragma unroll
		for (int m = 0; m < A::TILES; m++)
#pragma unroll
			for (int r = 0; r < 2; r++) {
				float &all = sum[m][r];
				all += __shfl_xor_sync(ALL_LANES, all, 1);
				all += __shfl_xor_sync(ALL_LANES, all, 2);
				/* a query that sees no key has next to nothing */
				float by = all >= 0.5f ? 1 / all : 0;
#pragma unroll
				for (int i = 0; i < A::SIZE / 8; i++) {
					values[m][i][2 * r] *= by;
					values[m][i][2 * r + 1] *= by;
				}
			}
	}

	/* Stores the first `have` rows, of which the first is token t, of head h. */
	__device__ __forceinline__ void
	store(const struct arrays &x, const struct attention &a, size_t t, int h,
	    int have) const
	{
		size_t first = t * a.ldo + (size_t)h * a.D;
		int lane = threadIdx.x % WARP;

#pragma unroll
		for (int m = 0; m < A::TILES; m++)
#pragma unroll
			for (int r = 0; r < 2; r++) {
				int row = m * ROWS + r * 8 + lane / 4;
				size_t at = first + row * a.ldo;
				bool there = row < have;
				if constexpr (A::WIDE)
					store_f32((float *)x.out + at, a, m, r, there);
				else
					store_bf16(
					    (__nv_bfloat16 *)x.out + at, a, m, r, there);
				if (A::WIDE && x.lse && there && lane % 4 == 0)
					x.lse[(t + row) * a.H + h] = lse_of(a, m, r);
			}
	}

	__device__ __forceinline__ float
	lse_of(const struct attention &a, int m, int r) const
	{
		return top[m][r] * (A::PLAIN ? a.scale : 1) * LN_2 + logf(sum[m][r]);
	}

	__device__ __forceinline__ void
	store_f32(float *to, const struct attention &a, int m, int r, bool there) const
	{
#pragma unroll
		for (int i = 0; i < A::SIZE / 8; i++) {
			int column = i * 8 + threadIdx.x % 4 * 2;
			float pair[2] = { values[m][i][2 * r], values[m][i][2 * r + 1] };
			if (there)
				store_some<2>(to + column, pair, a.D - column, A::PLAIN);
		}
	}

	/* Lanes exchange columns, so that each stores 16 bytes at once. */
	__device__ __forceinline__ void
	store_bf16(
	    __nv_bfloat16 *to, const struct attention &a, int m, int r, bool there) const
	{
#pragma unroll
		for (int c = 0; c < A::SIZE / 32; c++) {
			int column = c * 32 + threadIdx.x % 4 * 8;
			unsigned x[4];
#pragma unroll
			for (int i = 0; i < 4; i++)
				x[i] = bf16_pair(values[m][4 * c + i][2 * r],
				    values[m][4 * c + i][2 * r + 1]);
			transpose(x);
			if (there)
				store_eight(to + column, x, a.D - column);
		}
	}

	/* Of four lanes: x[i] of lane t becomes x[t] of lane i. */
	static __device__ __forceinline__ void
	transpose(unsigned (&x)[4])
	{
#pragma unroll
		for (int by = 1; by < 4; by *= 2) {
			bool odd = threadIdx.x & by;
#pragma unroll
			for (int i = 0; i < 4; i++) {
				if (i & by)
					continue;
				unsigned &low = x[i], &high = x[i + by];
				unsigned got =
				    __shfl_xor_sync(ALL_LANES, odd ? low : high, by);
				low = odd ? got : low;
				high = odd ? high : got;
			}
		}
	}

	static __device__ __forceinline__ void
	store_eight(__nv_bfloat16 *to, const unsigned (&x)[4], int left)
	{
		if constexpr (A::PLAIN) {
			if (left > 0)
				*(uint4 *)(void *)to = uint4{ x[0], x[1], x[2], x[3] };
		} else
#pragma unroll
			for (int i = 0; i < 8; i++)
				if (i < left)
					to[i] = half_of(x[i / 2], i % 2);
	}

	/* One of a pair. */
	static __device__ __forceinline__ __nv_bfloat16
	half_of(unsigned pair, int which)
	{
		unsigned bits = which ? pair & 0xffff0000 : pair << 16;
		float x;

		memcpy(&x, &bits, sizeof x);
		return __float2bfloat16_rn(x);
	}
};

/*
 * attention_hopper.cu: the sequences of a.longer tokens and more, of PLAIN arrays.  Returns false if the device or the heads are
 * others.
 */
bool attend_long(const struct arrays &x, const struct attention &a,
    const struct nn_attention *from, bool wide);

#endif
