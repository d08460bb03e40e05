/* GEMM of bf16 and int8 by the microkernels: of weights that nn_pack made, or of floats rounded to bf16 on the way. */
#include <string.h>

#include "nn/cpu/elementary.h"
#include "nn/cpu/gemm.h"
#include "nn/cpu/microkernel.h"
#include "nn/cpu/packed.h"
#include "nn/cpu/transpose.h"

enum {
	DEPTH = 512, /* terms of floats that become bf16: whole PACKED_DEPTHs */
	SPAN = 512,  /* columns: whole PACKED_WIDTHs */
	/* bytes of a strip of a, at most: a thread has 2 MiB of stack where stacks are not limited */
	STRIP_BYTES = PACKED_TILE * 2 * NN_MAX_PACKED
};

/* Bytes of a packed row of a or column of b. */
static size_t
row_bytes(const struct gemm *g, const struct gemm_block *b)
{
	size_t size = g->b.dtype == DTYPE_I8 ? 1 : sizeof(uint16_t);

	return nn_round_up(b->depth * size, PACKED_DEPTH);
}

/* Bytes of a row of a in a strip. */
static size_t
strip_bytes(const struct gemm *g, const struct gemm_block *b)
{
	bool wide = g->b.dtype == DTYPE_I8 && microkernel(DTYPE_I8)->widen;

	return row_bytes(g, b) * (wide ? sizeof(uint16_t) : 1);
}

/* Floats to bf16. ------------------------------------------------------------------ */

/* Terms i.. of the strip's rows, from 2 NN_LANES rows of a: terms are rounded in pairs, and words of two terms transposed. */
static void
round_columns(const struct gemm *g, const struct gemm_block *b, size_t i, size_t bytes)
{
	_Alignas(64) uint32_t pairs[NN_LANES][NN_LANES] = { 0 };
	size_t terms = b->depth - i < 2 * NN_LANES ? b->depth - i : 2 * NN_LANES;

	for (size_t r = 0; r < b->rows; r += NN_LANES) {
		size_t rows = b->rows - r < NN_LANES ? b->rows - r : NN_LANES;
		const float *a = g->a + (b->k + i) * g->lda + b->m + r;
		nn_vector words[NN_LANES];

		for (size_t t = 0; t < terms; t += 2, a += 2 * g->lda) {
			__builtin_prefetch(a + 2 * NN_LANES * g->lda, 0, 2);
			__builtin_prefetch(a + (2 * NN_LANES + 1) * g->lda, 0, 2);
			nn_bf16_pairs(
			    pairs[t / 2], a, t + 1 < terms ? a + g->lda : NULL, rows);
		}
		nn_load_transposed(
		    words, (const char *)pairs, sizeof *pairs, NN_LANES, 0, 1);
		for (size_t j = 0; j < rows; j++)
			*(nn_loose *)(void *)(b->strip + (r + j) * bytes +
					      i * sizeof(uint16_t)) = words[j];
	}
}

static void
pack_a_bf16(const struct gemm *g, struct gemm_block *b)
{
	size_t bytes = row_bytes(g, b), used = b->depth * sizeof(uint16_t);

	for (size_t r = 0; r < b->rows; r++) {
		char *to = b->strip + r * bytes;
		memset(to + used, 0, bytes - used);
		if (!g->a_transposed)
			nn_bf16_row((uint16_t *)(void *)to,
			    g->a + (b->m + r) * g->lda + b->k, b->depth);
	}
	if (g->a_transposed)
		for (size_t i = 0; i < b->depth; i += 2 * NN_LANES)
			round_columns(g, b, i, bytes);
}

/* `count` terms of row `row` of b, from `first` on, as f32: b itself, or widened to `room`. */
static const float *
row_of(const struct gemm *g, size_t row, size_t first, size_t count, float *room)
{
	const struct nn_matrix at = nn_matrix_from(g->b, row, g->ldb);

	if (at.dtype == DTYPE_F32)
		return (const float *)at.at + first;
	nn_widen(room, (const uint16_t *)at.at + first, at.dtype, count);
	return room;
}

