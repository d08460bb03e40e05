#include "nn/cpu/product.h"

#include <string.h>

#include "nn/cpu/halves.h"
#include "nn/cpu/packed.h"
#include "nn/cpu/transpose.h"

/*
 * As product.c, by the kernels of packed.h: pairs of k stand together in a word.  A block of b lies in panels, a strip of a
 * beside it, and the sums of a tile come in an array of their own.
 */
enum {
	STRIP = 96,  /* rows of a packed at once */
	DEPTH = 512, /* of K packed at once: whole PACKED_DEPTHs */
	SPAN = 512,  /* columns of b packed at once: whole PACKED_WIDTHs */
	PIECE = 128, /* of K transposed at once */
};

/* Bytes of a row of a and of a column of b, `depth` of K and zeros. */
static size_t
bytes_of(size_t depth)
{
	size_t bytes = depth * sizeof(uint16_t);

	return (bytes + PACKED_DEPTH - 1) / PACKED_DEPTH * PACKED_DEPTH;
}

/* `some` rows of a matrix of floats from `row` on, whose columns k..k+depth-1 become rows of halves of `bytes`; transposed: its
 * rows k.. and columns from `row` on.  Behind them zeros. */
static void
take_rows(char *to, const float *from, size_t ld, bool transposed, size_t row, size_t some,
    size_t k, size_t depth, size_t bytes)
{
	_Alignas(64) float piece[NN_LANES * PIECE];

	for (size_t r = 0; r < some; r++)
		memset(to + r * bytes + depth * sizeof(uint16_t), 0,
		    bytes - depth * sizeof(uint16_t));
	for (size_t r = 0; !transposed && r < some; r++)
		nn_take_halves(
		    (void *)(to + r * bytes), from + (row + r) * ld + k, depth);
	for (size_t r = 0; transposed && r < some; r += NN_LANES)
		for (size_t i = 0; i < depth; i += PIECE) {
			size_t high = some - r < NN_LANES ? some - r : NN_LANES;
			size_t wide = depth - i < PIECE ? depth - i : PIECE;
			size_t room = (wide + NN_LANES - 1) / NN_LANES * NN_LANES;
			nn_transpose(piece, PIECE, nn_f32(from + (k + i) * ld + row + r),
			    ld, 0, wide, high, room, 1);
			for (size_t j = 0; j < high; j++)
				nn_take_halves(
				    (void *)(to + (r + j) * bytes + i * sizeof(uint16_t)),
				    piece + j * PIECE, wide);
		}
}

/* words[n] = the halves of even[n], and of odd[n] above them; odd NULL: zeros. */
static void
take_pairs(uint32_t *words, const float *even, const float *odd, size_t n)
{
	static const float zeros[PACKED_PANEL];
	const float *above = odd ? odd : zeros;

#pragma omp simd
	for (size_t i = 0; i < n; i++)
		words[i] = (uint32_t)nn_half(even[i]) | (uint32_t)nn_half(above[i]) << 16;
}

/* Columns n..n+some-1 of b, k..k+depth-1, to panel[bytes / 4][PACKED_PANEL]. */
static void
pack_panel(uint32_t *panel, const struct product *p, size_t k, size_t depth, size_t n,
    size_t some, size_t bytes)
{
	size_t words = bytes / sizeof *panel;
	const float *b = p->b.at;

	if (some < PACKED_PANEL || depth < 2 * words)
		memset(panel, 0, bytes * PACKED_PANEL);
	if (p->b_transposed) {
		_Alignas(64) uint32_t row[DEPTH / 2];
		for (size_t i = 0; i < some; i++) {
			take_rows(
			    (char *)row, b, p->ldb, false, n + i, 1, k, depth, bytes);
			for (size_t w = 0; w < words; w++)
				panel[w * PACKED_PANEL + i] = row[w];
		}
		return;
	}
	for (size_t i = 0; i < depth; i += 2, panel += PACKED_PANEL) {
		const float *row = b + (k + i) * p->ldb + n;
		take_pairs(panel, row, i + 1 < depth ? row + p->ldb : NULL, some);
	}
}

