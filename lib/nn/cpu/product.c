#include "nn/cpu/product.h"
#include "nn/cpu/transpose.h"

#include <omp.h>

#include "nn/nn.h"

/*
 * Matrix products after Goto and van de Geijn 2008: a block of b is packed into panels that
 * stay in the second cache, a strip of a beside it, and a tile of c grows in the registers.
 */
enum {
	STRIP = 48,  /* rows of a packed at once: whole tiles, whole vectors */
	DEPTH = 384, /* of K packed at once */
	SPAN = 384,  /* columns of b packed at once: whole panels */
	STRIDE = DEPTH + NN_LANES /* of a packed row; not a power of two */
};

/* Packing. ------------------------------------------------------------------------- */

/* `some` columns of b from element `from` on, and zeros, to panel[depth][NN_PANEL] */
static void
pack_panel(
    float *panel, const struct nn_product *p, size_t from, size_t some, size_t depth)
{
	const float *b = p->b.at;
	const uint16_t *half = p->b.at;

	if (p->b_turned && p->b.dtype == DTYPE_F32)
		nn_transpose(panel, NN_PANEL, b + from, p->ldb, some, depth, NN_PANEL, 1);
	else if (p->b_turned)
		nn_transpose_half(panel, NN_PANEL, half + from, p->ldb, some, depth,
		    NN_PANEL, p->b.dtype);
	else
		for (size_t i = 0; i < depth; i++, panel += NN_PANEL, from += p->ldb) {
			if (some < NN_PANEL)
				memset(panel, 0, NN_PANEL * sizeof *panel);
			if (p->b.dtype == DTYPE_F32)
				memcpy(panel, b + from, some * sizeof *panel);
			else
				nn_widen(panel, half + from, p->b.dtype, some);
		}
}

/* b[k..k+depth-1, n..n+width-1] to panels[width / NN_PANEL][depth][NN_PANEL] */
static void
pack_b(float *panels, const struct nn_product *p, size_t k, size_t depth, size_t n,
    size_t width)
{
	for (size_t at = 0; at < width; at += NN_PANEL, panels += depth * NN_PANEL) {
		size_t some = width - at < NN_PANEL ? width - at : NN_PANEL;
		size_t from = p->b_turned ? (n + at) * p->ldb + k : k * p->ldb + n + at;
		pack_panel(panels, p, from, some, depth);
	}
}

/* alpha a[m..m+rows-1, k..k+depth-1] to strip[rows][STRIDE] */
static void
pack_a(float *strip, const struct nn_product *p, size_t k, size_t depth, size_t m,
    size_t rows)
{
	if (p->a_turned) {
		size_t width = (depth + NN_LANES - 1) / NN_LANES * NN_LANES;
		nn_transpose(strip, STRIDE, p->a + k * p->lda + m, p->lda, depth, rows,
		    width, p->alpha);
		return;
	}
	for (size_t r = 0; r < rows; r++)
		for (size_t i = 0; i < depth; i++)
			strip[r * STRIDE + i] = p->alpha * p->a[(m + r) * p->lda + k + i];
}

/* Multiplication. ------------------------------------------------------------------ */

/* c[rows, NN_PANEL] += strip[rows, depth] panel[depth, NN_PANEL] */
static void
panel_product(float *c, size_t ldc, const float *strip, const float *panel, size_t depth,
    size_t rows)
{
	nn_tiles(
	    c, ldc, strip, STRIDE, 1, panel, NN_PANEL, depth, rows, NN_TILE, 2, false);
}

/* What c starts from: beta c + bias. */
static void
begin(const struct nn_product *p, size_t m, size_t rows, size_t n, size_t width)
{
	for (size_t r = 0; r < rows; r++) {
		float *c = p->c + (m + r) * p->ldc + n;
		if (p->beta == 0)
			for (size_t j = 0; j < width; j++)
				c[j] = p->bias ? p->bias[n + j] : 0;
		else
			for (size_t j = 0; j < width; j++)
				c[j] = p->beta * c[j] + (p->bias ? p->bias[n + j] : 0);
	}
}

