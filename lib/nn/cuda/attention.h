/*
 * attention - shared by the forward and the backward of attention; only they include it.
 *
 * Queries walk over tiles of keys with online softmax; in the backward, keys also walk over queries.  A warp's scores and sums lie in
 * registers in the layout of tensor cores (hardware.h): lane 4 g + t has columns 2 t and 2 t + 1 of every eight, of row g and of
 * row g + 8.  attention_tiles.h: products of f32 arrays, and the backward; attention_rows.h: products of bf16 arrays.
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
	int N, H, K, D, group, window, longest; /* group: H / K */
	float scale;
	int longer; /* sequences of so many tokens are another kernel's (attention_bf16.cu) */
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

/* Scores. -------------------------------------------------------------------------- */

/* The rows from..to-1 of a sequence. */
struct key_range {
	int from, to;
};

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

	/* True if any query may see a key; of so many rows. */
	template <int COUNT = ROWS>
	__device__ __forceinline__ bool
	any(const struct attention &a) const
	{
		int high = greatest() + (TRANSPOSED ? 0 : COUNT - ROWS);

		return row < length && (!a.causal || high >= 0) && high >= -a.window &&
		       least() <= a.window;
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
		int from = distance(threadIdx.x % WARP);

#pragma unroll
		for (int n = 0; n < COUNT; n++) {
			if (8 * n >= count)
				break;
#pragma unroll
			for (int e = 0; e < 4; e++) {
				p[n][e] *= a.scale;
				if (bias)
					p[n][e] += biased(bias, a, from + ahead(n, e));
			}
		}
		mask(p, a);
	}

	/* The columns from..to-1 that row `at` of the sequence may have: keys that a query sees, or queries that see a key. */
	__device__ __forceinline__ struct key_range
	visible(const struct attention &a, int at) const
	{
		struct key_range range = { 0, TRANSPOSED ? length : keys };

		if (at > a.window)
			range.from = at - a.window;
		if (range.to - at > a.window)
			range.to = at + a.window + 1;
		if (a.causal && TRANSPOSED && range.from < at)
			range.from = at;
		if (a.causal && !TRANSPOSED && range.to > at + 1)
			range.to = at + 1;
		if (TRANSPOSED && at >= keys)
			range.to = 0;
		return range;
	}

	/* Minus infinity for the keys that a query may not see. */
	template <int COUNT>
	__device__ __forceinline__ void
	mask(float (&p)[COUNT][4], const struct attention &a) const
	{
		int lane = threadIdx.x % WARP, first = column + lane % 4 * 2;

		if (all(a))
			return;
#pragma unroll
		for (int r = 0; r < 2; r++) {
			struct key_range range = visible(a, row + lane / 4 + 8 * r);
			int from = range.from - first, to = range.to - first;
#pragma unroll
			for (int i = 0; i < 2 * COUNT; i++)
				if (8 * (i / 2) + i % 2 >= to)
					p[i / 2][2 * r + i % 2] = -INFINITY;
			if (from <= 0)
				continue;
#pragma unroll
			for (int i = 0; i < 2 * COUNT; i++)
				if (8 * (i / 2) + i % 2 < from)
					p[i / 2][2 * r + i % 2] = -INFINITY;
		}
	}

	/* i - j of the lane's first element; how much that of element e of every eight columns n differs from it. */
	__device__ __forceinline__ int
	distance(int lane) const
	{
		return (TRANSPOSED ? column - row : row - column) +
		       (TRANSPOSED ? -1 : 1) * (lane / 4 - lane % 4 * 2);
	}
	static __device__ __forceinline__ int
	ahead(int n, int e)
	{
		return (TRANSPOSED ? -1 : 1) * (e / 2 * 8 - (8 * n + e % 2));
	}

	/* Keys beyond the sequence may have a distance outside the table. */
	static __device__ __forceinline__ float
	biased(const float *bias, const struct attention &a, int ahead)
	{
		ahead = ahead < -a.longest ? -a.longest : ahead;
		ahead = ahead >= a.longest ? a.longest - 1 : ahead;
		return bias[ahead] * LOG2_E;
	}
};

static __device__ __forceinline__ const float *
bias_of(const struct attention &a, int h)
{
	return a.bias ? a.bias + ((size_t)2 * h + 1) * a.longest : nullptr;
}

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
	a.group = (int)(from->H / from->K);
	a.window =
	    from->window && from->window < INT32_MAX ? (int)from->window : INT32_MAX;
	a.longest = (int)sequences->longest;
	a.scale = scale * LOG2_E;
	a.longer = INT32_MAX;
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
