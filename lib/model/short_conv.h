/*
 * short_conv - the gated short convolution that stands in the place of attention in some layers of LFM2 (Liquid AI 2025).
 *
 * A product projects each token to b, c and x, C channels each.  The convolution is by channel, and tokens outside of the
 * sequence count as zero:
 *
 *	y_t = c_t (bias + sum_j w_j b_s x_s)	s = t - (taps - 1) + j, or centred s = t - taps / 2 + j
 */
#ifndef MODEL_SHORT_CONV_H
#define MODEL_SHORT_CONV_H

#include <stdbool.h>
#include <stddef.h>

#include "nn/nn.h"

/* Tokens that are not attended to (nn_sequences) enter as zeros: rows of bcx become bias[3C], or zero where it is NULL. */
void short_conv_hide(
    float *bcx, const float *bias, const struct nn_sequences *sequences, size_t C);

/* y[T,C] from bcx[T,3C], w[C,taps] and bias[C], or NULL; on processors only. */
void short_conv(float *y, const float *bcx, const float *w, const float *bias,
    const struct nn_sequences *sequences, size_t C, size_t taps, bool centred);

/* From dy[T,C]: dbcx[T,3C], overwritten; dw[C,taps] and dbias[C] are added to, NULL: not wanted.  bcx as the forward's. */
struct short_conv_gradients {
	float *dbcx, *dw, *dbias;
};
void short_conv_back(const struct short_conv_gradients *to, const float *dy,
    const float *bcx, const float *w, const float *bias,
    const struct nn_sequences *sequences, size_t C, size_t taps, bool centred);

#endif
