/*
 * transpose - matrices turned, halves widened; squares of vectors turned in registers.
 */
#ifndef TRANSPOSE_H
#define TRANSPOSE_H

#include <string.h>

#include "nn/cpu/tile.h"

typedef uint32_t nn_words __attribute__((vector_size(4 * NN_LANES)));
typedef uint16_t nn_halves __attribute__((vector_size(2 * NN_LANES)));

/*
 * to[c, r] = from[r, c] scale for r < rows, c < columns; 0 for rows <= r < width.  width, a
 * multiple of NN_LANES, is what one row of `to` holds at least.
 */
void nn_transpose(float *to, size_t ldt, const float *from, size_t ldf, size_t rows,
    size_t columns, size_t width, float scale);

/* The same of f16 or bf16, unscaled; and those without turning them. */
void nn_transpose_half(float *to, size_t ldt, const uint16_t *from, size_t ldf,
    size_t rows, size_t columns, size_t width, enum dtype dtype);
void nn_widen(float *to, const uint16_t *from, enum dtype dtype, size_t n);

/* The first, or the second, halves of a and b merged. */
#ifdef __AVX512F__
NN_INLINE void
nn_first_halves(nn_vector *to, const nn_vector *a, const nn_vector *b)
{
	*to = __builtin_shufflevector(
	    *a, *b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

NN_INLINE void
nn_second_halves(nn_vector *to, const nn_vector *a, const nn_vector *b)
{
	*to = __builtin_shufflevector(
	    *a, *b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}
#else
NN_INLINE void
nn_first_halves(nn_vector *to, const nn_vector *a, const nn_vector *b)
{
	*to = __builtin_shufflevector(*a, *b, 0, 8, 1, 9, 2, 10, 3, 11);
}

NN_INLINE void
nn_second_halves(nn_vector *to, const nn_vector *a, const nn_vector *b)
{
	*to = __builtin_shufflevector(*a, *b, 4, 12, 5, 13, 6, 14, 7, 15);
}
#endif

/* Each row of the lower half merged with its fellow of the upper half. */
NN_INLINE void
nn_merge(nn_vector *to, const nn_vector *from)
{
	for (size_t r = 0; r < NN_LANES / 2; r++) {
		nn_first_halves(to + 2 * r, from + r, from + r + NN_LANES / 2);
		nn_second_halves(to + 2 * r + 1, from + r, from + r + NN_LANES / 2);
	}
}

/* Rows become columns: the merge, repeated as often as two goes into the side. */
NN_INLINE void
nn_turn(nn_vector *rows)
{
	nn_vector other[NN_LANES];

	nn_merge(other, rows);
	nn_merge(rows, other);
	nn_merge(other, rows);
	if (NN_LANES == 16)
		nn_merge(rows, other);
	else
		memcpy(rows, other, sizeof other);
}

/*
 * Sixteen bits that lie low in each word, or high where `high`, as floats.  A bf16 is the
 * upper half of a float.  Of an f16 the exponent moves from bias 15 to 127; the subnormals
 * become normal by way of the adder, as 2^-14 (1 + mantissa) - 2^-14, and what is not finite
 * keeps the greatest exponent.
 */
NN_INLINE void
nn_widen_words(nn_vector *to, const nn_words *from, bool high, enum dtype dtype)
{
	nn_words x = *from;

	if (dtype == DTYPE_BF16) {
		x = high ? x & 0xffff0000u : x << 16;
		memcpy(to, &x, sizeof x);
		return;
	}
	x = high ? x >> 16 : x;
	nn_words sign = (x & 0x8000) << 16, bits = (x & 0x7fff) << 13;
	nn_words small = bits | 0x38800000u, large = bits + (112u << 23);
	nn_vector tiny, least;
	memcpy(&tiny, &small, sizeof tiny);
	memset(&least, 0, sizeof least);
	least += 0x1p-14f;
	tiny -= least;
	memcpy(&small, &tiny, sizeof small);
	nn_words normal = (nn_words)(bits >= 1u << 23);
	nn_words endless = (nn_words)(bits >= 31u << 23);
	large += endless & (112u << 23);
	x = (normal & large) | (~normal & small) | sign;
	memcpy(to, &x, sizeof x);
}

#endif
