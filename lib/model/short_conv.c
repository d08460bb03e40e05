#include "model/short_conv.h"

#include <string.h>

void
short_conv_hide(
    float *bcx, const float *bias, const struct nn_sequences *sequences, size_t C)
{
	size_t size = 3 * C * sizeof *bcx;

	for (size_t n = 0; sequences->attended && n < sequences->N; n++) {
		size_t t = (size_t)(sequences->starts[n] + sequences->attended[n]);
		for (; t < (size_t)sequences->starts[n + 1]; t++) {
			if (bias)
				memcpy(bcx + t * 3 * C, bias, size);
			else
				memset(bcx + t * 3 * C, 0, size);
		}
	}
}

/* sum += w[.,tap] b x of one token */
static void
add_tap(float *restrict sum, const float *restrict bcx, const float *restrict w, size_t C,
    size_t taps)
{
	for (size_t i = 0; i < C; i++)
		sum[i] += w[i * taps] * (bcx[i] * bcx[2 * C + i]);
}

/* The sequence at bcx, of `length` tokens. */
static void
convolve(float *y, const float *bcx, const float *w, const float *bias, size_t length,
    size_t C, size_t taps, size_t before)
{
	for (size_t t = 0; t < length; t++, y += C) {
		for (size_t i = 0; i < C; i++)
			y[i] = bias ? bias[i] : 0;
		for (size_t j = 0; j < taps; j++)
			if (t + j >= before && t + j - before < length)
				add_tap(
				    y, bcx + (t + j - before) * 3 * C, w + j, C, taps);
		const float *gate = bcx + (t * 3 + 1) * C;
		for (size_t i = 0; i < C; i++)
			y[i] *= gate[i];
	}
}

void
short_conv(float *y, const float *bcx, const float *w, const float *bias,
    const struct nn_sequences *sequences, size_t C, size_t taps, bool centred)
{
	for (size_t n = 0; n < sequences->N; n++) {
		size_t first = (size_t)sequences->starts[n];
		size_t length = (size_t)sequences->starts[n + 1] - first;
		convolve(y + first * C, bcx + first * 3 * C, w, bias, length, C, taps,
		    centred ? taps / 2 : taps - 1);
	}
}
