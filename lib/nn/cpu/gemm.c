#include "nn/cpu/gemm.h"

#include <omp.h>

#include "nn/cpu/microkernel.h"
#include "nn/cpu/tile.h"

void
gemm_begin(const struct gemm *g, size_t m, size_t rows, size_t n, size_t columns)
{
	for (size_t r = 0; r < rows; r++) {
		float *c = g->c + (m + r) * g->ldc + n;
		if (g->beta == 0)
			for (size_t j = 0; j < columns; j++)
				c[j] = g->bias ? g->bias[n + j] : 0;
		else
			for (size_t j = 0; j < columns; j++)
				c[j] = g->beta * c[j] + (g->bias ? g->bias[n + j] : 0);
	}
}

void
gemm_epilogue(const struct gemm *g, size_t m, size_t rows, size_t n, size_t columns)
{
	for (size_t r = 0; g->act && r < rows; r++) {
		float *c = g->c + (m + r) * g->ldc + n;
		nn_activate_serial(c, c, *g->act, columns);
	}
}

static size_t
least(size_t a, size_t b)
{
	return a < b ? a : b;
}

void
gemm_drive(const struct gemm *g, const struct gemm_kind *kind,
    const struct gemm_rectangle *at, void *strip, void *panels)
{
	struct gemm_block b = { .strip = strip, .panels = panels };

	for (b.n = at->n0; b.n < at->n1; b.n += kind->span) {
		b.columns = least(at->n1 - b.n, kind->span);
		for (b.k = 0; b.k < g->K || b.k == 0; b.k += kind->depth) {
			b.depth = least(g->K - b.k, kind->depth);
			if (!g->b.packed)
				kind->pack_b(g, &b);
			for (b.m = at->m0; b.m < at->m1; b.m += kind->strip) {
				b.rows = least(at->m1 - b.m, kind->strip);
				kind->pack_a(g, &b);
				kind->multiply(g, &b);
			}
		}
	}
}

/* Threads. ------------------------------------------------------------------------- */

/* The rectangles of c: `across` columns of `along` rectangles, each of one thread; they begin at multiples of `rows` and `columns`. */
struct thread_grid {
	size_t along, across, rows, columns;
};

/* Which driver, or kind of the one driver, makes a product. */
enum path { PACKED, BF16, FEW, F32 };

static enum path
path_of(const struct gemm *g)
{
	if (g->b.packed && g->b.dtype != DTYPE_F32)
		return PACKED;
	if (g->b.bf16 && g->b.dtype != DTYPE_I8 && nn_supports(DTYPE_BF16))
		return BF16;
	return gemm_is_few(g) ? FEW : F32;
}

/* The grid of at most `threads` rectangles of whole tiles, `rows` by `columns`, that is done first: a thread's time is that of the
 * largest rectangle, and of packing its columns of b, which costs as much as `pack` rows.  Rectangles have `least` rows. */
static struct thread_grid
best_grid(const struct gemm *g, size_t threads, size_t rows, size_t columns, size_t pack,
    size_t least)
{
	struct thread_grid best = { 1, 1, rows, columns };
	size_t high = nn_blocks(g->M, rows), wide = nn_blocks(g->N, columns);
	size_t least_time = SIZE_MAX;

	for (size_t along = 1; along <= threads; along++) {
		size_t across = threads / along;
		if (along > 1 && (along > high || g->M < along * least))
			break;
		size_t time = (nn_blocks(high, along) * rows + pack) *
			      nn_blocks(wide, across) * columns;
		if (time < least_time) {
			least_time = time;
			best.along = along;
			best.across = across;
		}
	}
	return best;
}

/* Packed b: each row of a is packed by one thread, unless there are too few rows for all threads.  Narrow tiles only for threads
 * that would be idle. */
