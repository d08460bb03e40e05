#include "nn/cpu/transpose.h"

NN_INLINE float
widened(const uint16_t *from, enum dtype dtype)
{
	return dtype == DTYPE_BF16 ? bf16_widen(*from) : f16_widen(*from);
}

/* A block of NN_LANES rows by as many words: one column of f32, two of f16 or bf16, or four of i8 each.  Words are transposed, then
 * split into their elements. */
NN_INLINE void
transpose_block(float *to, size_t ldt, const char *from, size_t row, size_t rows,
    float scale, const nn_vector *scales, enum dtype dtype)
{
	nn_vector block[NN_LANES], one;

	nn_load_transposed(
	    block, from, row, rows, NN_PANEL * row, dtype == DTYPE_F32 ? scale : 1);
	for (size_t r = 0; r < NN_LANES; r++)
		for (size_t part = 0; part < nn_parts(dtype); part++, to += ldt) {
			nn_widen_words(&one, block + r, part, dtype, scales);
			*(nn_loose *)to = one;
		}
}

/* One element of a row. */
NN_INLINE float
single(const char *row, size_t ld, size_t c, float scale, enum dtype dtype)
{
	const char *at = row + c * nn_element(dtype);

	if (dtype == DTYPE_I8)
		return (float)*(const int8_t *)at * nn_scale_of(row, ld, c);
	return dtype == DTYPE_F32 ? *(const float *)(const void *)at * scale
				  : widened((const void *)at, dtype);
}

/* nn_transpose, expanded for each type. */
NN_INLINE void
transpose(float *to, size_t ldt, const char *from, size_t ldf, size_t first, size_t rows,
    size_t columns, size_t width, float scale, enum dtype dtype)
{
	size_t row = nn_row_size(dtype, ldf), side = NN_LANES * nn_parts(dtype);
	nn_vector scales = { 0 };

	for (size_t r = 0; r < width; r += NN_LANES, from += NN_LANES * row) {
		size_t some = r >= rows ? 0 : rows - r, c = first;
		float *at = to + r;
		/* whole blocks apart from the last, so that the compiler unrolls them */
		for (; c + side <= first + columns; c += side, at += side * ldt) {
			const char *corner = from + c * nn_element(dtype);
			if (dtype == DTYPE_I8 && (c == first || c % NN_QUANT_GROUP == 0))
				nn_load_scales(&scales, from, row, some, ldf, c);
			if (some >= NN_LANES)
				transpose_block(at, ldt, corner, row, NN_LANES, scale,
				    &scales, dtype);
			else
				transpose_block(
				    at, ldt, corner, row, some, scale, &scales, dtype);
		}
		for (; c < first + columns; c++, at += ldt)
			for (size_t i = 0; i < NN_LANES; i++)
				at[i] = i < some
					    ? single(from + i * row, ldf, c, scale, dtype)
					    : 0;
	}
}

void
nn_transpose(float *to, size_t ldt, struct nn_matrix from, size_t ldf, size_t first,
    size_t rows, size_t columns, size_t width, float scale)
{
	switch (from.dtype) {
	case DTYPE_F16:
		transpose(
		    to, ldt, from.at, ldf, first, rows, columns, width, 1, DTYPE_F16);
		break;
	case DTYPE_BF16:
		transpose(
		    to, ldt, from.at, ldf, first, rows, columns, width, 1, DTYPE_BF16);
		break;
	case DTYPE_I8:
		transpose(
		    to, ldt, from.at, ldf, first, rows, columns, width, 1, DTYPE_I8);
		break;
	default:
		transpose(
		    to, ldt, from.at, ldf, first, rows, columns, width, scale, DTYPE_F32);
		break;
	}
}

NN_INLINE void
widen(float *to, const uint16_t *from, size_t n, enum dtype dtype)
{
	size_t i = 0;

	for (; i + NN_LANES <= n; i += NN_LANES) {
		nn_shorts shorts;
		nn_vector one;
		memcpy(&shorts, from + i, sizeof shorts);
		nn_words words = __builtin_convertvector(shorts, nn_words);
		nn_widen_words(&one, &words, 0, dtype, NULL);
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
