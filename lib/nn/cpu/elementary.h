/*
 * elementary - e^x, 2^x, the normal distribution, tanh and the logistic function.
 *
 * Polynomials without branches, so that gcc and clang turn a loop over them into vector code.
 * tests/support/nn_check_cpu.c holds each to libm in double; "ulp" is the greatest error found
 * there over the stated range.
 */
#ifndef NN_CPU_ELEMENTARY_H
#define NN_CPU_ELEMENTARY_H

#include <math.h>
#include <string.h>

#include "nn/cpu/cpu.h"

NN_INLINE int32_t
nn_bits(float x)
{
	int32_t bits;

	memcpy(&bits, &x, sizeof bits);
	return bits;
}

NN_INLINE float
nn_float(int32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof x);
	return x;
}

/* A float as bf16, to nearest even; NaN stays NaN. */
NN_INLINE uint16_t
nn_bf16(float x)
{
	uint32_t bits = (uint32_t)nn_bits(x);

	return (uint16_t)(x == x ? (bits + 0x7fff + (bits >> 16 & 1)) >> 16 : 0x7fc0);
}

/* n floats as bf16. */
NN_INLINE void
nn_bf16_row(uint16_t *to, const float *x, size_t n)
{
#pragma omp simd
	for (size_t i = 0; i < n; i++)
		to[i] = nn_bf16(x[i]);
}

/* words[n] = bf16 of even[n], and of odd[n] above it; odd NULL: zeros */
NN_INLINE void
nn_bf16_pairs(uint32_t *words, const float *even, const float *odd, size_t n)
{
	if (odd)
#pragma omp simd
		for (size_t i = 0; i < n; i++)
			words[i] = (uint32_t)nn_bf16(even[i]) | (uint32_t)nn_bf16(odd[i])
								    << 16;
	else
#pragma omp simd
		for (size_t i = 0; i < n; i++)
			words[i] = nn_bf16(even[i]);
}

/* x y + z, rounded once where the processor can; of x y + u v each compiler has its own choice of the product that is not
 * rounded. */
NN_INLINE float
nn_fused(float x, float y, float z)
{
#if defined __FMA__ || defined __aarch64__
	return __builtin_fmaf(x, y, z);
#else
	return x * y + z;
#endif
}

/* e^x: 1 ulp on [-87.33, 88.72]; 0 below, infinity above.  The function replaces its result and does not clamp x: of a clamped x gcc
 * also computes the caller's products with e^bound.  x / (1 + e^88.72) is subnormal and takes Intel's processors 150 cycles. */
NN_INLINE float
nn_exp(float x)
{
	const float round = 12582912.0f; /* 1.5 x 2^23: adding it rounds to an integer */
	float shifted = x * 1.44269504f + round;
	float n = shifted - round;
	float r = x - n * 0.693359375f; /* ln 2 in two parts, the first exact times n */
	r = r + n * 2.12194440e-4f;
	float p = 0.0013950488f;
	p = p * r + 0.008368888f;
	p = p * r + 0.041666206f;
	p = p * r + 0.16666518f;
	p = p * r + 0.5f;
	p = p * (r * r) + r + 1.0f;
	/* times 2^n by way of the exponent bits, which wrap around outside the interval */
	uint32_t bits = (uint32_t)nn_bits(p) + ((uint32_t)nn_bits(shifted) << 23);
	float power = nn_float((int32_t)bits);
	power = x < -87.33f ? 0.0f : power;
	return x > 88.72283f ? INFINITY : power;
}

/* 2^x for x < 1, for softmax: 1 ulp; 0 for x < -126, because a product with a number near 2^-126 is subnormal, which takes Intel's
 * processors 150 cycles. */
NN_INLINE float
nn_exp2(float x)
{
	const float round = 12582912.0f;
	float shifted = x + round;
	float r = x - (shifted - round);
	float p = 0.00015353362f;
	p = p * r + 0.0013398874f;
	p = p * r + 0.009618437f;
	p = p * r + 0.055503324f;
	p = p * r + 0.24022648f;
	p = p * r + 0.6931472f;
	p = p * r + 1.0f;
	/* far below -126 the exponent wraps around */
	uint32_t bits = (uint32_t)nn_bits(p) + ((uint32_t)nn_bits(shifted) << 23);
	float power = nn_float((int32_t)bits);
	return x < -126.0f ? 0.0f : power;
}

/* The standard normal's distribution function, 0.5 (1 + erf(x / sqrt 2)): within 6e-8 of it,
 * and x times it within 1e-7; 0 below -6.  Phi(-t) = exp(polynomial) / 2, fitted on [0, 6]. */
NN_INLINE float
nn_phi(float x)
{
	float t = fabsf(x);
	t = t > 6.0f ? 6.0f : t;
	float p = 2.94848668e-07f;
	p = p * t - 5.76822927e-06f;
	p = p * t + 4.70300169e-05f;
	p = p * t - 0.000182183111f;
	p = p * t - 1.50894649e-05f;
	p = p * t + 0.00482899742f;
	p = p * t - 0.0363578871f;
	p = p * t - 0.318304926f;
	p = p * t - 0.797884941f;
	float tail = 0.5f * nn_exp(p * t);
	tail = x < -6.0f ? 0.0f : tail;
	return x > 0.0f ? 1.0f - tail : tail;
}

/* GELU for bf16 and int8, whose results are rounded to 8 bits: within 8e-5 for |x| up to 12, 4e-6 |x| beyond. */
NN_INLINE float
nn_gelu_coarse(float x)
{
	float y = x < -4.1f ? -4.1f : x;
	y = y > 4.1f ? 4.1f : y;
	float t = y * y;
	float p = -9.31746791e-10f;
	p = p * t + 8.1402753e-08f;
	p = p * t - 3.09092229e-06f;
	p = p * t + 6.76152704e-05f;
	p = p * t - 0.00095604267f;
	p = p * t + 0.00931935757f;
	p = p * t - 0.0655668825f;
	p = p * t + 0.398489356f;
	return x * (y * p + 0.5f);
}

/* tanh: 2 ulp. */
NN_INLINE float
nn_tanh(float x)
{
	float t = fabsf(x), s = x * x;
	float p = -0.005717045f;
	p = p * s + 0.020650588f;
	p = p * s - 0.053743497f;
	p = p * s + 0.13331491f;
	p = p * s - 0.33333284f;
	float small = x + x * s * p;
	float large = copysignf(1.0f - 2.0f / (nn_exp(2.0f * t) + 1.0f), x);
	return t < 0.625f ? small : large;
}

NN_INLINE float
nn_sigmoid(float x)
{
	return 1.0f / (1.0f + nn_exp(-x));
}

#endif
