#include <climits>

#include "nn/cuda/device.h"
#include "nn/cuda/hardware_hopper.h"
#include "nn/cuda/tile_map.h"
#include "nn/cuda/hopper_epilogue.h"
extern "C" {
#include "nn/cuda/gemm_hopper.h"
}

namespace
{

/*
 * A block has three warpgroups.  A thread of the first copies tiles of x and w to a ring of stages in shared memory; the other two
 * multiply, each a tile of its own: while one writes its results, the other has the tensor cores.  The two blocks of a cluster have
 * neighbouring columns of the same rows; each copies half of those rows to both.
 */
constexpr int WARPGROUP = 128, THREADS = 3 * WARPGROUP, CLUSTER = 2;
constexpr int HIGH = 64 * TALL; /* rows of a tile */
constexpr int SHARE = HIGH / CLUSTER;
constexpr int DEEP = 64;	       /* columns of a stage */
constexpr int ROW = DEEP * 2;	       /* bytes */
constexpr int MOST_SHARED = 227 << 10; /* of a block of this device */
constexpr int FEW = 4, MANY = 64; /* parts of a launch: of its small or large table */

/* WIDE: columns of a tile. */
template <int WIDE_> struct shape {
	static constexpr int WIDE = WIDE_;
	static constexpr int STAGE = (HIGH + WIDE) * ROW; /* bytes */
	static constexpr int STAGES = (MOST_SHARED - 512 - 8 * STAGED_WARP) / STAGE;
	static constexpr int STAGED = STAGES * STAGE, BARRIERS = STAGED + 8 * STAGED_WARP;
	static constexpr int SHARED = BARRIERS + 512;
};

/* Parts of a launch.  Parts of the same rows form a strip, whose tiles go along its rows, so that x is read once. */
template <int MOST> struct job {
	CUtensorMap x, w[MOST], gate[MOST];
	struct part parts[MOST];
	int first[MOST + 1], tiles[MOST + 1]; /* of each strip: part, tile of a cluster */
	int across[MOST];		      /* tiles of a cluster in a row of a strip */
	int strips, steps;
	size_t ldy;
};

struct barriers {
	uint64_t full[16], empty[16], turn[2];
};

struct tile_place {
	int part, row, column;
};

template <class S, bool GATED, class J>
__device__ __forceinline__ struct tile_place
place_of(const J &job, int tile, int rank)
{
	int s = segment_of(job.tiles, job.strips, tile), part = job.first[s];
	int local = tile - job.tiles[s], across = local % job.across[s];

	while (part + 1 < job.first[s + 1] && across >= job.parts[part + 1].across)
		part++;
	return { part, job.parts[part].row + local / job.across[s] * HIGH,
		((across - job.parts[part].across) * CLUSTER + rank) *
		    (GATED ? S::WIDE / 2 : S::WIDE) };
}

/* A position in the ring of stages. */
template <class S> struct ring {
	int stage = 0;
	unsigned parity = 0;

	__device__ __forceinline__ void
	next()
	{
		if (++stage == S::STAGES) {
			stage = 0;
			parity ^= 1;
		}
	}
	__device__ __forceinline__ void
	skip(int steps)
	{
		stage += steps;
		parity ^= stage / S::STAGES & 1;
		stage %= S::STAGES;
	}
};

/* By one thread. */
template <class S, bool GATED, class J>
__device__ __forceinline__ void
copy_tiles(const J &job, char *memory, struct barriers *at, int rank, int first, int by)
{
	struct ring<S> ring;

	for (int tile = first; tile < job.tiles[job.strips]; tile += by) {
		struct tile_place place = place_of<S, GATED>(job, tile, rank);
		const CUtensorMap *w = &job.w[place.part], *gate = &job.gate[place.part];
		if (tile + by < job.tiles[job.strips]) {
			int next = place_of<S, GATED>(job, tile + by, rank).part;
			copy_tile_soon(&job.w[next]);
			if (GATED)
				copy_tile_soon(&job.gate[next]);
		}
		for (int k = 0; k < job.steps; k++, ring.next()) {
			char *x = memory + ring.stage * S::STAGE;
			char *to = x + HIGH * ROW;
			uint64_t *full = &at->full[ring.stage];
			arrival_wait(&at->empty[ring.stage], ring.parity ^ 1);
			arrive_expecting(full, S::STAGE);
			copy_tile_to(x + rank * SHARE * ROW, &job.x, k * DEEP,
			    place.row + rank * SHARE, full, (1 << CLUSTER) - 1);
			copy_tile(to, w, k * DEEP, place.column, full);
			if (GATED)
				copy_tile(to + S::WIDE / 2 * ROW, gate, k * DEEP,
				    place.column, full);
		}
	}
}

/* Lets the blocks of the cluster copy to this stage again, as far as this warp goes. */
__device__ __forceinline__ void
release(struct barriers *at, int stage)
{
	unsigned lane = threadIdx.x % WARP;

	if (lane < CLUSTER)
		arrive_at(&at->empty[stage], lane);
}

/* Begins to add a stage's products, of the first BLOCKS of 64 rows. */
template <class S, int BLOCKS>
__device__ __forceinline__ void
add_stage(float (&sums)[TALL][S::WIDE / 2], const struct ring<S> &ring, char *memory,
    struct barriers *at)
{
	char *x = memory + ring.stage * S::STAGE;
	struct shared_tile a = shared_tile_at(x), b = shared_tile_at(x + HIGH * ROW);