/* Columns n.. of b to panel[bytes / 4][PACKED_PANEL]. */
static void
pack_panel(uint32_t *panel, const struct gemm *g, const struct gemm_block *b, size_t n,
    size_t columns, size_t bytes)
{
	size_t words = bytes / sizeof *panel;
	float room[2][DEPTH];

	if (columns < PACKED_PANEL || b->depth < 2 * words)
		memset(panel, 0, bytes * PACKED_PANEL);
	if (g->b_transposed) {
		_Alignas(64) union {
			uint16_t term[DEPTH];
			uint32_t pair[DEPTH / 2];
		} row;
		memset(row.term + b->depth, 0, bytes - b->depth * sizeof *row.term);
		for (size_t i = 0; i < columns; i++) {
			nn_bf16_row(
			    row.term, row_of(g, n + i, b->k, b->depth, *room), b->depth);
			for (size_t w = 0; w < words; w++)
				panel[w * PACKED_PANEL + i] = row.pair[w];
		}
		return;
	}
	for (size_t i = 0; i < b->depth; i += 2, panel += PACKED_PANEL) {
		const float *even = row_of(g, b->k + i, n, columns, room[0]);
		const float *odd = i + 1 < b->depth
				       ? row_of(g, b->k + i + 1, n, columns, room[1])
				       : NULL;
		nn_bf16_pairs(panel, even, odd, columns);
	}
}

static void
pack_b(const struct gemm *g, struct gemm_block *b)
{
	size_t bytes = row_bytes(g, b);

	for (size_t at = 0; at < b->columns; at += PACKED_PANEL)
		pack_panel((void *)(b->panels + at * bytes), g, b, b->n + at,
		    b->columns - at < PACKED_PANEL ? b->columns - at : PACKED_PANEL,
		    bytes);
}

/* Floats to int8. ------------------------------------------------------------------ */

static void
pack_a_i8(const struct gemm *g, struct gemm_block *b)
{
	const struct row_map map = {
		.smooth = packed_parts(g->b.at, DTYPE_I8, g->N, g->K).smooth
	};

	quantize_rows(b->strip, b->scales, g->a + b->m * g->lda, g->lda, &map, b->rows,
	    g->K, row_bytes(g, b));
}

/* Epilogues. ----------------------------------------------------------------------- */

/* Rows of a tile. */
struct put {
	float *c;
	size_t ldc, rows;
	const float *addend; /* a bias or zeros, of all rows; or c */
	size_t ldf;	     /* from an addend to that of the next row */
	const union packed_sum *sums;
	const float *scale, *offset; /* of the columns; i8 */
	const struct row_scale *row; /* i8 */
	const enum nn_act *act;
};

NN_INLINE void
put_i8(const struct put *p, size_t columns, bool gelu)
{
	for (size_t r = 0; r < p->rows; r++) {
		const union packed_sum *sums = p->sums + r * PACKED_WIDTH;
		const float *addend = p->addend + r * p->ldf;
		float *c = p->c + r * p->ldc, scale = p->row[r].scale,
		      base = p->row[r].base;
#pragma omp simd
		for (size_t i = 0; i < columns; i++) {
			float value = (float)sums[i].i32 * (scale * p->scale[i]) +
				      (base * p->offset[i] + addend[i]);
			c[i] = gelu ? nn_gelu_coarse(value) : value;
		}
	}
}

NN_INLINE void
put_bf16(const struct put *p, size_t columns, bool gelu)
{
	for (size_t r = 0; r < p->rows; r++) {
		const union packed_sum *sums = p->sums + r * PACKED_WIDTH;
		const float *addend = p->addend + r * p->ldf;
		float *c = p->c + r * p->ldc;
#pragma omp simd
		for (size_t i = 0; i < columns; i++) {
			float value = addend[i] + sums[i].f32;
			c[i] = gelu ? nn_gelu_coarse(value) : value;
		}
	}
}

/* coarse: GELU by nn_gelu_coarse */
NN_INLINE void
put_columns(const struct put *p, size_t columns, bool coarse)
{
	bool gelu = coarse && p->act && *p->act == NN_GELU;

	if (p->scale && gelu)
		put_i8(p, columns, true);
	else if (p->scale)
		put_i8(p, columns, false);
	else if (gelu)
		put_bf16(p, columns, true);
	else
		put_bf16(p, columns, false);
	for (size_t r = 0; p->act && !gelu && r < p->rows; r++)
		nn_activate_serial(
		    p->c + r * p->ldc, p->c + r * p->ldc, *p->act, columns);
}

/* The products. -------------------------------------------------------------------- */

