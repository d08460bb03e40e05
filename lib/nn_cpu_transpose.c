#include "nn_cpu.h"

/* The first, or the second, halves of a and b merged. */
#ifdef __AVX512F__
NN_INLINE void
first_halves(nn_vector *to, const nn_vector *a, const nn_vector *b)
{
	*to = __builtin_shufflevector(
	    *a, *b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

NN_INLINE void
second_halves(nn_vector *to, const nn_vector *a, const nn_vector *b)
{
	*to = __builtin_shufflevector(
	    *a, *b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}
#else
NN_INLINE void
first_halves(nn_vector *to, const nn_vector *a, const nn_vector *b)
{
	*to = __builtin_shufflevector(*a, *b, 0, 8, 1, 9, 2, 10, 3, 11);
}

NN_INLINE void
second_halves(nn_vector *to, const nn_vector *a, const nn_vector *b)
{
	*to = __builtin_shufflevector(*a, *b, 4, 12, 5, 13, 6, 14, 7, 15);
}
#endif

/* Each row of the lower half merged with its fellow of the upper half. */
NN_INLINE void
merge(nn_vector *to, const nn_vector *from)
{
	for (size_t r = 0; r < NN_LANES / 2; r++) {
		first_halves(to + 2 * r, from + r, from + r + NN_LANES / 2);
		second_halves(to + 2 * r + 1, from + r, from + r + NN_LANES / 2);
	}
}

/* A square of vectors turned: the merge, repeated as often as two goes into its side. */
NN_INLINE void
turn_square(
    float *to, size_t ldt, const float *from, size_t ldf, size_t rows, float scale)
{
	nn_vector here[NN_LANES], there[NN_LANES];

	for (size_t r = 0; r < NN_LANES; r++) {
		if (r < rows)
			here[r] = *(const nn_loose *)(from + r * ldf) * scale;
		else
			here[r] = (nn_vector){ 0 };
	}
	merge(there, here);
	merge(here, there);
	merge(there, here);
	if (NN_LANES == 16)
		merge(here, there);
	for (size_t r = 0; r < NN_LANES; r++)
		*(nn_loose *)(to + r * ldt) = NN_LANES == 16 ? here[r] : there[r];
}

void
nn_transpose(float *to, size_t ldt, const float *from, size_t ldf, size_t rows,
    size_t columns, size_t width, float scale)
{
	/* whole squares apart, so that the compiler unrolls them */
	for (size_t r = 0; r < width; r += NN_LANES) {
		size_t some = r >= rows		    ? 0
			      : rows - r < NN_LANES ? rows - r
						    : NN_LANES,
		       c = 0;
		for (; c + NN_LANES <= columns; c += NN_LANES)
			if (some == NN_LANES)
				turn_square(to + c * ldt + r, ldt, from + r * ldf + c,
				    ldf, NN_LANES, scale);
			else
				turn_square(to + c * ldt + r, ldt,
				    from + (some ? r * ldf + c : 0), ldf, some, scale);
		for (; c < columns; c++)
			for (size_t i = 0; i < NN_LANES; i++)
				to[c * ldt + r + i] =
				    i < some ? from[(r + i) * ldf + c] * scale : 0;
	}
}

/* Halves. -------------------------------------------------------------------------- */

/*
 * Sixteen bits that lie low in each word, or high where `high`, as floats.  A bf16 is the
 * upper half of a float.  Of an f16 the exponent moves from bias 15 to 127; the subnormals
 * become normal by way of the adder, as 2^-14 (1 + mantissa) - 2^-14, and what is not finite
 * keeps the greatest exponent.
 */
NN_INLINE void
widen_words(nn_vector *to, const nn_words *from, bool high, enum dtype dtype)
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

/* As turn_square, of as many rows and twice as many columns: two halves are turned as one
 * word, and parted afterwards. */
NN_INLINE void
turn_pairs(float *to, size_t ldt, const uint16_t *from, size_t ldf, size_t rows,
    enum dtype dtype)
{
	nn_vector here[NN_LANES], there[NN_LANES];

	for (size_t r = 0; r < NN_LANES; r++) {
		here[r] = (nn_vector){ 0 };
		if (r < rows)
			memcpy(here + r, from + r * ldf, sizeof *here);
	}
	merge(there, here);
	merge(here, there);
	merge(there, here);
	if (NN_LANES == 16)
		merge(here, there);
	for (size_t r = 0; r < NN_LANES; r++) {
		nn_words pair;
		nn_vector one;
		memcpy(&pair, NN_LANES == 16 ? here + r : there + r, sizeof pair);
		widen_words(&one, &pair, false, dtype);
		*(nn_loose *)(to + 2 * r * ldt) = one;
		widen_words(&one, &pair, true, dtype);
		*(nn_loose *)(to + (2 * r + 1) * ldt) = one;
	}
}

/* nn_transpose of halves, by the kind of them. */
NN_INLINE void
transpose_pairs(float *to, size_t ldt, const uint16_t *from, size_t ldf, size_t rows,
    size_t columns, size_t width, enum dtype dtype)
{
	for (size_t r = 0; r < width; r += NN_LANES) {
		size_t some = r >= rows		    ? 0
			      : rows - r < NN_LANES ? rows - r
						    : NN_LANES,
		       c = 0;
		for (; c + 2 * NN_LANES <= columns; c += 2 * NN_LANES)
			if (some == NN_LANES)
				turn_pairs(to + c * ldt + r, ldt, from + r * ldf + c, ldf,
				    NN_LANES, dtype);
			else
				turn_pairs(to + c * ldt + r, ldt,
				    from + (some ? r * ldf + c : 0), ldf, some, dtype);
		for (; c < columns; c++)
			for (size_t i = 0; i < NN_LANES; i++)
				to[c * ldt + r + i] =
				    i >= some ? 0
				    : dtype == DTYPE_BF16
					? bf16_widen(from[(r + i) * ldf + c])
					: f16_widen(from[(r + i) * ldf + c]);
	}
}

void
nn_transpose_half(float *to, size_t ldt, const uint16_t *from, size_t ldf, size_t rows,
    size_t columns, size_t width, enum dtype dtype)
{
	if (dtype == DTYPE_BF16)
		transpose_pairs(to, ldt, from, ldf, rows, columns, width, DTYPE_BF16);
	else
		transpose_pairs(to, ldt, from, ldf, rows, columns, width, DTYPE_F16);
}

NN_INLINE void
widen(float *to, const uint16_t *from, size_t n, enum dtype dtype)
{
	size_t i = 0;

	for (; i + NN_LANES <= n; i += NN_LANES) {
		nn_halves halves;
		nn_vector one;
		memcpy(&halves, from + i, sizeof halves);
		nn_words words = __builtin_convertvector(halves, nn_words);
		widen_words(&one, &words, false, dtype);
		*(nn_loose *)(to + i) = one;
	}
	for (; i < n; i++)
		to[i] = dtype == DTYPE_BF16 ? bf16_widen(from[i]) : f16_widen(from[i]);
}

void
nn_widen(float *to, const uint16_t *from, enum dtype dtype, size_t n)
{
	if (dtype == DTYPE_BF16)
		widen(to, from, n, DTYPE_BF16);
	else
		widen(to, from, n, DTYPE_F16);
}