	arrival_wait(&at->full[ring.stage], ring.parity);
#pragma unroll
	for (int m = 0; m < BLOCKS; m++)
		warpgroup_hold(sums[m]);
	warpgroup_begin();
#pragma unroll
	for (int i = 0; i < DEEP / 16; i++)
#pragma unroll
		for (int m = 0; m < BLOCKS; m++)
			warpgroup_product<S::WIDE>(sums[m],
			    shared_tile_further(a, m * 64 * ROW + 32 * i),
			    shared_tile_further(b, 32 * i));
	warpgroup_close();
#pragma unroll
	for (int m = 0; m < BLOCKS; m++)
		warpgroup_hold(sums[m]);
}

/* Sums a tile over all of its steps. */
template <class S, int BLOCKS>
__device__ __forceinline__ void
multiply(float (&sums)[TALL][S::WIDE / 2], struct ring<S> &ring, char *memory,
    struct barriers *at, int group, int steps)
{
	int last = ring.stage;

	/* outside of the loop, or the compiler has each product wait for the one before */
	add_stage<S, BLOCKS>(sums, ring, memory, at);
	ring.next();
	for (int k = 1; k < steps; k++) {
		add_stage<S, BLOCKS>(sums, ring, memory, at);
		warpgroup_wait<1>();
		release(at, last);
		last = ring.stage;
		ring.next();
	}
	if (!(threadIdx.x % WARP))
		arrive(&at->turn[!group]);
	warpgroup_wait<0>();
#pragma unroll
	for (int m = 0; m < BLOCKS; m++)
		warpgroup_hold(sums[m]);
	release(at, last);
	/* never; without a branch the compiler lets go of the stage after the epilogue's arithmetic */
	if (steps < 0)
		__trap();
}

template <class S, class E, class J>
__device__ __forceinline__ void
compute_tiles(const J &job, char *memory, struct barriers *at, int group, int rank,
    int first, int by)
{
	int warp = (int)threadIdx.x / WARP - 4;
	char *staged = memory + S::STAGED + warp * STAGED_WARP;
	float sums[TALL][S::WIDE / 2];
	struct ring<S> ring;
	unsigned parity = group ? 0 : 1; /* the first turn is the first warpgroup's */

	if (group)
		ring.skip(job.steps);
	for (int tile = first + group * by; tile < job.tiles[job.strips];
	     tile += 2 * by) {
		struct tile_place place = place_of<S, E::GATED>(job, tile, rank);
		const struct part &part = job.parts[place.part];
		begin<S::WIDE, E>(sums, part, place.column);
		arrival_wait(&at->turn[group], parity);
		parity ^= 1;
		/* the last rows of a group are often few */
		int blocks = place.row + 64 < part.rows_end ? TALL : 1;
		if (blocks == 1)
			multiply<S, 1>(sums, ring, memory, at, group, job.steps);
		else
			multiply<S, TALL>(sums, ring, memory, at, group, job.steps);
		ring.skip(job.steps);
		int row = place.row + warp % 4 * 16;
		/* a loop, so that its instructions fit the cache */
#pragma unroll 1
		for (int m = 0; m < blocks; m++) {
			write_rows<S::WIDE, E>(
			    sums[0], staged, part, job.ldy, row + 64 * m, place.column);
#pragma unroll
			for (int i = 0; i < S::WIDE / 2; i++)
				sums[0][i] = sums[1][i];
		}
	}
}

template <class S, class E, class J>
__global__ void
__launch_bounds__(THREADS, 1) products(const __grid_constant__ J job)
{
	char *memory = (char *)shared_memory();
	struct barriers *at = (struct barriers *)(memory + S::BARRIERS);
	int group = __shfl_sync(ALL_LANES, (int)threadIdx.x / WARPGROUP, 0);
	int rank = (int)cluster_rank();
	int first = (int)blockIdx.x / CLUSTER, by = (int)gridDim.x / CLUSTER;

	if (!threadIdx.x) {
		for (int i = 0; i < S::STAGES; i++) {
			arrival_start(&at->full[i], 1);
			arrival_start(&at->empty[i], 4 * CLUSTER); /* warps */
		}
		arrival_start(&at->turn[0], 4);
		arrival_start(&at->turn[1], 4);
		arrivals_started();
	}
	cluster_barrier();
	if (!group) {
		registers_less<40>();
		if (!threadIdx.x)
			copy_tiles<S, E::GATED>(job, memory, at, rank, first, by);
	} else {
		registers_more<232>();
		compute_tiles<S, E>(job, memory, at, group - 1, rank, first, by);
	}
	cluster_barrier();
}

size_t
up(size_t n, size_t by)
{
	return (n + by - 1) / by;
}

/* Launches some parts, whose first row of x is `row` of `rows`; returns the row after their last. */
template <class S, class E, int MOST>
size_t
launch(const struct hopper_gemm *p, const struct hopper_part *parts, size_t count,
    size_t row, size_t rows)
{
	typedef struct job<MOST> table;
	table job = {};
	size_t outputs = E::GATED ? S::WIDE / 2 : S::WIDE, first = row;

	job.steps = (int)up(p->C, DEEP);
	job.ldy = p->ldy;
	tile_map(&job.x, p->x, rows, p->C, p->ldx, SHARE);
	for (size_t i = 0; i < count; i++) {
		const struct hopper_part *from = &parts[i];
		bool again = from->again && i;
		int s = again ? job.strips - 1 : job.strips++;
		if (!from->again) {
			first = row;
			row += from->rows;
		} else if (!i) /* of a part of the launch before */
			first = row - from->rows;
		job.parts[i] = { from->bias, from->gate_bias,
			(__nv_bfloat16 *)p->y + from->column, (int)first, (int)row,
			(int)from->O, again ? job.across[s] : 0 };
		job.across[s] += (int)up(from->O, outputs * CLUSTER);
		if (!again)
			job.first[s] = (int)i;
		job.first[s + 1] = (int)i + 1;
		job.tiles[s + 1] =
		    job.tiles[s] + job.across[s] * (int)up(from->rows, HIGH);
		tile_map(&job.w[i], from->w, from->O, p->C, p->ldw, (int)outputs);
		if (E::GATED)
			tile_map(&job.gate[i], from->gate, from->O, p->C, p->ldw,
			    (int)outputs);
	}
	unsigned clusters = device_size() / CLUSTER,
		 all = (unsigned)job.tiles[job.strips];
	device_launch_clusters(CLUSTER, products<S, E, table>,
	    (clusters < all ? clusters : all) * CLUSTER, THREADS, S::SHARED, job);
	return row;
}

template <class S, class E>
void
launch_parts(const struct hopper_gemm *p)
{
	size_t row = 0, rows = 0, some;

	for (size_t i = 0; i < p->count; i++)
		rows += p->parts[i].again ? 0 : p->parts[i].rows;
	for (size_t i = 0; i < p->count; i += some) {
		const struct hopper_part *from = p->parts + i;
		some = p->count - i < MANY ? p->count - i : MANY;
		row = some <= FEW ? launch<S, E, FEW>(p, from, some, row, rows)
				  : launch<S, E, MANY>(p, from, some, row, rows);
	}
}

/* The time of a launch by tiles of so many columns, in columns: a multiprocessor computes its tiles one after another. */
size_t
time_of(const struct hopper_gemm *p, size_t wide)
{
	size_t tiles = 0, outputs = p->epilogue == HOPPER_GATED ? wide / 2 : wide;

	for (size_t i = 0; i < p->count; i++)
		tiles += up(p->parts[i].rows, HIGH) *
			 up(p->parts[i].O, outputs * CLUSTER) * CLUSTER;
	/* measured on an H100: a column of narrow tiles takes 3 % more */
	return up(tiles, device_size()) * wide * (wide == 128 ? 103 : 100);
}

template <class E>
void
with_shape(const struct hopper_gemm *p)
{
	if (p->wide ? p->wide == 128 : time_of(p, 128) < time_of(p, 192))
		launch_parts<shape<128>, E>(p);
	else
		launch_parts<shape<192>, E>(p);
}

template <template <enum nn_act> class E>
void
with_act(const struct hopper_gemm *p)
{
	switch (p->act) {
	case NN_GELU: return with_shape<E<NN_GELU>>(p);
	case NN_SILU: return with_shape<E<NN_SILU>>(p);
	case NN_GELU_TANH: return with_shape<E<NN_GELU_TANH>>(p);
	case NN_RELU: return with_shape<E<NN_RELU>>(p);
	default: die("hopper_gemm: activation %d", (int)p->act);
	}
}

bool
acts(const struct hopper_gemm *p)
{
	return p->epilogue == HOPPER_PLAIN || p->act == NN_GELU ||
	       p->act == NN_GELU_TANH || p->act == NN_SILU || p->act == NN_RELU;
}
} // namespace

bool
hopper_supports(const struct hopper_gemm *p)
{
	auto aligned = [](const void *at, size_t stride) {
		return (uintptr_t)at % 16 == 0 && stride % 8 == 0;
	};

	if (!has_tile_maps() || !p->C || !acts(p) || !aligned(p->x, p->ldx) ||
	    !aligned(p->y, p->ldy))
		return false;
	for (size_t i = 0; i < p->count; i++) {
		const struct hopper_part *part = &p->parts[i];
		if (!aligned(part->w, p->ldw) || !aligned(part->gate, part->O) ||
		    part->column % 8 || (uintptr_t)part->bias % 8 ||
		    (uintptr_t)part->gate_bias % 8 || part->rows > INT_MAX / 2)
			return false;
	}
	return true;
}

void
hopper_gemm(const struct hopper_gemm *p)
{
	if (!hopper_supports(p))
		die("hopper_gemm: this device, activation or alignment is not served");
	switch (p->epilogue) {
	case HOPPER_PLAIN: return with_shape<plain>(p);
	case HOPPER_ACTIVATE: return with_act<activate>(p);
	case HOPPER_GATED: return with_act<gated>(p);
	}
}
