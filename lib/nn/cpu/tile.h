/*
 * tile - the innermost loop of every product: a tile of the result that grows in the registers.
 */
#ifndef TILE_H
#define TILE_H

#include "nn/cpu/cpu.h"

/* The rows of the largest tile that two vectors wide fits in the registers, 32 of them or 16; the
 * shorter tile leaves some for the addresses of rows that are not packed. */
#ifdef __AVX512F__
enum { NN_TILE = 12, NN_SHORT_TILE = 8 };
#else
enum { NN_TILE = 6, NN_SHORT_TILE = 6 };
#endif

enum { NN_PANEL = 2 * NN_LANES }; /* columns of a tile */

typedef float nn_vector __attribute__((vector_size(4 * NN_LANES)));
/* one anywhere in memory */
typedef float nn_loose __attribute__((vector_size(4 * NN_LANES), aligned(1), may_alias));

/*
 * c[r, :] = from[r, :] + sum over k of a[r ar + k ak] b[k, :], r < rows <= NN_TILE, k < depth, on
 * `vectors` (1 or 2) vectors' width of columns; from may be c, or NULL: zeros.  The sum runs in the order of k,
 * whatever the tile.  rows, vectors and whether from is NULL are constants where it is expanded.
 */
NN_INLINE void
nn_tile(float *c, size_t ldc, const float *from, size_t ldf, const float *a, size_t ar,
    size_t ak, const float *b, size_t ldb, size_t depth, size_t rows, int vectors)
{
	const nn_vector zero = { 0 };
	nn_vector left[NN_TILE], right[NN_TILE];

	for (size_t r = 0; r < rows; r++) {
		const nn_loose *row = (const nn_loose *)(from + r * ldf);
		left[r] = zero;
		right[r] = zero;
		if (from)
			left[r] = row[0];
		if (from && vectors == 2)
			right[r] = row[1];
	}
	for (size_t k = 0; k < depth; k++, a += ak, b += ldb) {
		const nn_loose *row = (const nn_loose *)b;
		nn_vector b0 = row[0], b1 = vectors == 2 ? row[1] : row[0];
		for (size_t r = 0; r < rows; r++) {
			left[r] += b0 * a[r * ar];
			if (vectors == 2)
				right[r] += b1 * a[r * ar];
		}
	}
	for (size_t r = 0; r < rows; r++) {
		nn_loose *row = (nn_loose *)(c + r * ldc);
		row[0] = left[r];
		if (vectors == 2)
			row[1] = right[r];
	}
}

/* Any number of rows, in tiles of at most `tallest`. */
NN_INLINE void
nn_tiles(float *c, size_t ldc, const float *from, size_t ldf, const float *a, size_t ar,
    size_t ak, const float *b, size_t ldb, size_t depth, size_t rows, size_t tallest,
    int vectors)
{
	size_t r = 0;

#define TILE(height)                                                                     \
	nn_tile(c + r * ldc, ldc, from ? from + r * ldf : NULL, ldf, a + r * ar, ar, ak, \
	    b, ldb, depth, height, vectors)
	for (; r + tallest <= rows; r += tallest)
		TILE(tallest);
	if (tallest > 8 && r + 8 <= rows) {
		TILE(8);
		r += 8;
	}
	if (tallest > 4 && r + 4 <= rows) {
		TILE(4);
		r += 4;
	}
	if (r + 2 <= rows) {
		TILE(2);
		r += 2;
	}
	if (r < rows)
		TILE(1);
#undef TILE
}

#endif
