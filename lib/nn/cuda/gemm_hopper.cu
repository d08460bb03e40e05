#include <climits>

#include "nn/cuda/device.h"
#include "nn/cuda/hardware_hopper.h"
#include "nn/cuda/hopper_epilogue.h"
extern "C" {
#include "nn/cuda/gemm_hopper.h"
}

namespace
{

/*
 * A block has three warpgroups.  A thread of the first copies tiles of x and w to a ring of stages in shared memory; the other two
 * multiply.  Each of the two has its own tile of y, and while one multiplies the other writes its results (SHARED_TILE false); or both
 * have half of the rows of one.  The blocks of a cluster have neighbouring columns of the same rows of x, of which each copies its part
 * to all.
 */
constexpr int WARPGROUP = 128, THREADS = 3 * WARPGROUP;
constexpr int DEEP = 64;	       /* columns of a stage: 128 bytes */
constexpr int ROW = DEEP * 2;	       /* bytes */
constexpr int MOST_SHARED = 227 << 10; /* of a block of this device */
constexpr size_t FEW = 4;	       /* parts of a launch with a small table */

template <int BLOCKS_OF_64, int WIDE_, bool SHARED_TILE_, int CLUSTER_, int EARLY_>
struct shape {
	static constexpr int CLUSTER = CLUSTER_, WIDE = WIDE_, M = BLOCKS_OF_64;
	static constexpr bool SHARED_TILE = SHARED_TILE_;
	static constexpr int EARLY =
	    EARLY_; /* steps before the last, when the other may multiply */
	static constexpr int HIGH = 64 * M * (SHARED_TILE ? 2 : 1); /* rows of a tile */
	static constexpr int STAGE = (HIGH + WIDE) * ROW;	    /* bytes */
	/* columns that a warp writes at once, through shared memory */
	static constexpr int STAGED = 64;
	static constexpr int STAGED_ROW =
	    STAGED * 2 + 16; /* bytes; an odd multiple of 16 */
	static constexpr int WARP_STAGED = 16 * STAGED_ROW;
	static constexpr int STAGES = (MOST_SHARED - 512 - 8 * WARP_STAGED) / STAGE;
	static constexpr int BARRIERS = STAGES * STAGE + 8 * WARP_STAGED;
	static constexpr int SHARED = BARRIERS + 512;
};

/* Parts of a launch; the first cluster tile of each. */
template <int MOST> struct job {
	CUtensorMap x, w[MOST], gate[MOST];
	struct part parts[MOST];
	int tiles[MOST + 1];
	int count, steps;
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
	int s = segment_of(job.tiles, job.count, tile);
	int local = tile - job.tiles[s], across = job.parts[s].across;
	int outputs = GATED ? S::WIDE / 2 : S::WIDE;

	return { s, job.parts[s].row + local / across * S::HIGH,
		(local % across * S::CLUSTER + rank) * outputs };
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
	constexpr int SHARE = S::HIGH / S::CLUSTER;
	struct ring<S> ring;

	for (int tile = first; tile < job.tiles[job.count]; tile += by) {
		struct tile_place place = place_of<S, GATED>(job, tile, rank);
		const CUtensorMap *w = &job.w[place.part], *gate = &job.gate[place.part];
		for (int k = 0; k < job.steps; k++, ring.next()) {
			char *x = memory + ring.stage * S::STAGE;
			char *to = x + S::HIGH * ROW;
			uint64_t *full = &at->full[ring.stage];
			arrival_wait(&at->empty[ring.stage], ring.parity ^ 1);
			arrive_expecting(full, S::STAGE);
			if (S::CLUSTER == 1)
				copy_tile(x, &job.x, k * DEEP, place.row, full);
			else
				copy_tile_to(x + rank * SHARE * ROW, &job.x, k * DEEP,
				    place.row + rank * SHARE, full,
				    (1 << S::CLUSTER) - 1);
			copy_tile(to, w, k * DEEP, place.column, full);
			if (GATED)
				copy_tile(to + S::WIDE / 2 * ROW, gate, k * DEEP,
				    place.column, full);
		}
	}
}

/* Lets the blocks that copy to this stage do so again, as far as this warp goes. */
template <class S>
__device__ __forceinline__ void
release(struct barriers *at, int stage)
{
	int lane = threadIdx.x % WARP;

	if (S::CLUSTER == 1) {
		if (!lane)
			arrive(&at->empty[stage]);
	} else if (lane < S::CLUSTER)
		arrive_at(&at->empty[stage], (unsigned)lane);
}

/* Begins to add a stage's products. */
template <class S>
__device__ __forceinline__ void
add_stage(float (&sums)[S::M][S::WIDE / 2], const struct ring<S> &ring, char *memory,
    struct barriers *at, int first)
{
	char *x = memory + ring.stage * S::STAGE;
	struct shared_tile a = shared_tile_at(x + first * ROW);
	struct shared_tile b = shared_tile_at(x + S::HIGH * ROW);

