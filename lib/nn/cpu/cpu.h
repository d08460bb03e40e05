/*
 * cpu - what the files of the CPU backend share; nobody else includes it.
 *
 * The elementary functions below are polynomials without branches, so that gcc and clang turn
 * a loop over them into vector code.  tests/support/nn_check.c holds each to libm in double;
 * "ulp" is the greatest error found there over the stated range.
 */
#ifndef CPU_H
#define CPU_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "nn/nn.h"

#define NN_INLINE static inline __attribute__((always_inline))
#define NN_ALONE static __attribute__((noinline))

/* Floats in a vector register, and the rows of the largest tile that two vectors wide fits in
 * the registers, 32 of them or 16; the shorter tile leaves some for the addresses of rows that
 * are not packed. */
#ifdef __AVX512F__
enum { NN_LANES = 16, NN_TILE = 12, NN_SHORT_TILE = 8 };
#else
enum { NN_LANES = 8, NN_TILE = 6, NN_SHORT_TILE = 6 };
#endif

enum {
	NN_PANEL = 2 * NN_LANES, /* columns of a tile */
	NN_SERIAL = 1 << 15, /* elements below which threads cost more than they save */
	NN_FEW = 8,	     /* rows of nn_multiply_few */
	NN_SLICE = 64 /* columns that one thread sums at a time: a whole cache line */
};

typedef float nn_vector __attribute__((vector_size(4 * NN_LANES)));
/* one anywhere in memory */
typedef float nn_loose __attribute__((vector_size(4 * NN_LANES), aligned(4), may_alias));
typedef uint32_t nn_words __attribute__((vector_size(4 * NN_LANES)));
typedef uint16_t nn_halves __attribute__((vector_size(2 * NN_LANES)));

/*
 * to[c, r] = from[r, c] scale for r < rows, c < columns; 0 for rows <= r < width.  width, a
 * multiple of NN_LANES, is what one row of `to` holds at least.
 */
void nn_transpose(float *to, size_t ldt, const float *from, size_t ldf, size_t rows,
    size_t columns, size_t width, float scale);

/* The same of f16 or bf16, unscaled; and those without turning them. */
void nn_transpose_half(float *to, size_t ldt, const uint16_t *from, size_t ldf,
    size_t rows, size_t columns, size_t width, enum dtype dtype);
void nn_widen(float *to, const uint16_t *from, enum dtype dtype, size_t n);

/* nn_activate without threads. */
void nn_activate_serial(float *y, const float *x, enum nn_act act, size_t n);

/*
 * c[M,N] = act(alpha a b + beta c + bias): a is [M,K], or [K,M] when a_turned; b is [K,N], or
 * [N,K] when b_turned; bias[N] may be NULL; act is applied when `activate` is set.
 * An element's sum runs over K in an order that depends on K alone: neither the other rows and
 * columns nor the threads change its bits.
 */
struct nn_product {
	float *c;
	const float *a, *bias;
	struct nn_matrix b;
	size_t ldc, lda, ldb, M, N, K;
	bool a_turned, b_turned, activate;
	enum nn_act act;
	float alpha, beta;
};
void nn_multiply(const struct nn_product *p);

/* c += a b in the columns n0..n1-1, for M <= NN_FEW, a not turned, b turned and alpha 1. */
void nn_multiply_few(const struct nn_product *p, size_t n0, size_t n1);

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

/* e^x: 1 ulp on [-87.33, 88.72]; what lies outside is taken for the nearer end. */
NN_INLINE float
nn_exp(float x)
{
	const float round = 12582912.0f; /* 1.5 x 2^23: adding it rounds to an integer */
	float y = x < -87.33f ? -87.33f : x;
	y = y > 88.72283f ? 88.72283f : y;
	float shifted = y * 1.44269504f + round;
	float n = shifted - round;
	float r = y - n * 0.693359375f; /* ln 2 in two parts, the first exact times n */
	r = r + n * 2.12194440e-4f;
	float p = 0.0013950488f;
	p = p * r + 0.008368888f;
	p = p * r + 0.041666206f;
	p = p * r + 0.16666518f;
	p = p * r + 0.5f;
	p = p * (r * r) + r + 1.0f;
	/* times 2^n by way of the exponent bits */
	return nn_float(nn_bits(p) + (int32_t)((uint32_t)nn_bits(shifted) << 23));
}