static struct thread_grid
packed_grid(const struct gemm *g, size_t threads)
{
	if (g->M >= threads * PACKED_PANEL)
		return (struct thread_grid){ threads, 1, 1, PACKED_WIDTH };
	size_t wide = nn_blocks(g->N, PACKED_WIDTH), high = nn_blocks(g->M, PACKED_PANEL);
	size_t columns = 2 * wide * high > threads ? PACKED_WIDTH : PACKED_PANEL;
	return best_grid(g, threads, 1, columns, 0, PACKED_PANEL);
}

static struct thread_grid
grid_of(const struct gemm *g, enum path path, size_t threads)
{
	switch (path) {
	case PACKED: return packed_grid(g, threads);
	case FEW:
		return (struct thread_grid){ 1, threads, 1,
			g->N < threads * NN_PANEL ? NN_LANES : NN_PANEL };
	default: return best_grid(g, threads, NN_TILE, NN_PANEL, 10, 1);
	}
}

static struct gemm_rectangle
rectangle_of(const struct gemm *g, const struct thread_grid *grid, size_t thread)
{
	size_t along = grid->along, across = grid->across;
	size_t i = thread % along, j = thread / along;
	size_t rows = nn_blocks(g->M, grid->rows);
	size_t columns = nn_blocks(g->N, grid->columns);

	if (j >= across)
		return (struct gemm_rectangle){ 0 };
	return (struct gemm_rectangle){ rows * i / along * grid->rows,
		least(rows * (i + 1) / along * grid->rows, g->M),
		columns * j / across * grid->columns,
		least(columns * (j + 1) / across * grid->columns, g->N) };
}

/* Multiply-adds of a rectangle. */
static double
products_of(const struct gemm *g, const struct gemm_rectangle *at)
{
	return (double)(at->m1 - at->m0) * (double)(at->n1 - at->n0) * (double)g->K;
}

static void
gemm(const struct gemm *g)
{
	enum path path = path_of(g);
	bool shared = g->M * g->N * g->K > (size_t)1 << (path == PACKED ? 21 : 20);

	if (nn_count_region)
		nn_count_region(shared, false);
#pragma omp parallel if (shared)
	{
		struct thread_grid grid = grid_of(g, path, (size_t)omp_get_num_threads());
		struct gemm_rectangle at =
		    rectangle_of(g, &grid, (size_t)omp_get_thread_num());
		bool counted =
		    nn_count_work &&
		    nn_count_work((size_t)omp_get_thread_num(), products_of(g, &at));
		if (!counted && at.m0 < at.m1 && at.n0 < at.n1)
			switch (path) {
			case PACKED: gemm_packed(g, &at); break;
			case BF16: gemm_bf16(g, &at); break;
			case FEW: gemm_few(g, at.n0, at.n1); break;
			case F32: gemm_f32(g, &at); break;
			}
	}
}

/* Linear layers. ------------------------------------------------------------------- */

static void
linear(float *y, size_t ldy, const float *x, size_t ldx, struct nn_matrix w,
    const float *b, const enum nn_act *act, float beta, size_t T, size_t C, size_t O)
{
	gemm(&(struct gemm){ .c = y,
	    .a = x,
	    .b = w,
	    .bias = b,
	    .ldc = ldy,
	    .lda = ldx,
	    .ldb = C,
	    .M = T,
	    .N = O,
	    .K = C,
	    .b_transposed = true,
	    .act = act,
	    .alpha = 1,
	    .beta = beta });
}

void
nn_linear(float *y, size_t ldy, const float *x, size_t ldx, struct nn_matrix w,
    const float *b, size_t T, size_t C, size_t O)
{
	linear(y, ldy, x, ldx, w, b, NULL, 0, T, C, O);
}

void
nn_linear_activate(float *y, size_t ldy, const float *x, size_t ldx, struct nn_matrix w,
    const float *b, enum nn_act act, size_t T, size_t C, size_t O)
{
	linear(y, ldy, x, ldx, w, b, &act, 0, T, C, O);
}

