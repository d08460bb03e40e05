/*
 * Attention of long sequences of bf16 on compute capability 9.0 (Shah et al. 2024, FlashAttention-3).  A warpgroup has 64 queries of
 * one head; the warpgroups of a block share tiles of keys and values, which one more warp copies ahead.  While the tensor cores
 * multiply the next tile's keys and this tile's weights with its values, the warpgroup computes the next tile's weights.
 *
 * Heads are 64 or 128 wide.  Only a sequence's own length decides whether it is computed here, so that a row has the same bits
 * in every batch.
 */
#include "nn/cuda/attention_rows.h"
#include "nn/cuda/hardware_hopper.h"
#include "nn/cuda/tile_map.h"

namespace
{

/* SIZE: columns of a head; WALK: keys of a tile; GROUPS: warpgroups of queries; STAGES: tiles of keys, and of values, in memory. */
template <int SIZE_, int WALK_, int GROUPS_, int STAGES_, int MORE_, int LESS_,
    bool WIDE_>
struct long_plan {
	static constexpr bool PLAIN = true, WIDE = WIDE_;
	static constexpr int SIZE = SIZE_, TILES = 1, WALK = WALK_, STAGES = STAGES_;
	static constexpr int WARPS = 4 * GROUPS_, ALL = WARPS * ROWS;
	static constexpr int MORE = MORE_, LESS = LESS_; /* registers */
	static constexpr int THREADS = (WARPS + 4) * WARP;
	static constexpr int LINE = 128; /* bytes of 64 columns, a row of a tile */
	static constexpr int TILE = WALK * SIZE * 2, QUERIES = ALL * SIZE * 2;
	/* and what aligns the first tile */
	static constexpr int SHARED = 1024 + QUERIES + 2 * STAGES * TILE + 512;
};

struct maps {
	CUtensorMap q, k, v;
};

struct barriers {
	uint64_t queries, keys[4], keys_read[4], values[4], values_read[4];
};

/* Where a block's shared memory has what. */
template <class A> struct memory_of {
	char *queries, *keys, *values;
	struct barriers *at;

	__device__ __forceinline__
	memory_of()
	{
		queries = (char *)shared_memory();
		queries += -(uintptr_t)queries % 1024;
		keys = queries + A::QUERIES;
		values = keys + A::STAGES * A::TILE;
		at = (struct barriers *)(void *)(values + A::STAGES * A::TILE);
	}
};

/* A stage after another; the parity of the phase in which it is full. */
template <class A> struct turns {
	int stage = 0;
	unsigned parity = 0;

	__device__ __forceinline__ void
	next()
	{
		if (++stage == A::STAGES) {
			stage = 0;
			parity ^= 1;
		}
	}
};

/* A block's work: a tile of queries of head h, and the keys that they may see, in tiles. */
struct assignment {
	struct row_tile tile;
	struct key_range range;
	int h, seen, tiles;
};

/* Copies. --------------------------------------------------------------------------- */

/* The tile of `rows` rows from token t and column on. */
template <class A>
static __device__ __forceinline__ void
copy_columns(
    char *to, const CUtensorMap *map, int column, int t, int rows, uint64_t *full)
{
	arrive_expecting(full, rows * A::SIZE * 2);
#pragma unroll
	for (int i = 0; i < A::SIZE / 64; i++)
		copy_tile(to + i * rows * A::LINE, map, column + 64 * i, t, full);
}

/*
 * By the whole warp: a tile of values of which `left` rows exist; the others are zeros, because a weight of 0 times what other sequences
 * have there may be NaN.
 */
template <class A>
static __device__ __forceinline__ void
copy_last(char *to, const __nv_bfloat16 *from, size_t ld, int left, uint64_t *full)
{
	constexpr unsigned PIECES = A::SIZE / 8;

	for (unsigned i = threadIdx.x % WARP; i < A::WALK * PIECES; i += WARP) {
		unsigned row = i / PIECES, piece = i % PIECES;
		bool there = (int)row < left;
		copy_ahead(to + piece / 8 * A::WALK * A::LINE + row * A::LINE +
			       (piece % 8 ^ row % 8) * 16,
		    there ? from + row * ld + piece * 8 : from, there);
	}
	copies_close();
	copies_wait<0>();
	shared_visible();
	__syncwarp();
	if (threadIdx.x % WARP == 0)
		arrive(full);
}

/* The warp that copies. */
template <class A>
static __device__ __forceinline__ void
copy_tiles(const struct maps &maps, const struct arrays &x, const struct attention &a,
    const struct memory_of<A> &memory, const struct assignment &work)
{
	int column = work.h / a.group * a.D, start = work.tile.start;
	bool first = threadIdx.x % WARP == 0;
	struct barriers *at = memory.at;
	struct turns<A> keys, values;

	if (first)
		copy_columns<A>(memory.queries, &maps.q, work.h * a.D,
		    start + work.tile.first, A::ALL, &at->queries);
	for (int j = 0; j <= work.tiles; j++) {
		int key = work.range.from + j * A::WALK;
		if (j < work.tiles) {
			arrival_wait(&at->keys_read[keys.stage], keys.parity ^ 1);
			if (first)
				copy_columns<A>(memory.keys + keys.stage * A::TILE,
				    &maps.k, column, start + key, A::WALK,
				    &at->keys[keys.stage]);
			keys.next();
		}
		if (!j)
			continue;
		/* the values of the tile before */
		key -= A::WALK;
		char *to = memory.values + values.stage * A::TILE;
		uint64_t *full = &at->values[values.stage];
		arrival_wait(&at->values_read[values.stage], values.parity ^ 1);
		if (work.range.to - key < A::WALK)
			copy_last<A>(to,
			    x.v + (size_t)(start + key) * a.ldkv + (size_t)column, a.ldkv,
			    work.range.to - key, full);
		else if (first)
			copy_columns<A>(to, &maps.v, column, start + key, A::WALK, full);
		values.next();
	}
}

/* Products. ------------------------------------------------------------------------- */

template <class A> struct warpgroup {
	struct rows_of<A> rows;
	float p[A::WALK / 8][4], factor[2];
	unsigned weights[A::WALK / 16][4]; /* of the tile before */
	struct turns<A> keys, values;

	/* Begins the products of the queries and a tile of keys. */
	__device__ __forceinline__ void
	multiply(const struct memory_of<A> &memory)
	{
		struct shared_tile q = shared_tile_at(
		    memory.queries + threadIdx.x / (4 * WARP) * 64 * A::LINE);
		struct shared_tile k = shared_tile_at(memory.keys + keys.stage * A::TILE);

		arrival_wait(&memory.at->keys[keys.stage], keys.parity);
		warpgroup_begin();
#pragma unroll
		for (int d = 0; d < A::SIZE / 16; d++)
			warpgroup_product_over<A::WALK>(p,
			    shared_tile_further(q, d / 4 * A::ALL * A::LINE + d % 4 * 32),
			    shared_tile_further(
				k, d / 4 * A::WALK * A::LINE + d % 4 * 32),
			    d > 0);
		warpgroup_close();
	}

	/* Begins to add the weights times their tile of values. */
	__device__ __forceinline__ void
	accumulate(const struct memory_of<A> &memory)
	{
		struct shared_tile v =
		    shared_tile_at(memory.values + values.stage * A::TILE);

		arrival_wait(&memory.at->values[values.stage], values.parity);
		warpgroup_begin();
#pragma unroll
		for (int n = 0; n < A::WALK / 16; n++)
			warpgroup_product_across<A::SIZE>(rows.values[0], weights[n],
			    shared_tile_further(v, n * 16 * A::LINE), A::WALK * A::LINE);
		warpgroup_close();
	}

	static __device__ __forceinline__ void
	release(struct turns<A> &turns, uint64_t *read)
	{
		if (threadIdx.x % WARP == 0)
			arrive(&read[turns.stage]);
		turns.next();
	}

	/* When the products with tile j are there. */
	__device__ __forceinline__ void
	weigh(const struct memory_of<A> &memory, const struct attention &a,
	    const struct assignment &work, int row, int j)
	{
		struct score_tile<false> scores = {
			row, work.range.from + j *A::WALK, A::WALK, work.tile.length,
			    work.seen
		};

		warpgroup_hold(p);
		release(keys, memory.at->keys_read);
		scores.mask(p, a);
		rows.template weigh<A::WALK>(p, 0, a.scale, factor);
	}

	/* When the weights before have been used. */
	__device__ __forceinline__ void
	settle()
	{
		warpgroup_hold(p);
		rows.rescale(0, factor);
#pragma unroll
		for (int n = 0; n < A::WALK / 16; n++)
#pragma unroll
			for (int i = 0; i < 4; i++)
				weights[n][i] = bf16_pair(p[2 * n + i / 2][i % 2 * 2],
				    p[2 * n + i / 2][i % 2 * 2 + 1]);
	}

	/* Waits until a tile of values has been added. */
	__device__ __forceinline__ void
	take(const struct memory_of<A> &memory)
	{
		warpgroup_wait<0>();
		warpgroup_hold(rows.values[0]);
		release(values, memory.at->values_read);
	}

	/* The first `mine` of the block's tiles. */
	__device__ __forceinline__ void
	attend(const struct memory_of<A> &memory, const struct attention &a,
	    const struct assignment &work, int row, int mine)
	{
		arrival_wait(&memory.at->queries, 0);
		multiply(memory);
		warpgroup_wait<0>();
		weigh(memory, a, work, row, 0);
		settle();
		for (int j = 1; j < mine; j++) {
			multiply(memory);
			accumulate(memory);
			warpgroup_wait<1>();
			weigh(memory, a, work, row, j);
			take(memory);
			settle();
		}
		accumulate(memory);
		take(memory);
	}

	/* Tiles that only other warpgroups need. */
	__device__ __forceinline__ void
	leave(const struct memory_of<A> &memory, int count)
	{
		for (int j = 0; j < count; j++) {
			arrival_wait(&memory.at->keys[keys.stage], keys.parity);
			release(keys, memory.at->keys_read);
			arrival_wait(&memory.at->values[values.stage], values.parity);
			release(values, memory.at->values_read);
		}
	}
};

/* Tiles of the block's that the warpgroup's queries may see. */
template <class A>
static __device__ __forceinline__ int
tiles_of_group(const struct attention &a, const struct assignment &work)
{
	int length = work.tile.length;
	int top = work.tile.first + (int)threadIdx.x / (4 * WARP) * 64;
	int last = top + 63 < length ? top + 63 : length - 1;
	struct key_range own = range_of(a, top, last, length, false);
	int to = own.to < work.range.to ? own.to : work.range.to;

	return top < length ? (to - work.range.from + A::WALK - 1) / A::WALK : 0;
}

template <class A>
__global__ void
__launch_bounds__(A::THREADS, 1)
    attend(__grid_constant__ const struct maps maps, struct arrays x, struct attention a)
{
	struct memory_of<A> memory;
	struct assignment work = {};
	int number = (int)(a.causal ? gridDim.x - 1 - blockIdx.x : blockIdx.x);
	int warp = threadIdx.x / WARP;

	if (!find_tile(&work.tile, a.starts, a.N, A::ALL, number) ||
	    work.tile.length < a.longer)
		return;
	int length = work.tile.length, next = work.tile.first + A::ALL;
	work.h = (int)blockIdx.y;
	work.seen = keys_of(a, work.tile.sequence, length);
	work.range = range_of(
	    a, work.tile.first, next < length ? next - 1 : length - 1, length, false);
	work.range.from = work.range.from / A::WALK * A::WALK;
	if (work.range.to > work.seen)
		work.range.to = work.seen;
	if (work.range.to <= work.range.from)
		work.range.to = work.range.from + 1; /* none is seen */
	work.tiles = (work.range.to - work.range.from + A::WALK - 1) / A::WALK;
	if (!threadIdx.x) {
		arrival_start(&memory.at->queries, 1);
		for (int i = 0; i < A::STAGES; i++) {
			arrival_start(&memory.at->keys[i], 1);
			arrival_start(&memory.at->values[i], 1);
			arrival_start(&memory.at->keys_read[i], A::WARPS);
			arrival_start(&memory.at->values_read[i], A::WARPS);
		}
		arrivals_started();
	}
	__syncthreads();
	if (warp >= A::WARPS) {
		registers_less<A::LESS>();
		if (warp == A::WARPS)
			copy_tiles<A>(maps, x, a, memory, work);
	} else {
		int row = work.tile.first + warp * ROWS;
		int mine = tiles_of_group<A>(a, work);
		struct warpgroup<A> group;
		registers_more<A::MORE>();
		if (mine > 0)
			group.attend(memory, a, work, row, mine);
		group.leave(memory, work.tiles - (mine > 0 ? mine : 0));
		group.rows.finish();
		if (row < length)
			group.rows.store(
			    x, a, (size_t)work.tile.start + row, work.h, length - row);
	}
}

template <class A>
void
launch(const struct arrays &x, const struct attention &a, const struct nn_attention *from)
{
	size_t T = from->sequences.T;
	struct maps maps;

	tile_map(&maps.q, x.q, T, from->H * from->D, from->ldq, A::ALL);
	tile_map(&maps.k, x.k, T, from->K * from->D, from->ldkv, A::WALK);
	tile_map(&maps.v, x.v, T, from->K * from->D, from->ldkv, A::WALK);
	device_launch_clusters(1, attend<A>,
	    dim3(count_tiles(&from->sequences, A::ALL), (unsigned)from->H), A::THREADS,
	    A::SHARED, maps, x, a);
}
} // namespace

bool
attend_long(const struct arrays &x, const struct attention &a,
    const struct nn_attention *from, bool wide)
{
	if (!has_tile_maps() || (from->D != 64 && from->D != 128))
		return false;
	if (from->D == 64 && wide)
		launch<long_plan<64, 128, 3, 2, 160, 32, true>>(x, a, from);
	else if (from->D == 64)
		launch<long_plan<64, 128, 3, 2, 160, 32, false>>(x, a, from);
	else if (wide)
		launch<long_plan<128, 64, 3, 3, 160, 32, true>>(x, a, from);
	else
		launch<long_plan<128, 64, 3, 3, 160, 32, false>>(x, a, from);
	return true;
}
