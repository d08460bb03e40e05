#include "nn/cpu/transpose.h"

/* Ask for what the next panel will want here.  Into the second cache: it takes long. */
NN_INLINE void
fetch(const void *at)
{
	__builtin_prefetch(at, 0, 2);
}

/* A square of vectors turned: the merge, repeated as often as two goes into its side. */
NN_INLINE void
turn_square(
    float *to, size_t ldt, const float *from, size_t ldf, size_t rows, float scale)
{
	nn_vector here[NN_LANES];

	for (size_t r = 0; r < NN_LANES; r++) {
		if (r < rows)
			here[r] = *(const nn_loose *)(from + r * ldf) * scale;
		else
			here[r] = (nn_vector){ 0 };
		fetch(from + (r + NN_PANEL) * ldf);
	}
	nn_turn(here);
	for (size_t r = 0; r < NN_LANES; r++)
		*(nn_loose *)(to + r * ldt) = here[r];
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

/* As turn_square, of as many rows and twice as many columns: two halves are turned as one
 * word, and parted afterwards. */
NN_INLINE void
turn_pairs(float *to, size_t ldt, const uint16_t *from, size_t ldf, size_t rows,
    enum dtype dtype)
{
	nn_vector here[NN_LANES];

	for (size_t r = 0; r < NN_LANES; r++) {
		here[r] = (nn_vector){ 0 };
		if (r < rows)
			memcpy(here + r, from + r * ldf, sizeof *here);
		fetch(from + (r + NN_PANEL) * ldf);
	}
	nn_turn(here);
	for (size_t r = 0; r < NN_LANES; r++) {
		nn_words pair;
		nn_vector one;
		memcpy(&pair, here + r, sizeof pair);
		nn_widen_words(&one, &pair, false, dtype);
		*(nn_loose *)(to + 2 * r * ldt) = one;
		nn_widen_words(&one, &pair, true, dtype);
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
		nn_widen_words(&one, &words, false, dtype);
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
