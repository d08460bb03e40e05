#include "nn/cuda/gemm.h"

namespace
{

/*
 * Grouped GEMM of bf16 in one launch.  A block has HIGH rows of one group by WIDE outputs, each of its warps a quarter of them,
 * with sums in registers, while the next DEEP columns are copied to shared memory.  With cuBLASLt each group would be a launch,
 * too small to fill a device.  A sum runs in the order of the columns, whatever the rows.
 */
constexpr int HIGH = 128, WIDE = 128, DEEP = 64, STAGES = 3, THREADS = 128;
constexpr int CHUNK = 8 /* elements of a copy */, CHUNKS = DEEP / CHUNK;
constexpr int SIDE = 64 /* of a warp's tile */, STEP = 16, PAIRS = SIDE / STEP;
constexpr int STAGE = (HIGH + WIDE) * DEEP; /* elements: of x, then of w */
constexpr size_t SHARED = (size_t)STAGES * STAGE * sizeof(__nv_bfloat16);
static_assert(SHARED <= SHARED_MEMORY, "a block fits every device");

/* Groups of a launch: the arguments of a kernel are limited. */
constexpr int MOST = 64;
struct group_table {
	const __nv_bfloat16 *w[MOST];
	const float *bias[MOST];
	int rows[MOST + 1], tiles[MOST + 1]; /* the first of each */
	int count;
};

struct grouped_gemm {
	float *y;
	const __nv_bfloat16 *x;
	int ld, O;     /* ld: of rows of x and w, which end in zeros */
	bool in_pairs; /* pairs of results are aligned to 8 bytes */
};

/* Where chunk c of row r lies, swizzled: eight rows of a column of chunks are in different banks. */
__device__ __forceinline__ int
swizzled(int r, int c)
{
	return r * DEEP + (c ^ (r & 7)) * CHUNK;
}

/* Copies DEEP columns from k on of HIGH or WIDE rows, of which `rows` exist. */
__device__ __forceinline__ void
fetch(__nv_bfloat16 *to, const __nv_bfloat16 *from, int ld, int rows, int k)
{
	static_assert(HIGH == WIDE, "both sides are fetched so");
	int c = threadIdx.x % CHUNKS, column = k + c * CHUNK;

#pragma unroll
	for (int i = 0; i < HIGH * CHUNKS / THREADS; i++) {
		int r = threadIdx.x / CHUNKS + i * (THREADS / CHUNKS);
		bool there = r < rows && column < ld;
		copy_ahead(to + swizzled(r, c),
		    there ? from + (size_t)r * ld + column : from, there);
	}
}

/* A block's operands. */
struct operands {
	const __nv_bfloat16 *x, *w;
	int rows, outputs; /* that there are */
};

__device__ __forceinline__ void
fetch_both(__nv_bfloat16 *stages, const struct operands &at, int ld, int k)
{
	__nv_bfloat16 *stage = stages + k % STAGES * STAGE;

	fetch(stage, at.x, ld, at.rows, k * DEEP);
	fetch(stage + HIGH * DEEP, at.w, ld, at.outputs, k * DEEP);
}

/* Adds one stage to a warp's sums of rows r.. of x by rows o.. of w. */
__device__ __forceinline__ void
add_stage(float (&sums)[PAIRS][2 * PAIRS][4], const __nv_bfloat16 *stage, int r, int o)
{
	const __nv_bfloat16 *w = stage + HIGH * DEEP;
	int which = threadIdx.x % WARP / 8, row = threadIdx.x % 8;

	for (int k = 0; k < DEEP / STEP; k++) {
		unsigned left[PAIRS][4], right[PAIRS][4];
		for (int i = 0; i < PAIRS; i++) {
			load_matrices(
			    left[i], stage + swizzled(r + STEP * i + which % 2 * 8 + row,
						 2 * k + which / 2));
			load_matrices(
			    right[i], w + swizzled(o + STEP * i + which / 2 * 8 + row,
					      2 * k + which % 2));
		}
#pragma unroll
		for (int i = 0; i < PAIRS; i++)
#pragma unroll
			for (int j = 0; j < PAIRS; j++) {
				matrix_product(
				    sums[i][2 * j], left[i], right[j][0], right[j][1]);
				matrix_product(sums[i][2 * j + 1], left[i], right[j][2],
				    right[j][3]);
			}
	}
}

/* Two neighbouring results; the second may be beyond O. */
__device__ __forceinline__ void
put(float *y, const float *bias, float first, float second, int o,
    const struct grouped_gemm &job)
{
	if (bias) {
		first += bias[o];
		second += o + 1 < job.O ? bias[o + 1] : 0;
	}
	if (job.in_pairs)
		*(float2 *)(y + o) = make_float2(first, second);
	else {
		y[o] = first;
		if (o + 1 < job.O)
			y[o + 1] = second;
	}
}

__global__ void
__launch_bounds__(THREADS)
    products(const __grid_constant__ struct group_table table, struct grouped_gemm job)
{
	__nv_bfloat16 *stages = (__nv_bfloat16 *)shared_memory();
	float sums[PAIRS][2 * PAIRS][4] = {};
	int across = (job.O + WIDE - 1) / WIDE, steps = (job.ld + DEEP - 1) / DEEP;
	int tile = (int)blockIdx.x / across, o = (int)blockIdx.x % across * WIDE;
	int s = segment_of(table.tiles, table.count, tile);
	int row = table.rows[s] + (tile - table.tiles[s]) * HIGH;
	struct operands at = { job.x + (size_t)row * job.ld,
		table.w[s] + (size_t)o * job.ld, table.rows[s + 1] - row, job.O - o };
	int warp = threadIdx.x / WARP, r = warp / 2 * SIDE, of_warp = warp % 2 * SIDE;
	bool idle = r >= at.rows || of_warp >= at.outputs;

	for (int k = 0; k < STAGES - 1; k++) {
		if (k < steps)
			fetch_both(stages, at, job.ld, k);
		copies_close();
	}
	for (int k = 0; k < steps; k++) {
		copies_wait<STAGES - 2>();
		/* all threads have copied this stage and have read the next one to be overwritten */
		__syncthreads();
		if (k + STAGES - 1 < steps)
			fetch_both(stages, at, job.ld, k + STAGES - 1);
		copies_close();
		if (!idle)
			add_stage(sums, stages + k % STAGES * STAGE, r, of_warp);
	}

	int g = threadIdx.x % WARP / 4, t = threadIdx.x % 4;
#pragma unroll
	for (int i = 0; i < 2 * PAIRS; i++) {
		int row_of_block = r + 8 * i + g;
		float *y = job.y + (size_t)(row + row_of_block) * job.O;
#pragma unroll
		for (int j = 0; j < 2 * PAIRS; j++) {
			const float *pair = sums[i / 2][j] + i % 2 * 2;
			int output = o + of_warp + 8 * j + 2 * t;
			if (row_of_block < at.rows && output < job.O)
				put(y, table.bias[s], pair[0], pair[1], output, job);
		}
	}
}

/* Launches some groups; returns their rows. */
size_t
launch(struct grouped_gemm job, const struct nn_gemm_group *groups, size_t count)
{
	struct group_table table = {};

	for (size_t i = 0; i < count; i++) {
		int rows = (int)groups[i].rows;
		table.w[i] = (const __nv_bfloat16 *)groups[i].w.at;
		table.bias[i] = groups[i].b;
		table.rows[i + 1] = table.rows[i] + rows;
		table.tiles[i + 1] = table.tiles[i] + (rows + HIGH - 1) / HIGH;
	}
	table.count = (int)count;
	device_launch(products,
	    (unsigned)table.tiles[count] * device_blocks((size_t)job.O, WIDE), THREADS,
	    SHARED, table, job);
	return (size_t)table.rows[count];
}

/* True if there are several groups, all packed as bf16. */
bool
together(const struct nn_gemm_group *groups, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!groups[i].w.packed || groups[i].w.dtype != DTYPE_BF16)
			return false;
	return count > 1;
}