	arrival_wait(&at->full[ring.stage], ring.parity);
#pragma unroll
	for (int m = 0; m < S::M; m++)
		warpgroup_hold(sums[m]);
	warpgroup_begin();
#pragma unroll
	for (int i = 0; i < DEEP / 16; i++)
#pragma unroll
		for (int m = 0; m < S::M; m++)
			warpgroup_product<S::WIDE>(sums[m],
			    shared_tile_further(a, m * 64 * ROW + 32 * i),
			    shared_tile_further(b, 32 * i));
	warpgroup_close();
#pragma unroll
	for (int m = 0; m < S::M; m++)
		warpgroup_hold(sums[m]);
}

/* Sums a tile over all of its steps. */
template <class S>
__device__ __forceinline__ void
multiply(float (&sums)[S::M][S::WIDE / 2], struct ring<S> &ring, char *memory,
    struct barriers *at, int group, int steps)
{
	int first = S::SHARED_TILE ? group * 64 * S::M : 0, last = ring.stage;
	/* from here on the other may multiply, too, so that the tensor cores do not wait */
	int early = steps > S::EARLY ? steps - S::EARLY : 0;

	if (!S::SHARED_TILE && !early && !(threadIdx.x % WARP))
		arrive(&at->turn[!group]);
	add_stage<S>(sums, ring, memory, at, first);
	ring.next();
	for (int k = 1; k < steps; k++) {
		if (!S::SHARED_TILE && k == early && !(threadIdx.x % WARP))
			arrive(&at->turn[!group]);
		add_stage<S>(sums, ring, memory, at, first);
		warpgroup_wait<1>();
		release<S>(at, last);
		last = ring.stage;
		ring.next();
	}
	if (!S::SHARED_TILE && early == steps && !(threadIdx.x % WARP))
		arrive(&at->turn[!group]);
	warpgroup_wait<0>();
#pragma unroll
	for (int m = 0; m < S::M; m++)
		warpgroup_hold(sums[m]);
	release<S>(at, last);
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
	char *staged = memory + S::STAGES * S::STAGE + warp * S::WARP_STAGED;
	float sums[S::M][S::WIDE / 2];
	struct ring<S> ring;
	unsigned parity = group ? 0 : 1; /* the first turn is the first warpgroup's */

