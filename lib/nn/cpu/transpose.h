/*
 * transpose - matrices transposed, halves widened, and squares of vectors turned in registers.
 */
#ifndef NN_CPU_TRANSPOSE_H
#define NN_CPU_TRANSPOSE_H

#include <string.h>

#include "nn/cpu/tile.h"

typedef uint32_t nn_words __attribute__((vector_size(4 * NN_LANES)));
typedef int32_t nn_integers __attribute__((vector_size(4 * NN_LANES)));
typedef uint16_t nn_halves __attribute__((vector_size(2 * NN_LANES)));

/*
 * to[c, r] = from[r, first + c] scale for r < rows, c < columns; 0 for rows <= r < width.  width,
 * a multiple of NN_LANES, is what one row of `to` holds at least.  scale is 1 for all but floats.
 */
void nn_transpose(float *to, size_t ldt, struct nn_matrix from, size_t ldf, size_t first,
    size_t rows, size_t columns, size_t width, float scale);

/* Halves as floats. */
void nn_widen(float *to, const uint16_t *from, enum dtype dtype, size_t n);

/* What the eight bits of column c are to be multiplied by, in a row of C. */
NN_INLINE float
nn_scale_of(const char *row, size_t C, size_t c)
{
	float scale;

	memcpy(&scale, row + C + c / NN_QUANT_GROUP * sizeof scale, sizeof scale);
	return scale;
}

/* That of NN_LANES rows, `row` bytes apart, of which `some` are there. */
NN_INLINE void
nn_take_scales(
    nn_vector *scales, const char *at, size_t row, size_t some, size_t C, size_t c)
{
	float all[NN_LANES] = { 0 };

	for (size_t r = 0; r < NN_LANES; r++)
		if (r < some)
			all[r] = nn_scale_of(at + r * row, C, c);
	*scales = *(const nn_loose *)all;
}

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

/*
 * A square of vectors turned: NN_LANES rows of as many words from `at` on, `row` bytes apart, of
 * which `some` are there, times scale; the others are zeros.  Rows become columns by the merge,
 * repeated as often as two goes into the side; the first is done while loading, and so is the
 * scaling: gcc 12 runs short of registers otherwise.  What lies `ahead` bytes further is asked
 * for, into the second cache: the first is too small for it.
 */
NN_INLINE void
nn_take_square(
    nn_vector *square, const char *at, size_t row, size_t some, size_t ahead, float scale)
{
	nn_vector other[NN_LANES];

	for (size_t r = 0; r < NN_LANES / 2; r++, at += row) {
		nn_vector low = { 0 }, high = { 0 };
		const char *above = at + NN_LANES / 2 * row;
		if (r < some)
			low = *(const nn_loose *)at * scale;
		if (r + NN_LANES / 2 < some)
			high = *(const nn_loose *)above * scale;
		nn_first_halves(other + 2 * r, &low, &high);
		nn_second_halves(other + 2 * r + 1, &low, &high);
		__builtin_prefetch(at + ahead, 0, 2);
		__builtin_prefetch(above + ahead, 0, 2);
	}
	nn_merge(square, other);
	nn_merge(other, square);
	if (NN_LANES == 16)
		nn_merge(square, other);
	else
		memcpy(square, other, sizeof other);
}

/* Elements of a type in a word. */
NN_INLINE size_t
nn_parts(enum dtype dtype)
{
	return sizeof(float) / nn_element(dtype);
}

/*
 * One element of each word, `part` from the lowest on, as floats; those of eight bits times
 * scales.  A bf16 is the upper half of a float.  Of an f16 the exponent moves from bias 15 to
 * 127; the subnormals become normal by way of the adder, as 2^-14 (1 + mantissa) - 2^-14, and
 * what is not finite keeps the greatest exponent.
 */
NN_INLINE void
nn_widen_words(nn_vector *to, const void *words, size_t part, enum dtype dtype,
    const nn_vector *scales)
{
	nn_words x;

	memcpy(&x, words, sizeof x);
	if (dtype == DTYPE_F32) {
		memcpy(to, &x, sizeof x);
		return;
	}
	if (dtype == DTYPE_I8) {
		nn_integers signs = (nn_integers)(x << (24 - 8 * part)) >> 24;
		*to = __builtin_convertvector(signs, nn_vector) * *scales;
		return;
	}
	if (dtype == DTYPE_BF16) {
		x = part ? x & 0xffff0000u : x << 16;
		memcpy(to, &x, sizeof x);
		return;
	}
	x = part ? x >> 16 : x;
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
