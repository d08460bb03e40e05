/*
 * attention - shared by the forward and the backward of attention; only they include it.
 *
 * Tiled attention with online softmax.  A team of warps owns a tile of rows of one head of one sequence, 16 rows a warp, and
 * walks over tiles of the other side: queries walk keys, and in the backward keys also walk queries.  All tiles lie in shared
 * memory.  A warp's scores and sums lie in registers in the layout of tensor cores (hardware.h): lane 4 g + t has columns 2 t
 * and 2 t + 1 of every eight, of row g and of row g + 8.  f32_math and bf16_math are the two GEMMs of a tile in either
 * precision; all else is the same for both.
 *
 * The warps of a block are one team; if the sequence is so short that most warps would have no rows, they are several teams,
 * each with its own head.  Beside the sequence itself, only its length decides a row's bits.
 */
#ifndef NN_CUDA_ATTENTION_H
#define NN_CUDA_ATTENTION_H

#include <type_traits>

#include "nn/cuda/device.h"

constexpr int ROWS = 16; /* of a warp */
/* Scores are stored times log2 e, because a device computes powers of two. */
constexpr float LOG2_E = 1.44269504f, LN_2 = 0.693147181f;

/* struct nn_attention as the kernels take it. */
struct attention {
	const int32_t *starts;
	const int32_t *attended; /* nn_sequences; nullptr: all keys */
	const float *bias;
	size_t ldq, ldkv, ldo;
	int N, H, K, D, window, longest;
	float scale;
	bool causal;
	bool vectors; /* rows of q, k, v begin on 16 bytes, and so do heads */
};

/* Tiles. --------------------------------------------------------------------------- */

/* Rows of a sequence from `first` on. */
struct row_tile {
	int sequence, start, length, first;
};

/*
 * Numbers the tiles of `rows` rows without a table: those of sequence i begin at starts[i] / rows + i, which leaves enough
 * numbers for each.  Returns false for a number that no tile has.  Called by whole warps, which search 32 sequences at a time.
 */
static __device__ __forceinline__ bool
find_tile(struct row_tile *tile, const int32_t *starts, int N, int rows, int number)
{
	int low = 0, high = N, lane = threadIdx.x % WARP;

	while (high - low > 1) {
		int step = (high - low + WARP - 1) / WARP, at = low + lane * step;
		bool before = at < high && starts[at] / rows + at <= number;
		low += (__popc(__ballot_sync(ALL_LANES, before)) - 1) * step;
		high = low + step < high ? low + step : high;
	}
	tile->sequence = low;
	tile->start = starts[low];
	tile->length = starts[low + 1] - tile->start;
	tile->first = (number - tile->start / rows - low) * rows;
	return tile->first < tile->length;
}

/* How many numbers there are. */
static inline unsigned
count_tiles(const struct nn_sequences *sequences, size_t rows)
{
	return (unsigned)(sequences->T / rows + sequences->N);
}

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

/* Four columns, of which `left` exist; the others are zeros. */
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

/* Loads `rows` rows, of which `have` exist; the others are zeros.  Each thread has several reads in flight. */
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