static void
pack_b(char *panels, const struct product *p, size_t k, size_t depth, size_t n,
    size_t width, size_t bytes)
{
	for (size_t at = 0; at < width; at += PACKED_PANEL)
		pack_panel((void *)(panels + at * bytes), p, k, depth, n + at,
		    width - at < PACKED_PANEL ? width - at : PACKED_PANEL, bytes);
}

/* What the sums of row m, columns n.., are added to; a bias, or nothing, is not written there first. */
static const float *
before(const struct product *p, size_t k, size_t m, size_t n)
{
	static const float zeros[PACKED_WIDTH];

	if (k || p->beta != 0)
		return p->c + m * p->ldc + n;
	return p->bias ? p->bias + n : zeros;
}

static void
put_row(float *c, const union packed_sum *sums, const float *from, size_t width)
{
#pragma omp simd
	for (size_t i = 0; i < width; i++)
		c[i] = from[i] + sums[i].real;
}

/* A strip of a against the panels of the columns n.., of K from k on. */
static void
put_strip(const struct product *p, const struct packed_kernel *kernel, const char *strip,
    const char *panels, size_t k, size_t m, size_t rows, size_t n, size_t width,
    size_t bytes)
{
	_Alignas(64) union packed_sum sums[PACKED_HEIGHT * PACKED_WIDTH];

	for (size_t at = 0; at < width; at += PACKED_WIDTH) {
		size_t wide = width - at < PACKED_WIDTH ? width - at : PACKED_WIDTH;
		size_t count = (wide + PACKED_PANEL - 1) / PACKED_PANEL;
		for (size_t r = 0; r < rows; r += kernel->rows) {
			size_t some = rows - r < kernel->rows ? rows - r : kernel->rows;
			kernel->sums(sums, strip + r * bytes, panels + at * bytes, count,
			    some, bytes);
			for (size_t i = 0; i < some; i++)
				put_row(p->c + (m + r + i) * p->ldc + n + at,
				    sums + i * PACKED_WIDTH,
				    before(p, k, m + r + i, n + at), wide);
		}
	}
}

static void
columns_of_halves(const struct product *p, const struct packed_kernel *kernel, size_t m0,
    size_t m1, size_t n, size_t width)
{
	_Alignas(64) char panels[DEPTH * SPAN * sizeof(uint16_t)];
	_Alignas(64) char strip[STRIP * DEPTH * sizeof(uint16_t)];

	for (size_t k = 0; k < p->K || k == 0; k += DEPTH) {
		size_t depth = p->K - k < DEPTH ? p->K - k : DEPTH;
		size_t bytes = bytes_of(depth);
		pack_b(panels, p, k, depth, n, width, bytes);
		for (size_t m = m0; m < m1; m += STRIP) {
			size_t rows = m1 - m < STRIP ? m1 - m : STRIP;
			take_rows(
			    strip, p->a, p->lda, p->a_transposed, m, rows, k, depth, bytes);
			if (k == 0 && p->beta != 0)
				nn_product_begin(p, m, rows, n, width);
			put_strip(p, kernel, strip, panels, k, m, rows, n, width, bytes);
			if (k + depth == p->K)
				nn_product_finish(p, m, rows, n, width);
		}
	}
}

void
nn_rectangle_of_halves(
    const struct product *p, size_t m0, size_t m1, size_t n0, size_t n1)
{
	const struct packed_kernel *kernel = packed_kernel(DTYPE_BF16);

	if (kernel->begin)
		kernel->begin();
	for (size_t n = n0; n < n1; n += SPAN)
		columns_of_halves(p, kernel, m0, m1, n, n1 - n < SPAN ? n1 - n : SPAN);
	if (kernel->end)
		kernel->end();
}
