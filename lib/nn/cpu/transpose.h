/*
 * transpose - matrices transposed, f16, bf16 and i8 widened to f32, and blocks of NN_LANES vectors transposed in registers.
 */
#ifndef NN_CPU_TRANSPOSE_H
#define NN_CPU_TRANSPOSE_H

#include <string.h>

#include "nn/cpu/tile.h"

typedef uint32_t nn_words __attribute__((vector_size(4 * NN_LANES)));
typedef int32_t nn_integers __attribute__((vector_size(4 * NN_LANES)));
typedef uint16_t nn_shorts __attribute__((vector_size(2 * NN_LANES)));
/* the bits of a vector of another type */
typedef nn_words nn_same_words __attribute__((may_alias));

/*
 * to[c, r] = from[r, first + c] scale for r < rows, c < columns; 0 for rows <= r < width, a multiple of NN_LANES.  scale is 1
 * unless `from` is f32.
 */
void nn_transpose(float *to, size_t ldt, struct nn_matrix from, size_t ldf, size_t first,
    size_t rows, size_t columns, size_t width, float scale);

/* f16 or bf16 as f32. */
void nn_widen(float *to, const uint16_t *from, enum dtype dtype, size_t n);

/* The scale of the i8 value in column c of a row of C. */
NN_INLINE float
nn_scale_of(const char *row, size_t C, size_t c)
{
	float scale;

	memcpy(&scale, row + C + c / NN_QUANT_GROUP * sizeof scale, sizeof scale);
	return scale;
}

/* The same of NN_LANES rows, `row` bytes apart, of which `some` exist. */
NN_INLINE void
nn_load_scales(
    nn_vector *scales, const char *at, size_t row, size_t some, size_t C, size_t c)
{
	float all[NN_LANES] = { 0 };

	for (size_t r = 0; r < NN_LANES; r++)
		if (r < some)
			all[r] = nn_scale_of(at + r * row, C, c);
	*scales = *(const nn_loose *)all;
}

/* The low, or the high, halves of a and b interleaved. */
#ifdef __AVX512F__
NN_INLINE void
nn_interleave_low(nn_vector *to, const nn_vector *a, const nn_vector *b)
{
	*to = __builtin_shufflevector(
	    *a, *b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

NN_INLINE void
nn_interleave_high(nn_vector *to, const nn_vector *a, const nn_vector *b)
{
	*to = __builtin_shufflevector(
	    *a, *b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}
#else
NN_INLINE void
nn_interleave_low(nn_vector *to, const nn_vector *a, const nn_vector *b)
{
	*to = __builtin_shufflevector(*a, *b, 0, 8, 1, 9, 2, 10, 3, 11);
}

NN_INLINE void
nn_interleave_high(nn_vector *to, const nn_vector *a, const nn_vector *b)
{
	*to = __builtin_shufflevector(*a, *b, 4, 12, 5, 13, 6, 14, 7, 15);
}
#endif

/* Row r interleaved with row r + NN_LANES / 2. */
NN_INLINE void
nn_interleave(nn_vector *to, const nn_vector *from)
{
	for (size_t r = 0; r < NN_LANES / 2; r++) {
		nn_interleave_low(to + 2 * r, from + r, from + r + NN_LANES / 2);
		nn_interleave_high(to + 2 * r + 1, from + r, from + r + NN_LANES / 2);
	}
}

/*
 * Transposes a block in registers: NN_LANES rows of NN_LANES words from `at` on, `row` bytes apart, times scale; rows from
 * `some` on are zeros.  Interleaving log2(NN_LANES) times makes columns of rows.  The first interleaving and the scaling are
 * done while loading, because gcc 12 runs short of registers otherwise.  Prefetches what lies `ahead` bytes further into L2: L1
 * is too small for it.
 */
NN_INLINE void
nn_load_transposed(
    nn_vector *block, const char *at, size_t row, size_t some, size_t ahead, float scale)
{
	nn_vector other[NN_LANES];

	for (size_t r = 0; r < NN_LANES / 2; r++, at += row) {
		nn_vector low = { 0 }, high = { 0 };
		const char *above = at + NN_LANES / 2 * row;
		if (r < some)
			low = *(const nn_loose *)at * scale;
		if (r + NN_LANES / 2 < some)
			high = *(const nn_loose *)above * scale;
		nn_interleave_low(other + 2 * r, &low, &high);
		nn_interleave_high(other + 2 * r + 1, &low, &high);
		__builtin_prefetch(at + ahead, 0, 2);
		__builtin_prefetch(above + ahead, 0, 2);
	}
	nn_interleave(block, other);
	nn_interleave(other, block);
	if (NN_LANES == 16)
		nn_interleave(block, other);
	else
		memcpy(block, other, sizeof other);
}

/* Elements of a 4-byte word. */
NN_INLINE size_t
nn_parts(enum dtype dtype)
{
	return sizeof(float) / nn_element(dtype);
}

/*
 * Element `part` of each word, from the lowest bits on, as f32; i8 times scales.  A bf16 is the upper half of an f32.  The
 * exponent of an f16 moves from bias 15 to 127: subnormals become normal as 2^-14 (1 + mantissa) - 2^-14, infinity and NaN keep
 * the greatest exponent.
 */
NN_INLINE void
nn_widen_words(nn_vector *to, const void *words, size_t part, enum dtype dtype,
    const nn_vector *scales)
{
	nn_words x = *(const nn_same_words *)words;

	if (dtype == DTYPE_F32) {
		*to = (nn_vector)x;
		return;
	}
	if (dtype == DTYPE_I8) {
		nn_integers signs = (nn_integers)(x << (24 - 8 * part)) >> 24;
		*to = __builtin_convertvector(signs, nn_vector) * *scales;
		return;
	}
	if (dtype == DTYPE_BF16) {
		*to = (nn_vector)(part ? x & 0xffff0000u : x << 16);
		return;
	}
	x = part ? x >> 16 : x;
	nn_words sign = (x & 0x8000) << 16, bits = (x & 0x7fff) << 13;
	nn_words small = bits | 0x38800000u, large = bits + (112u << 23);
	small = (nn_words)((nn_vector)small - 0x1p-14f);
	nn_words normal = (nn_words)(bits >= 1u << 23);
	nn_words infinite = (nn_words)(bits >= 31u << 23);
	large += infinite & (112u << 23);
	*to = (nn_vector)((normal & large) | (~normal & small) | sign);
}

#endif