/* A strip of a against the packed columns n.. of b. */
static void
strip_product(const struct nn_product *p, const float *strip, const float *panels,
    size_t depth, size_t m, size_t rows, size_t n, size_t width)
{
	for (size_t at = 0; at < width; at += NN_PANEL) {
		const float *panel = panels + at * depth;
		float *c = p->c + m * p->ldc + n + at;
		if (at + NN_PANEL <= width) {
			panel_product(c, p->ldc, strip, panel, depth, rows);
			continue;
		}
		_Alignas(64) float edge[STRIP * NN_PANEL] = { 0 };
		for (size_t r = 0; r < rows; r++)
			memcpy(edge + r * NN_PANEL, c + r * p->ldc,
			    (width - at) * sizeof *c);
		panel_product(edge, NN_PANEL, strip, panel, depth, rows);
		for (size_t r = 0; r < rows; r++)
			memcpy(c + r * p->ldc, edge + r * NN_PANEL,
			    (width - at) * sizeof *c);
	}
}

/* One thread's rectangle of c. */
static void
rectangle(const struct nn_product *p, size_t m0, size_t m1, size_t n0, size_t n1)
{
	_Alignas(64) float panels[DEPTH * SPAN], strip[STRIP * STRIDE];

	for (size_t n = n0; n < n1; n += SPAN) {
		size_t width = n1 - n < SPAN ? n1 - n : SPAN;
		for (size_t k = 0; k < p->K || k == 0; k += DEPTH) {
			size_t depth = p->K - k < DEPTH ? p->K - k : DEPTH;
			pack_b(panels, p, k, depth, n, width);
			for (size_t m = m0; m < m1; m += STRIP) {
				size_t rows = m1 - m < STRIP ? m1 - m : STRIP;
				pack_a(strip, p, k, depth, m, rows);
				if (k == 0)
					begin(p, m, rows, n, width);
				strip_product(p, strip, panels, depth, m, rows, n, width);
				if (p->activate && k + depth == p->K)
					for (size_t r = 0; r < rows; r++) {
						float *c = p->c + (m + r) * p->ldc + n;
						nn_activate_serial(c, c, p->act, width);
					}
			}
		}
	}
}

/* The same for a few rows. */
static void
few_rows(const struct nn_product *p, size_t n0, size_t n1)
{
	begin(p, 0, p->M, n0, n1 - n0);
	nn_multiply_few(p, n0, n1);
	for (size_t r = 0; p->activate && r < p->M; r++) {
		float *c = p->c + r * p->ldc + n0;
		nn_activate_serial(c, c, p->act, n1 - n0);
	}
}

static size_t
parts(size_t whole, size_t part)
{
	return (whole + part - 1) / part;
}

/* Threads to set along the rows; the others go along the columns.  A thread's time is that of
 * its rectangle, and of packing its columns of b, which costs as much as some ten rows. */
static size_t
threads_along_rows(const struct nn_product *p, size_t threads)
{
	size_t best = 1, least = SIZE_MAX;

	for (size_t along = 1; along <= threads; along++) {
		if (threads % along)
			continue;
		size_t rows = parts(parts(p->M, NN_TILE), along) * NN_TILE + 10;
		size_t time = rows * parts(parts(p->N, NN_PANEL), threads / along);
		if (time < least) {
			least = time;
			best = along;
		}
	}
	return best;
}

void
nn_multiply(const struct nn_product *p)
{
	bool few = p->M <= NN_FEW && p->b_turned && !p->a_turned && p->alpha == 1;

#pragma omp parallel if (p->M * p->N * p->K > 1 << 20)
	{
		size_t threads = (size_t)omp_get_num_threads();
		size_t thread = (size_t)omp_get_thread_num();
		size_t along = few ? 1 : threads_along_rows(p, threads),
		       across = threads / along;
		size_t rows = parts(p->M, NN_TILE), columns = parts(p->N, NN_PANEL);
		size_t i = thread % along, j = thread / along;
		size_t m0 = rows * i / along * NN_TILE,
		       m1 = rows * (i + 1) / along * NN_TILE;
		size_t n0 = columns * j / across * NN_PANEL,
		       n1 = columns * (j + 1) / across * NN_PANEL;
		m1 = m1 < p->M ? m1 : p->M;
		n1 = n1 < p->N ? n1 : p->N;
		if (few && n0 < n1)
			few_rows(p, n0, n1);
		else
			rectangle(p, m0, m1, n0, n1);
	}
}