void
one_by_one(float *y, const float *x, const struct nn_gemm_group *groups, size_t count,
    const enum nn_act *act, size_t C, size_t O)
{
	for (size_t i = 0; i < count; i++) {
		const struct nn_gemm_group *group = &groups[i];
		if (act)
			nn_linear_activate(
			    y, O, x, C, group->w, group->b, *act, group->rows, C, O);
		else
			nn_linear(y, O, x, C, group->w, group->b, group->rows, C, O);
		y += group->rows * O;
		x += group->rows * C;
	}
}
} // namespace

void
nn_linear_grouped(float *y, const float *x, const struct nn_gemm_group *groups,
    size_t count, const enum nn_act *act, size_t C, size_t O)
{
	size_t rows = 0, done = 0, ld = bf16_stride(C);

	if (!together(groups, count))
		return one_by_one(y, x, groups, count, act, C, O);
	for (size_t i = 0; i < count; i++)
		rows += groups[i].rows;
	scratch<__nv_bfloat16> rounded(rows * ld);
	convert_to_bf16(rounded.at, x, C, rows, C);
	for (size_t i = 0; i < count; i += MOST) {
		size_t some = count - i < MOST ? count - i : MOST;
		float *to = y + done * O;
		bool in_pairs = O % 2 == 0 && (uintptr_t)to % sizeof(float2) == 0;
		done += launch({ to, rounded.at + done * ld, (int)ld, (int)O, in_pairs },
		    groups + i, some);
	}
	if (act)
		nn_activate(y, y, *act, rows * O);
}