	if (!S::SHARED_TILE) {
		first += group * by;
		by *= 2;
		if (group)
			ring.skip(job.steps);
	}
	for (int tile = first; tile < job.tiles[job.count]; tile += by) {
		struct tile_place place = place_of<S, E::GATED>(job, tile, rank);
		const struct part &part = job.parts[place.part];
		begin<S, E>(sums, part, place.column);
		if (!S::SHARED_TILE) {
			arrival_wait(&at->turn[group], parity);
			parity ^= 1;
		}
		multiply<S>(sums, ring, memory, at, group, job.steps);
		if (!S::SHARED_TILE)
			ring.skip(job.steps);
		int row =
		    place.row + warp % 4 * 16 + (S::SHARED_TILE ? group * 64 * S::M : 0);
		/* a loop, so that its instructions fit the cache */
#pragma unroll 1
		for (int m = 0; m < S::M; m++) {
			write_rows<S, E>(
			    sums[0], staged, part, job.ldy, row + 64 * m, place.column);
#pragma unroll
			for (int next = 1; next < S::M; next++)
#pragma unroll
				for (int i = 0; i < S::WIDE / 2; i++)
					sums[next - 1][i] = sums[next][i];
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
	int rank = S::CLUSTER == 1 ? 0 : (int)cluster_rank();
	int first = (int)blockIdx.x / S::CLUSTER, by = (int)gridDim.x / S::CLUSTER;

	if (!threadIdx.x) {
		for (int i = 0; i < S::STAGES; i++) {
			arrival_start(&at->full[i], 1);
			arrival_start(
			    &at->empty[i], 4 * S::CLUSTER * (S::SHARED_TILE ? 2 : 1));
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

/* The driver's function that describes a matrix to the tensor copies; NULL if there is none. */
typedef CUresult describe_function(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
    const cuuint64_t *, const cuuint64_t *, const cuuint32_t *, const cuuint32_t *,
    CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
    CUtensorMapFloatOOBfill);

describe_function *
find_describe()
{
	cudaDriverEntryPointQueryResult found;
	void *function = nullptr;

	if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
		cudaEnableDefault, &found) != cudaSuccess ||
	    found != cudaDriverEntryPointSuccess)
		return nullptr;
	return (describe_function *)function;
}

describe_function *
describe()
{
	static describe_function *const function = find_describe();

	return function;
}

/* Tiles of `high` rows of at[rows,C]. */
void
describe_matrix(
    CUtensorMap *map, const void *at, size_t rows, size_t C, size_t ld, int high)
{
	cuuint64_t sizes[2] = { C, rows ? rows : 1 }, stride = ld * sizeof(__nv_bfloat16);
	cuuint32_t box[2] = { DEEP, (cuuint32_t)high }, steps[2] = { 1, 1 };

	if (describe()(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, (void *)at, sizes,
		&stride, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
		CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
		CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
		device_check(cudaErrorInvalidValue, "a matrix of tensor copies");
}

template <class S, class E, int MOST>
void
launch(const struct hopper_gemm *p, const struct hopper_part *parts, size_t count,
    size_t row, size_t rows)
{
	typedef struct job<MOST> table;
	table job = {};
	int outputs = E::GATED ? S::WIDE / 2 : S::WIDE;

	job.count = (int)count;
	job.steps = (int)((p->C + DEEP - 1) / DEEP);
	job.ldy = p->ldy;
	describe_matrix(&job.x, p->x, rows, p->C, p->ldx, S::HIGH / S::CLUSTER);
	for (size_t i = 0; i < count; i++) {
		const struct hopper_part *from = &parts[i];
		struct part *to = &job.parts[i];
		if (from->again)
			row -= from->rows;
		to->bias = from->bias;
		to->gate_bias = from->gate_bias;
		to->y = (__nv_bfloat16 *)p->y + from->column;
		to->row = (int)row;
		row += from->rows;
		to->rows_end = (int)row;
		to->O = (int)from->O;
		to->across = (int)((from->O + (size_t)(outputs * S::CLUSTER) - 1) /
				   (size_t)(outputs * S::CLUSTER));
		describe_matrix(&job.w[i], from->w, from->O, p->C, p->ldw, outputs);
		if (E::GATED)
			describe_matrix(
			    &job.gate[i], from->gate, from->O, p->C, p->ldw, outputs);
		job.tiles[i + 1] =
		    job.tiles[i] +
		    to->across * (int)((from->rows + S::HIGH - 1) / S::HIGH);
	}
	unsigned clusters = device_size() / S::CLUSTER;
	if (clusters > (unsigned)job.tiles[count])
		clusters = (unsigned)job.tiles[count];
	device_launch_clusters(S::CLUSTER, products<S, E, table>, clusters * S::CLUSTER,
	    THREADS, S::SHARED, job);
}

template <class S, class E>
void
launch_parts(const struct hopper_gemm *p)
{
	constexpr size_t MOST = 64;
	size_t row = 0, rows = 0;

	for (size_t i = 0; i < p->count; i++)
		rows += p->parts[i].again ? 0 : p->parts[i].rows;
	for (size_t i = 0; i < p->count; i += MOST) {
		size_t some = p->count - i < MOST ? p->count - i : MOST;
		if (p->count <= FEW)
			launch<S, E, FEW>(p, p->parts, some, row, rows);
		else
			launch<S, E, MOST>(p, p->parts + i, some, row, rows);
		for (size_t j = i; j < i + some; j++)
			row += p->parts[j].again ? 0 : p->parts[j].rows;
	}
}

/* The time of a launch by tiles of so many columns, in columns: a multiprocessor computes its tiles one after another. */
size_t
time_of(const struct hopper_gemm *p, size_t wide)
{
	size_t tiles = 0, outputs = p->epilogue == HOPPER_GATED ? wide / 2 : wide;

	for (size_t i = 0; i < p->count; i++)
		tiles += (p->parts[i].rows + 127) / 128 *
			 ((p->parts[i].O + 2 * outputs - 1) / (2 * outputs)) * 2;
	/* measured on an H100: a column of narrow tiles takes 3 % more */
	return (tiles + device_size() - 1) / device_size() * wide *
	       (wide == 128 ? 103 : 100);
}

template <class E>
void
with_shape(const struct hopper_gemm *p)
{
#if defined VARIANTS
	switch (p->wide) {
	case 2: return launch_parts<shape<2, 192, false, 2, 0>, E>(p);
	case 3: return launch_parts<shape<2, 128, true, 2, 0>, E>(p);
	case 4: return launch_parts<shape<2, 192, false, 2, 2>, E>(p);
	case 5: return launch_parts<shape<2, 128, false, 2, 2>, E>(p);
	case 6: return launch_parts<shape<2, 192, false, 1, 1>, E>(p);
	}
#endif
	bool narrow = p->wide ? p->wide == 128 : time_of(p, 128) < time_of(p, 192);
	if (narrow)
		launch_parts<shape<2, 128, false, 2, 1>, E>(p);
	else
		launch_parts<shape<2, 192, false, 2, 1>, E>(p);
}

template <template <enum nn_act> class E>
void
with_act(const struct hopper_gemm *p)
{
	switch (p->act) {
	case NN_GELU: return with_shape<E<NN_GELU>>(p);
	case NN_SILU: return with_shape<E<NN_SILU>>(p);
#if !defined VARIANTS
	case NN_GELU_TANH: return with_shape<E<NN_GELU_TANH>>(p);
	case NN_RELU: return with_shape<E<NN_RELU>>(p);
#endif
	default: die("hopper_gemm: activation %d", (int)p->act);
	}
}

bool
acts(const struct hopper_gemm *p)
{
	return p->epilogue == HOPPER_PLAIN || p->act == NN_GELU ||
	       p->act == NN_GELU_TANH || p->act == NN_SILU || p->act == NN_RELU;
}

bool
device_is_hopper()
{
	int device, major, minor;

	device_check(cudaGetDevice(&device), "the device");
	device_check(
	    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
	    "the device");
	device_check(
	    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device),
	    "the device");
	return major == 9 && minor == 0;
}
} // namespace

bool
hopper_supports(const struct hopper_gemm *p)
{
	auto aligned = [](const void *at, size_t stride) {
		return (uintptr_t)at % 16 == 0 && stride % 8 == 0;
	};

	if (!device_is_hopper() || !describe() || !p->C || !acts(p) ||
	    !aligned(p->x, p->ldx) || !aligned(p->y, p->ldy))
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