/* Stores COUNT columns of a row, of which `left` exist. */
template <int COUNT>
static __device__ __forceinline__ void
store_some(float *to, const float (&x)[COUNT], int left, bool vectors)
{
	if (vectors && left >= COUNT) {
		if constexpr (COUNT == 4)
			*(float4 *)to = make_float4(x[0], x[1], x[2], x[3]);
		else
			*(float2 *)to = make_float2(x[0], x[1]);
		return;
	}
#pragma unroll
	for (int i = 0; i < COUNT; i++)
		if (i < left)
			to[i] = x[i];
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

/* Scores. -------------------------------------------------------------------------- */

/* The scores of a warp's rows, from `row` on, with `count` columns from `column` on; TRANSPOSED: the rows are keys. */
template <bool TRANSPOSED> struct score_tile {
	int row, column, count, length;
	int keys; /* keys that attention sees, at most length */

	/* The least and the greatest of i - j, query less key. */
	__device__ __forceinline__ int
	least() const
	{
		return TRANSPOSED ? column - (row + ROWS - 1)
				  : row - (column + count - 1);
	}
	__device__ __forceinline__ int
	greatest() const
	{
		return TRANSPOSED ? column + count - 1 - row : row + ROWS - 1 - column;
	}

	/* True if any query may see a key. */
	__device__ __forceinline__ bool
	any(const struct attention &a) const
	{
		return row < length && (!a.causal || greatest() >= 0) &&
		       greatest() >= -a.window && least() <= a.window;
	}

	/* True if all queries may see all keys, and all keys exist. */
	__device__ __forceinline__ bool
	all(const struct attention &a) const
	{
		int last = TRANSPOSED ? row + ROWS : column + count;

		return last <= (TRANSPOSED ? length : keys) &&
		       (!a.causal || least() >= 0) && greatest() <= a.window &&
		       least() >= -a.window;
	}

	/* From products to scores, times log2 e: scales, adds the bias (of the head, at distance 0) and masks with minus infinity. */
	template <int COUNT>
	__device__ __forceinline__ void
	score(float (&p)[COUNT][4], const struct attention &a, const float *bias) const
	{
		int lane = threadIdx.x % WARP;
		int from = (TRANSPOSED ? column - row : row - column) +
			   (TRANSPOSED ? -1 : 1) * (lane / 4 - lane % 4 * 2);
		bool masked = !all(a);

#pragma unroll
		for (int n = 0; n < COUNT; n++) {
			if (8 * n >= count)
				break;
#pragma unroll
			for (int e = 0; e < 4; e++) {
				constexpr int SIGN = TRANSPOSED ? -1 : 1;
				int ahead = from + SIGN * (e / 2 * 8 - (8 * n + e % 2));
				p[n][e] *= a.scale;
				if (bias)
					p[n][e] += biased(bias, a, ahead);
				if (masked)
					p[n][e] = seen(a, ahead, lane, n, e) ? p[n][e]
									     : -INFINITY;
			}
		}
	}

	/* Keys beyond the sequence may have a distance outside the table. */
	static __device__ __forceinline__ float
	biased(const float *bias, const struct attention &a, int ahead)
	{
		ahead = ahead < -a.longest ? -a.longest : ahead;
		ahead = ahead >= a.longest ? a.longest - 1 : ahead;
		return bias[ahead] * LOG2_E;
	}

	__device__ __forceinline__ bool
	seen(const struct attention &a, int ahead, int lane, int n, int e) const
	{
		int key = TRANSPOSED ? row + lane / 4 + e / 2 * 8
				     : column + 8 * n + lane % 4 * 2 + e % 2;

		return key < keys && (!a.causal || ahead >= 0) && ahead <= a.window &&
		       ahead >= -a.window;
	}
};

static __device__ __forceinline__ const float *
bias_of(const struct attention &a, int h)
{
	return a.bias ? a.bias + ((size_t)2 * h + 1) * a.longest : nullptr;
}

/* The rows from..to-1 of a sequence. */
struct key_range {
	int from, to;
};

/* The keys that queries first..last may see, or, transposed, the queries that may see those keys. */
static __device__ __forceinline__ struct key_range
range_of(const struct attention &a, int first, int last, int length, bool transposed)
{
	struct key_range range = { 0, length };

	if (first > a.window)
		range.from = first - a.window;
	if (length - last > a.window)
		range.to = last + a.window + 1;
	if (a.causal && !transposed)
		range.to = last + 1;
	if (a.causal && transposed)
		range.from = first;
	range.to = range.to < length ? range.to : length;
	return range;
}

/* The keys of a sequence that attention sees. */
static __device__ __forceinline__ int
keys_of(const struct attention &a, int sequence, int length)
{
	int keys = a.attended ? a.attended[sequence] : length;

	return keys < length ? keys : length;
}

/* Rows of the next tile to walk, rounded up to a multiple of 16. */
static __device__ __forceinline__ int
next_rows(int left, int walk)
{
	return left < walk ? (left + ROWS - 1) / ROWS * ROWS : walk;
}

/* The host's side. ----------------------------------------------------------------- */

static inline struct attention
attention_of(const struct nn_attention *from)
{
	struct attention a = {};
	const struct nn_sequences *sequences = &from->sequences;
	float scale = from->scale != 0 ? from->scale : 1 / sqrtf((float)from->D);

	a.starts = sequences->starts;
	a.attended = sequences->attended;
	a.bias = from->bias;
	a.ldq = from->ldq;
	a.ldkv = from->ldkv;
	a.ldo = from->H * from->D;
	a.N = (int)sequences->N;
	a.H = (int)from->H;
	a.K = (int)from->K;
	a.D = (int)from->D;
	a.window =
	    from->window && from->window < INT32_MAX ? (int)from->window : INT32_MAX;
	a.longest = (int)sequences->longest;
	a.scale = scale * LOG2_E;
	a.causal = from->causal;
	a.vectors = from->D % 4 == 0 && from->ldq % 4 == 0 && from->ldkv % 4 == 0;
	return a;
}

static inline bool
is_aligned(const float *x)
{
	return (uintptr_t)x % 16 == 0;
}

/* Calls launch with the columns of a head's tile as a type. */
template <class F>
static inline void
with_size(size_t D, F launch)
{
	if (D <= 32)
		launch(std::integral_constant<int, 32>());
	else if (D <= 64)
		launch(std::integral_constant<int, 64>());
	else if (D <= 96)
		launch(std::integral_constant<int, 96>());
	else if (D <= 128)
		launch(std::integral_constant<int, 128>());
	else
		launch(std::integral_constant<int, 256>());
}

#endif
