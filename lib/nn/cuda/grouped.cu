#include "nn/cuda/multiply.h"

namespace
{

/*
 * Products of bf16 with weights of their own for each stretch of rows, all in one launch: a block has HIGH rows of one
 * stretch and WIDE outputs, each of its warps a quarter of that, whose sums grow in registers while the next DEEP columns
 * are on their way into shared memory.  cuBLASLt would want a launch for each stretch, and fills a device with none of them.
 * A sum's order is that of the columns, whatever the rows.
 */
constexpr int HIGH = 128, WIDE = 128, DEEP = 64, STAGES = 3, THREADS = 128;
constexpr int CHUNK = 8 /* halves that are copied at once */, CHUNKS = DEEP / CHUNK;
constexpr int SIDE = 64 /* of a warp's share */, STEP = 16, PAIRS = SIDE / STEP;
constexpr int STAGE = (HIGH + WIDE) * DEEP; /* halves: those of rows, then of weights */
constexpr size_t SHARED = (size_t)STAGES * STAGE * sizeof(__nv_bfloat16);
static_assert(SHARED <= SHARED_MEMORY, "a block fits every device");

/* So many at once: what a kernel takes as an argument has a limit. */
constexpr int MOST = 64;
struct table {
	const __nv_bfloat16 *w[MOST];
	const float *bias[MOST];
	int rows[MOST + 1], tiles[MOST + 1]; /* the first of each */
	int count;
};

struct job {
	float *y;
	const __nv_bfloat16 *x;
	int ld, O;    /* ld: of rows of x and w, which end in zeros */
	bool in_twos; /* two results lie on 8 bytes */
};

/* Where chunk c of row r lies: eight rows of a column of chunks are in banks of their own. */
__device__ __forceinline__ int
place(int r, int c)
{
	return r * DEEP + (c ^ (r & 7)) * CHUNK;
}

/* DEEP columns from k on of HIGH or WIDE rows, of which there are `rows`. */
__device__ __forceinline__ void
fetch(__nv_bfloat16 *to, const __nv_bfloat16 *from, int ld, int rows, int k)
{
	static_assert(HIGH == WIDE, "both sides are fetched so");
	int c = threadIdx.x % CHUNKS, column = k + c * CHUNK;

#pragma unroll
	for (int i = 0; i < HIGH * CHUNKS / THREADS; i++) {
		int r = threadIdx.x / CHUNKS + i * (THREADS / CHUNKS);
		bool there = r < rows && column < ld;
		copy_ahead(to + place(r, c),
		    there ? from + (size_t)r * ld + column : from, there);
	}
}

/* What a block is about. */
struct part {
	const __nv_bfloat16 *x, *w;
	int rows, outputs; /* that there are */
};

__device__ __forceinline__ void
fetch_both(__nv_bfloat16 *stages, const struct part &part, int ld, int k)
{
	__nv_bfloat16 *stage = stages + k % STAGES * STAGE;

	fetch(stage, part.x, ld, part.rows, k * DEEP);
	fetch(stage + HIGH * DEEP, part.w, ld, part.outputs, k * DEEP);
}

/* A warp's sums of one stage, whose rows begin at row r of x and o of w. */
__device__ __forceinline__ void
add_stage(float (&sums)[PAIRS][2 * PAIRS][4], const __nv_bfloat16 *stage, int r, int o)
{
	const __nv_bfloat16 *w = stage + HIGH * DEEP;
	int which = threadIdx.x % WARP / 8, row = threadIdx.x % 8;

	for (int k = 0; k < DEEP / STEP; k++) {
		unsigned left[PAIRS][4], right[PAIRS][4];
		for (int i = 0; i < PAIRS; i++) {
			load_matrices(
			    left[i], stage + place(r + STEP * i + which % 2 * 8 + row,
						 2 * k + which / 2));
			load_matrices(
			    right[i], w + place(o + STEP * i + which / 2 * 8 + row,
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

/* Two results beside each other, of which one may not be there. */
__device__ __forceinline__ void
put(float *y, const float *bias, float first, float second, int o, const struct job &job)
{
	if (bias) {
		first += bias[o];
		second += o + 1 < job.O ? bias[o + 1] : 0;
	}
	if (job.in_twos)
		*(float2 *)(y + o) = make_float2(first, second);
	else {
		y[o] = first;
		if (o + 1 < job.O)
			y[o + 1] = second;
	}
}

__global__ void
__launch_bounds__(THREADS)
    products(const __grid_constant__ struct table table, struct job job)
{
	__nv_bfloat16 *stages = (__nv_bfloat16 *)shared_memory();
	float sums[PAIRS][2 * PAIRS][4] = {};
	int across = (job.O + WIDE - 1) / WIDE, steps = (job.ld + DEEP - 1) / DEEP;
	int tile = (int)blockIdx.x / across, o = (int)blockIdx.x % across * WIDE;
	int s = stretch_of(table.tiles, table.count, tile);
	int row = table.rows[s] + (tile - table.tiles[s]) * HIGH;
	struct part part = { job.x + (size_t)row * job.ld,
		table.w[s] + (size_t)o * job.ld, table.rows[s + 1] - row, job.O - o };
	int warp = threadIdx.x / WARP, r = warp / 2 * SIDE, of_warp = warp % 2 * SIDE;
	bool idle = r >= part.rows || of_warp >= part.outputs;

	for (int k = 0; k < STAGES - 1; k++) {
		if (k < steps)
			fetch_both(stages, part, job.ld, k);
		copies_close();
	}
	for (int k = 0; k < steps; k++) {
		copies_wait<STAGES - 2>();
		/* all have copied, and have done with the stage that is next */
		__syncthreads();
		if (k + STAGES - 1 < steps)
			fetch_both(stages, part, job.ld, k + STAGES - 1);
		copies_close();
		if (!idle)
			add_stage(sums, stages + k % STAGES * STAGE, r, of_warp);
	}

	int g = threadIdx.x % WARP / 4, t = threadIdx.x % 4;
#pragma unroll
	for (int i = 0; i < 2 * PAIRS; i++) {
		int of_part = r + 8 * i + g;
		float *y = job.y + (size_t)(row + of_part) * job.O;
#pragma unroll
		for (int j = 0; j < 2 * PAIRS; j++) {
			const float *pair = sums[i / 2][j] + i % 2 * 2;
			int output = o + of_warp + 8 * j + 2 * t;
			if (of_part < part.rows && output < job.O)
				put(y, table.bias[s], pair[0], pair[1], output, job);
		}
	}
}

/* Some stretches; how many rows they have. */
size_t
launch(struct job job, const struct nn_gemm_group *stretches, size_t count)
{
	struct table table = {};

	for (size_t i = 0; i < count; i++) {
		int rows = (int)stretches[i].rows;
		table.w[i] = (const __nv_bfloat16 *)stretches[i].w.at;
		table.bias[i] = stretches[i].b;
		table.rows[i + 1] = table.rows[i] + rows;
		table.tiles[i + 1] = table.tiles[i] + (rows + HIGH - 1) / HIGH;
	}
	table.count = (int)count;
	device_launch(products,
	    (unsigned)table.tiles[count] * device_blocks((size_t)job.O, WIDE), THREADS,
	    SHARED, table, job);
	return (size_t)table.rows[count];
}

/* Whether they are several, and as this kernel wants them. */
bool
together(const struct nn_gemm_group *stretches, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!stretches[i].w.packed || stretches[i].w.dtype != DTYPE_BF16)
			return false;
	return count > 1;
}

void
one_by_one(float *y, const float *x, const struct nn_gemm_group *stretches, size_t count,
    const enum nn_act *act, size_t C, size_t O)
{
	for (size_t i = 0; i < count; i++) {
		const struct nn_gemm_group *s = &stretches[i];
		if (act)
			nn_linear_activate(y, O, x, C, s->w, s->b, *act, s->rows, C, O);
		else
			nn_linear(y, O, x, C, s->w, s->b, s->rows, C, O);
		y += s->rows * O;
		x += s->rows * C;
	}
}
} // namespace

void
nn_linear_grouped(float *y, const float *x, const struct nn_gemm_group *stretches,
    size_t count, const enum nn_act *act, size_t C, size_t O)
{
	size_t rows = 0, done = 0, ld = halves_in_row(C);

	if (!together(stretches, count))
		return one_by_one(y, x, stretches, count, act, C, O);
	for (size_t i = 0; i < count; i++)
		rows += stretches[i].rows;
	scratch<__nv_bfloat16> halves(rows * ld);
	halves_of(halves.at, x, C, rows, C);
	for (size_t i = 0; i < count; i += MOST) {
		size_t some = count - i < MOST ? count - i : MOST;
		float *to = y + done * O;
		bool in_twos = O % 2 == 0 && (uintptr_t)to % sizeof(float2) == 0;
		done += launch({ to, halves.at + done * ld, (int)ld, (int)O, in_twos },
		    stretches + i, some);
	}
	if (act)
		nn_activate(y, y, *act, rows * O);
}
