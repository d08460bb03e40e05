/* GEMM of f32: b of any type is widened to f32 as it is packed. */
#include <string.h>

#include "nn/cpu/gemm.h"
#include "nn/cpu/packed.h"
#include "nn/cpu/tile.h"
#include "nn/cpu/transpose.h"

enum {
	STRIP = 48,		  /* whole tiles, whole vectors */
	DEPTH = 384,		  /* terms */
	SPAN = 384,		  /* whole panels */
	STRIDE = DEPTH + NN_LANES /* of a packed row; not a power of two */
};

/* By vectors: gcc makes `rep movsq` of a memcpy of a few cache lines, which starts slowly. */
NN_INLINE void
copy_row(float *to, const char *from, size_t count)
{
	const float *at = (const float *)(const void *)from;
	size_t i = 0;

	for (; i + NN_LANES <= count; i += NN_LANES)
		*(nn_loose *)(to + i) = *(const nn_loose *)(at + i);
	for (; i < count; i++)
		to[i] = at[i];
}

/* Columns first .. first+count-1, of one group, of a row of C stored values, as f32. */
static void
widen_row(
    float *to, const char *row, enum dtype dtype, size_t C, size_t first, size_t count)
{
	const char *at = row + first * nn_element(dtype);

	switch (dtype) {
	case DTYPE_F16:
	case DTYPE_BF16: nn_widen(to, (const void *)at, dtype, count); break;
	case DTYPE_I8:
		for (size_t i = 0; i < count; i++)
			to[i] =
			    (float)((const int8_t *)at)[i] * nn_scale_of(row, C, first);
		break;
	default: copy_row(to, at, count); break;
	}
}

/* b[k..k+depth-1, n..n+columns-1] to panel[depth][NN_PANEL], zeros in the columns beyond */
static void
pack_panel(
    float *panel, const struct gemm *g, size_t k, size_t depth, size_t n, size_t columns)
{
	if (g->b_transposed) {
		nn_transpose(panel, NN_PANEL, nn_matrix_from(g->b, n, g->ldb), g->ldb, k,
		    columns, depth, NN_PANEL, 1);
		return;
	}
	for (size_t i = 0; i < depth; i++, panel += NN_PANEL) {
		struct nn_matrix row = nn_matrix_from(g->b, k + i, g->ldb);
		if (columns < NN_PANEL)
			memset(panel, 0, NN_PANEL * sizeof *panel);
		widen_row(panel, row.at, row.dtype, g->ldb, n, columns);
	}
}

/* To panels[columns / NN_PANEL][depth][NN_PANEL]. */
static void
pack_b(const struct gemm *g, struct gemm_block *b)
{
	float *panel = (float *)(void *)b->panels;

	for (size_t at = 0; at < b->columns; at += NN_PANEL, panel += b->depth * NN_PANEL)
		pack_panel(panel, g, b->k, b->depth, b->n + at,
		    b->columns - at < NN_PANEL ? b->columns - at : NN_PANEL);
}

size_t
nn_packed_floats(size_t O, size_t C)
{
	return nn_round_up(O, NN_PANEL) * C;
}

void
nn_pack_floats(float *to, struct nn_matrix w, bool transposed, size_t O, size_t C)
{
	const struct gemm g = {
		.b = w, .ldb = transposed ? O : C, .b_transposed = !transposed
	};

#pragma omp parallel for schedule(static) if (O * C > NN_SERIAL)
	for (size_t n = 0; n < O; n += NN_PANEL)
		pack_panel(to + n * C, &g, 0, C, n, O - n < NN_PANEL ? O - n : NN_PANEL);
}

/* Rows of a as the tiles read them. */
struct strip {
	const float *at;
	size_t stride;
};

/* a is read in place, unless its rows lie pages apart: they would share the same lines of L1. */
static bool
in_place(const struct gemm *g)
{
	return !g->a_transposed && g->alpha == 1 && g->lda % 1024 != 0;
}

static struct strip
strip_of(const struct gemm *g, const struct gemm_block *b)
{
	if (in_place(g))
		return (struct strip){ g->a + b->m * g->lda + b->k, g->lda };
	return (struct strip){ (const float *)(const void *)b->strip, STRIDE };
}

