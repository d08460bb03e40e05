#include "nn/cpu/transpose.h"

NN_INLINE float
widened(const uint16_t *from, enum dtype dtype)
{
	return dtype == DTYPE_BF16 ? bf16_widen(*from) : f16_widen(*from);
}

/* A square of floats; or of halves, of as many rows and twice as many columns: two of them are
 * turned as one word, and parted afterwards. */
NN_INLINE void
turn_square(float *to, size_t ldt, const char *from, size_t row, size_t rows, float scale,
    enum dtype dtype)
{
	nn_vector square[NN_LANES];

	nn_take_square(
	    square, from, row, rows, NN_PANEL * row, dtype == DTYPE_F32 ? scale : 1);
	for (size_t r = 0; r < NN_LANES; r++) {
		if (dtype == DTYPE_F32) {
			*(nn_loose *)(to + r * ldt) = square[r];
			continue;
		}
		nn_vector one;
		nn_widen_words(&one, square + r, false, dtype);
		*(nn_loose *)(to + 2 * r * ldt) = one;
		nn_widen_words(&one, square + r, true, dtype);
		*(nn_loose *)(to + (2 * r + 1) * ldt) = one;
	}
}

/* nn_transpose by the type of what it turns. */
NN_INLINE void
transpose(float *to, size_t ldt, const char *from, size_t ldf, size_t rows,
    size_t columns, size_t width, float scale, enum dtype dtype)
{
	size_t size = dtype == DTYPE_F32 ? sizeof(float) : sizeof(uint16_t);
	size_t side = NN_LANES * sizeof(float) / size, row = ldf * size;

	for (size_t r = 0; r < width; r += NN_LANES, from += NN_LANES * row) {
		size_t some = r >= rows ? 0 : rows - r, c = 0;
		/* whole squares apart, so that the compiler unrolls them */
		for (; c + side <= columns; c += side)
			if (some >= NN_LANES)
				turn_square(to + c * ldt + r, ldt, from + c * size, row,
				    NN_LANES, scale, dtype);
			else
				turn_square(to + c * ldt + r, ldt, from + c * size, row,
				    some, scale, dtype);
		for (; c < columns; c++)
			for (size_t i = 0; i < NN_LANES; i++) {
				const char *at = from + i * row + c * size;
				float *one = to + c * ldt + r + i;
				if (i >= some)
					*one = 0;
				else if (dtype == DTYPE_F32)
					*one = *(const float *)(const void *)at * scale;
				else
					*one = widened((const void *)at, dtype);
			}
	}
}

void
nn_transpose(float *to, size_t ldt, struct nn_matrix from, size_t ldf, size_t rows,
    size_t columns, size_t width, float scale)
{
	if (from.dtype == DTYPE_F32)
		transpose(to, ldt, from.at, ldf, rows, columns, width, scale, DTYPE_F32);
	else if (from.dtype == DTYPE_BF16)
		transpose(to, ldt, from.at, ldf, rows, columns, width, 1, DTYPE_BF16);
	else
		transpose(to, ldt, from.at, ldf, rows, columns, width, 1, DTYPE_F16);
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
		to[i] = widened(from + i, dtype);
}

void
nn_widen(float *to, const uint16_t *from, enum dtype dtype, size_t n)
{
	if (dtype == DTYPE_BF16)
		widen(to, from, n, DTYPE_BF16);
	else
		widen(to, from, n, DTYPE_F16);
}
