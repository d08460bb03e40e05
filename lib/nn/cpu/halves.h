/*
 * halves - floats as bf16: to nearest, of two to even; what is no number stays none.
 */
#ifndef NN_CPU_HALVES_H
#define NN_CPU_HALVES_H

#include "nn/cpu/elementary.h"

NN_INLINE uint16_t
nn_half(float x)
{
	uint32_t bits = (uint32_t)nn_bits(x);

	return (uint16_t)(x == x ? (bits + 0x7fff + (bits >> 16 & 1)) >> 16 : 0x7fc0);
}

NN_INLINE void
nn_take_halves(uint16_t *to, const float *x, size_t n)
{
#pragma omp simd
	for (size_t i = 0; i < n; i++)
		to[i] = nn_half(x[i]);
}

#endif
