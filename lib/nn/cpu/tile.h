/*
 * tile - the innermost loop of every product: a tile of the result that grows in the registers.
 */
#ifndef NN_CPU_TILE_H
#define NN_CPU_TILE_H

#include "nn/cpu/cpu.h"

/* The rows of the largest tile that two vectors wide fits in the registers, 32 of them or 16; the
 * shorter tile leaves some for the addresses of rows that are not packed. */
#ifdef __AVX512F__
enum { NN_TILE = 12, NN_SHORT_TILE = 8 };
#else
enum { NN_TILE = 6, NN_SHORT_TILE = 6 };
#endif

enum { NN_PANEL = 2 * NN_LANES }; /* columns of a tile */

/* Rows of a packed b that are fetched ahead: the hardware's own fetching is behind two 512-bit products a cycle. */
enum { NN_AHEAD = 32 };

typedef float nn_vector __attribute__((vector_size(4 * NN_LANES)));
/* unaligned */
typedef float nn_loose __attribute__((vector_size(4 * NN_LANES), aligned(1), may_alias));

/*
 * c[r, :] = from[r, :] + sum over k of a[r ar + k ak] b[k, :], r < rows <= NN_TILE, k < depth, on
 * `vectors` (1 or 2) vectors' width of columns; from may be c, or with ldf 0 one row for all.  The sum runs in the order of k,
 * whatever the tile.  rows and vectors are constants where it is expanded.
 */
#if defined __aarch64__ && !defined __clang__
/* gcc keeps vectors that are wider than a register in memory. */
typedef float nn_register __attribute__((vector_size(16)));
typedef float nn_loose_register __attribute__((vector_size(16), aligned(1), may_alias));
enum { NN_REGISTERS = sizeof(nn_vector) / sizeof(nn_register) };

NN_INLINE void
nn_tile(float *c, size_t ldc, const float *from, size_t ldf, const float *a, size_t ar,
    size_t ak, const float *b, size_t ldb, size_t depth, size_t rows, int vectors)
{
	nn_register sum[NN_TILE][2 * NN_REGISTERS];
	const int registers = vectors * NN_REGISTERS;

#pragma GCC unroll 6
	for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 4
		for (int n = 0; n < registers; n++)
			sum[r][n] = ((const nn_loose_register *)(from + r * ldf))[n];
	for (size_t k = 0; k < depth; k++, a += ak, b += ldb)
#pragma GCC unroll 6
		for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 4
			for (int n = 0; n < registers; n++)
				sum[r][n] +=
				    ((const nn_loose_register *)b)[n] * a[r * ar];
#pragma GCC unroll 6
	for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 4
		for (int n = 0; n < registers; n++)
			((nn_loose_register *)(c + r * ldc))[n] = sum[r][n];
}
#else
NN_INLINE void
nn_tile(float *c, size_t ldc, const float *from, size_t ldf, const float *a, size_t ar,
    size_t ak, const float *b, size_t ldb, size_t depth, size_t rows, int vectors)
{
	nn_vector left[NN_TILE], right[NN_TILE];

	for (size_t r = 0; r < rows; r++) {
		const nn_loose *row = (const nn_loose *)(from + r * ldf);
		left[r] = row[0];
		right[r] = vectors == 2 ? row[1] : row[0];
	}
	for (size_t k = 0; k < depth; k++, a += ak, b += ldb) {
		const nn_loose *row = (const nn_loose *)b;
#ifdef __AVX512F__
		if (ldb == NN_PANEL) {
			__builtin_prefetch(b + NN_AHEAD * NN_PANEL);
			__builtin_prefetch(b + NN_AHEAD * NN_PANEL + NN_LANES);
		}
#endif
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
#endif

/* An addend of zeros, with ldf 0. */
static const float nn_zeros[NN_PANEL];

/* Any number of rows, in tiles of at most `height` rows. */
NN_INLINE void
nn_tiles(float *c, size_t ldc, const float *from, size_t ldf, const float *a, size_t ar,
    size_t ak, const float *b, size_t ldb, size_t depth, size_t rows, size_t height,
    int vectors)
{
	for (; rows >= height; rows -= height) {
		nn_tile(c, ldc, from, ldf, a, ar, ak, b, ldb, depth, height, vectors);
		c += height * ldc, from += height * ldf, a += height * ar;
	}
	if (height > 8 && rows >= 8) {
		nn_tile(c, ldc, from, ldf, a, ar, ak, b, ldb, depth, 8, vectors);
		rows -= 8, c += 8 * ldc, from += 8 * ldf, a += 8 * ar;
	}
	if (height > 4 && rows >= 4) {
		nn_tile(c, ldc, from, ldf, a, ar, ak, b, ldb, depth, 4, vectors);
		rows -= 4, c += 4 * ldc, from += 4 * ldf, a += 4 * ar;
	}
	if (rows >= 2) {
		nn_tile(c, ldc, from, ldf, a, ar, ak, b, ldb, depth, 2, vectors);
		rows -= 2, c += 2 * ldc, from += 2 * ldf, a += 2 * ar;
	}
	if (rows)
		nn_tile(c, ldc, from, ldf, a, ar, ak, b, ldb, depth, 1, vectors);
}

#endif
