#include "model/short_conv.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

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
		size_t first = t < before ? before - t : 0;
		size_t past = length + before - t < taps ? length + before - t : taps;
		for (size_t j = first; j < past; j++)
			add_tap(y, bcx + (t + j - before) * 3 * C, w + j, C, taps);
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

/* One tap: ds[C] of token t, and the token s that it reads. */
static void
tap_back(float *restrict dbcx, float *restrict dw, const float *restrict ds,
    const float *restrict bcx, const float *restrict w, size_t C, size_t taps)
{
	for (size_t i = 0; i < C; i++) {
		float dz = w[i * taps] * ds[i];
		dbcx[i] += dz * bcx[2 * C + i];
		dbcx[2 * C + i] += dz * bcx[i];
		if (dw)
			dw[i * taps] += ds[i] * (bcx[i] * bcx[2 * C + i]);
	}
}

/* Of one sequence; ds[C] is scratch.  dbcx is zero before. */
static void
convolve_back(const struct short_conv_gradients *to, float *ds, const float *dy,
    const float *bcx, const float *w, const float *bias, size_t length, size_t C,
    size_t taps, size_t before)
{
	for (size_t t = 0; t < length; t++) {
		size_t first = t < before ? before - t : 0;
		size_t past = length + before - t < taps ? length + before - t : taps;
		const float *gate = bcx + (t * 3 + 1) * C;
		float *dgate = to->dbcx + (t * 3 + 1) * C;

		for (size_t i = 0; i < C; i++)
			ds[i] = bias ? bias[i] : 0;
		for (size_t j = first; j < past; j++)
			add_tap(ds, bcx + (t + j - before) * 3 * C, w + j, C, taps);
		for (size_t i = 0; i < C; i++) {
			dgate[i] += dy[t * C + i] * ds[i];
			ds[i] = dy[t * C + i] * gate[i];
			if (to->dbias)
				to->dbias[i] += ds[i];
		}
		for (size_t j = first; j < past; j++)
			tap_back(to->dbcx + (t + j - before) * 3 * C,
			    to->dw ? to->dw + j : NULL, ds,
			    bcx + (t + j - before) * 3 * C, w + j, C, taps);
	}
}

void
short_conv_back(const struct short_conv_gradients *to, const float *dy, const float *bcx,
    const float *w, const float *bias, const struct nn_sequences *sequences, size_t C,
    size_t taps, bool centred)
{
	float *ds = mem_new(C, sizeof *ds);

	memset(to->dbcx, 0, sequences->T * 3 * C * sizeof *to->dbcx);
	for (size_t n = 0; n < sequences->N; n++) {
		size_t first = (size_t)sequences->starts[n];
		size_t length = (size_t)sequences->starts[n + 1] - first;
		struct short_conv_gradients own = { to->dbcx + first * 3 * C, to->dw,
			to->dbias };
		convolve_back(&own, ds, dy + first * C, bcx + first * 3 * C, w, bias,
		    length, C, taps, centred ? taps / 2 : taps - 1);
	}
	free(ds);
}