/* alpha a to strip[rows][STRIDE] */
static void
pack_a(const struct gemm *g, struct gemm_block *b)
{
	float *strip = (float *)(void *)b->strip;

	if (in_place(g))
		return;
	if (g->a_transposed) {
		nn_transpose(strip, STRIDE, nn_f32(g->a + b->k * g->lda + b->m), g->lda,
		    0, b->depth, b->rows, nn_round_up(b->depth, NN_LANES), g->alpha);
		return;
	}
	for (size_t r = 0; r < b->rows; r++)
		for (size_t i = 0; i < b->depth; i++)
			strip[r * STRIDE + i] =
			    g->alpha * g->a[(b->m + r) * g->lda + b->k + i];
}

/* Rows that sums start from; stride 0: one row for all. */
struct addend {
	const float *at;
	size_t stride;
};

/* A bias is not written to c first: that takes 3 %. */
static struct addend
addend_of(const struct gemm *g, const struct gemm_block *b)
{
	static const float zeros[SPAN];

	if (b->k == 0 && g->beta == 0)
		return (struct addend){ g->bias ? g->bias + b->n : zeros, 0 };
	if (b->k == 0)
		gemm_begin(g, b->m, b->rows, b->n, b->columns);
	return (struct addend){ g->c + b->m * g->ldc + b->n, g->ldc };
}

/* c[rows,NN_PANEL] = addend + strip[rows,depth] panel[depth,NN_PANEL] */
static void
multiply_panel(float *c, size_t ldc, struct addend addend, struct strip strip,
    const float *panel, size_t depth, size_t rows)
{
	nn_tiles(c, ldc, addend.at, addend.stride, strip.at, strip.stride, 1, panel,
	    NN_PANEL, depth, rows, NN_TILE, 2);
}

/* The last panel, of fewer columns. */
static void
multiply_edge(float *c, size_t ldc, struct addend addend, struct strip strip,
    const float *panel, size_t depth, size_t rows, size_t columns)
{
	_Alignas(64) float edge[STRIP * NN_PANEL] = { 0 };

	for (size_t r = 0; r < rows; r++)
		memcpy(edge + r * NN_PANEL, addend.at + r * addend.stride,
		    columns * sizeof *c);
	multiply_panel(
	    edge, NN_PANEL, (struct addend){ edge, NN_PANEL }, strip, panel, depth, rows);
	for (size_t r = 0; r < rows; r++)
		memcpy(c + r * ldc, edge + r * NN_PANEL, columns * sizeof *c);
}

static void
multiply(const struct gemm *g, const struct gemm_block *b)
{
	struct addend addend = addend_of(g, b);
	struct strip strip = strip_of(g, b);
	const float *panel = (const float *)(const void *)b->panels;
	size_t stride = b->depth * NN_PANEL;
	float *c = g->c + b->m * g->ldc + b->n;

	if (g->b.packed) {
		stride = g->K * NN_PANEL;
		panel =
		    (const float *)g->b.at + b->n / NN_PANEL * stride + b->k * NN_PANEL;
	}
	for (size_t at = 0; at < b->columns; at += NN_PANEL) {
		if (at + NN_PANEL <= b->columns)
			multiply_panel(
			    c, g->ldc, addend, strip, panel, b->depth, b->rows);
		else
			multiply_edge(c, g->ldc, addend, strip, panel, b->depth, b->rows,
			    b->columns - at);
		c += NN_PANEL, addend.at += NN_PANEL, panel += stride;
	}
	if (b->k + b->depth == g->K)
		gemm_epilogue(g, b->m, b->rows, b->n, b->columns);
}

void
gemm_f32(const struct gemm *g, const struct gemm_rectangle *at)
{
	static const struct gemm_kind kind = { STRIP, DEPTH, SPAN, pack_a, pack_b,
		multiply };
	_Alignas(64) float panels[DEPTH * SPAN], strip[STRIP * STRIDE];

	gemm_drive(g, &kind, at, strip, panels);
}