void
nn_linear_add(float *y, size_t ldy, const float *x, size_t ldx, struct nn_matrix w,
    size_t T, size_t C, size_t O)
{
	linear(y, ldy, x, ldx, w, NULL, NULL, 1, T, C, O);
}

void
nn_linear_grouped(float *y, const float *x, const struct nn_gemm_group *groups,
    size_t count, const enum nn_act *act, size_t C, size_t O)
{
	for (size_t i = 0; i < count; i++) {
		const struct nn_gemm_group *group = &groups[i];
		linear(y, O, x, C, group->w, group->b, act, 0, group->rows, C, O);
		y += group->rows * O;
		x += group->rows * C;
	}
}

/* db += column sums.  A thread sums whole columns, so that the order does not depend on the number of threads. */
static void
column_sums(float *db, const float *dy, size_t ldy, size_t T, size_t O)
{
	const size_t step = nn_column_step(O);

#pragma omp parallel for schedule(static) if (nn_shared(nn_blocks(O, step), T * step))
	for (size_t from = 0; from < O; from += step) {
		size_t width = O - from < step ? O - from : step;
		double sum[NN_COLUMNS] = { 0 };
		for (size_t t = 0; t < T; t++)
#pragma omp simd
			for (size_t c = 0; c < width; c++)
				sum[c] += (double)dy[t * ldy + from + c];
		for (size_t c = 0; c < width; c++)
			db[from + c] += (float)sum[c];
	}
}

void
nn_linear_back(float *dx, bool add, float *dw, float *db, const float *dy, size_t ldy,
    const float *x, size_t ldx, struct nn_matrix w, size_t T, size_t C, size_t O)
{
	if (dx)
		gemm(&(struct gemm){ .c = dx,
		    .a = dy,
		    .b = w,
		    .ldc = C,
		    .lda = ldy,
		    .ldb = C,
		    .M = T,
		    .N = C,
		    .K = O,
		    .alpha = 1,
		    .beta = add ? 1 : 0 });
	if (dw)
		gemm(&(struct gemm){ .c = dw,
		    .a = dy,
		    .b = { x, DTYPE_F32, .bf16 = w.bf16 && w.dtype == DTYPE_F32 },
		    .ldc = C,
		    .lda = ldy,
		    .ldb = ldx,
		    .M = O,
		    .N = C,
		    .K = T,
		    .a_transposed = true,
		    .alpha = 1,
		    .beta = 1 });
	if (db)
		column_sums(db, dy, ldy, T, O);
}

/* Of contiguous matrices. */
static void
product(float *c, const float *a, bool a_transposed, const float *b, bool b_transposed,
    size_t M, size_t N, size_t K, float alpha, float beta)
{
	gemm(&(struct gemm){ .c = c,
	    .a = a,
	    .b = nn_f32(b),
	    .ldc = N,
	    .lda = a_transposed ? M : K,
	    .ldb = b_transposed ? K : N,
	    .M = M,
	    .N = N,
	    .K = K,
	    .a_transposed = a_transposed,
	    .b_transposed = b_transposed,
	    .alpha = alpha,
	    .beta = beta });
}

void
nn_product_nt(float *c, const float *a, const float *b, size_t M, size_t N, size_t K,
    float alpha, float beta)
{
	product(c, a, false, b, true, M, N, K, alpha, beta);
}

void
nn_product_nn(float *c, const float *a, const float *b, size_t M, size_t N, size_t K,
    float alpha, float beta)
{
	product(c, a, false, b, false, M, N, K, alpha, beta);
}

void
nn_product_tn(float *c, const float *a, const float *b, size_t M, size_t N, size_t K,
    float alpha, float beta)
{
	product(c, a, true, b, false, M, N, K, alpha, beta);
}

double
nn_product_error(size_t K)
{
	return ((double)K + 4) * 0x1p-24;
}