/* A tile at row r of the strip and column n of c, from its sums. */
static void
put_tile(const struct gemm *g, const struct gemm_block *b, const struct packed_matrix *w,
    const union packed_sum *sums, size_t r, size_t rows, size_t n, size_t columns)
{
	static const float zeros[PACKED_WIDTH];
	bool adds = b->k || g->beta != 0;
	struct put put = { .c = g->c + (b->m + r) * g->ldc + n,
		.ldc = g->ldc,
		.rows = rows,
		.ldf = adds ? g->ldc : 0,
		.sums = sums };

	put.addend = adds ? put.c : g->bias ? g->bias + n : zeros;
	put.act = b->k + b->depth == g->K ? g->act : NULL;
	if (w->scale) {
		put.scale = w->scale + n;
		put.offset = w->offset + n;
		put.row = &b->scales[r];
	}
	/* so that the compiler knows the number of columns that most tiles have */
	if (columns == PACKED_WIDTH)
		put_columns(&put, PACKED_WIDTH, g->b.packed);
	else
		put_columns(&put, columns, g->b.packed);
}

static void
multiply(const struct gemm *g, const struct gemm_block *b)
{
	const struct microkernel *kernel =
	    microkernel(g->b.dtype == DTYPE_I8 ? DTYPE_I8 : DTYPE_BF16);
	_Alignas(64) union packed_sum sums[PACKED_HEIGHT * PACKED_WIDTH];
	size_t bytes = row_bytes(g, b), strip = strip_bytes(g, b);
	struct packed_matrix w = { .values = b->panels };

	if (g->b.packed) {
		w = packed_parts(g->b.at, g->b.dtype, g->N, g->K);
		w.values += b->n * bytes;
	}
	for (size_t at = 0; at < b->columns; at += PACKED_WIDTH) {
		size_t columns =
		    b->columns - at < PACKED_WIDTH ? b->columns - at : PACKED_WIDTH;
		size_t panels = (columns + PACKED_PANEL - 1) / PACKED_PANEL;
		for (size_t r = 0; r < b->rows; r += kernel->rows) {
			size_t rows =
			    b->rows - r < kernel->rows ? b->rows - r : kernel->rows;
			kernel->sums(sums, b->strip + r * strip, w.values + at * bytes,
			    panels, rows, bytes);
			put_tile(g, b, &w, sums, r, rows, b->n + at, columns);
		}
	}
}

static void
drive(const struct gemm *g, const struct gemm_kind *kind, const struct gemm_rectangle *at,
    char *strip, char *panels)
{
	const struct microkernel *kernel =
	    microkernel(g->b.dtype == DTYPE_I8 ? DTYPE_I8 : DTYPE_BF16);

	if (kernel->begin)
		kernel->begin();
	gemm_drive(g, kind, at, strip, panels);
	if (kernel->end)
		kernel->end();
}

void
gemm_bf16(const struct gemm *g, const struct gemm_rectangle *at)
{
	/* a shorter sum leaves room for more columns, so that a is packed less often */
	size_t depth = g->K < DEPTH ? nn_round_up(g->K + !g->K, PACKED_DEPTH) : DEPTH;
	const struct gemm_kind kind = { GEMM_STRIP, DEPTH,
		DEPTH * SPAN / depth / PACKED_WIDTH * PACKED_WIDTH, pack_a_bf16, pack_b,
		multiply };
	_Alignas(64) char panels[DEPTH * SPAN * sizeof(uint16_t)];
	_Alignas(64) char strip[GEMM_STRIP * DEPTH * sizeof(uint16_t)];

	drive(g, &kind, at, strip, panels);
}

void
gemm_packed(const struct gemm *g, const struct gemm_rectangle *at)
{
	_Alignas(64) char strip[STRIP_BYTES];
	const struct gemm_block whole = { .depth = g->K };
	size_t bytes = strip_bytes(g, &whole);
	size_t most =
	    bytes ? STRIP_BYTES / bytes / PACKED_TILE * PACKED_TILE : GEMM_STRIP;
	const struct gemm_kind kind = { most < GEMM_STRIP ? most : GEMM_STRIP,
		g->K ? g->K : 1, at->n1 - at->n0,
		g->b.dtype == DTYPE_I8 ? pack_a_i8 : pack_a_bf16, NULL, multiply };

	drive(g, &kind, at, strip, NULL);
}