/* 2^x for x below 1, as softmax wants it: 1 ulp; 2^-126 for all that is less. */
NN_INLINE float
nn_exp2(float x)
{
	const float round = 12582912.0f;
	float y = x < -126.0f ? -126.0f : x;
	float shifted = y + round;
	float r = y - (shifted - round);
	float p = 0.00015353362f;
	p = p * r + 0.0013398874f;
	p = p * r + 0.009618437f;
	p = p * r + 0.055503324f;
	p = p * r + 0.24022648f;
	p = p * r + 0.6931472f;
	p = p * r + 1.0f;
	return nn_float(nn_bits(p) + (int32_t)((uint32_t)nn_bits(shifted) << 23));
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

/*
 * c[r, :] = or += sum over k of a[r ar + k ak] b[k, :], r < rows <= NN_TILE, k < depth, on
 * `vectors` (1 or 2) vectors' width of columns; = when fresh.  The sum runs in the order of k,
 * whatever the tile.  rows, vectors and fresh are constants where it is expanded.
 */
NN_INLINE void
nn_tile(float *c, size_t ldc, const float *a, size_t ar, size_t ak, const float *b,
    size_t ldb, size_t depth, size_t rows, int vectors, bool fresh)
{
	const nn_vector zero = { 0 };
	nn_vector left[NN_TILE], right[NN_TILE];

	for (size_t r = 0; r < rows; r++) {
		const nn_loose *row = (const nn_loose *)(c + r * ldc);
		left[r] = zero;
		right[r] = zero;
		if (!fresh)
			left[r] = row[0];
		if (!fresh && vectors == 2)
			right[r] = row[1];
	}
	for (size_t k = 0; k < depth; k++, a += ak, b += ldb) {
		const nn_loose *row = (const nn_loose *)b;
		nn_vector b0 = row[0], b1 = vectors == 2 ? row[1] : row[0];
		for (size_t r = 0; r < rows; r++) {
			left[r] += b0 * a[r * ar];
			if (vectors == 2)
				right[r] += b1 * a[r * ar];
		}
	}
	for (size_t r = 0; r < rows; r++) {
		nn_loose *row = (nn_loose *)(c + r * ldc);
		row[0] = left[r];
		if (vectors == 2)
			row[1] = right[r];
	}
}

/* Any number of rows, in tiles of at most `tallest`. */
NN_INLINE void
nn_tiles(float *c, size_t ldc, const float *a, size_t ar, size_t ak, const float *b,
    size_t ldb, size_t depth, size_t rows, size_t tallest, int vectors, bool fresh)
{
	for (; rows >= tallest; rows -= tallest, c += tallest * ldc, a += tallest * ar)
		nn_tile(c, ldc, a, ar, ak, b, ldb, depth, tallest, vectors, fresh);
	if (tallest > 8 && rows >= 8) {
		nn_tile(c, ldc, a, ar, ak, b, ldb, depth, 8, vectors, fresh);
		rows -= 8, c += 8 * ldc, a += 8 * ar;
	}
	if (tallest > 4 && rows >= 4) {
		nn_tile(c, ldc, a, ar, ak, b, ldb, depth, 4, vectors, fresh);
		rows -= 4, c += 4 * ldc, a += 4 * ar;
	}
	if (rows >= 2) {
		nn_tile(c, ldc, a, ar, ak, b, ldb, depth, 2, vectors, fresh);
		rows -= 2, c += 2 * ldc, a += 2 * ar;
	}
	if (rows)
		nn_tile(c, ldc, a, ar, ak, b, ldb, depth, 1, vectors, fresh);
}

#endif
