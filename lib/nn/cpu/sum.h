/*
 * sum - sums over a row in sixteen SIMD lanes, then 8, 4, 2, 1: the same bits with registers of any width; its greatest value.
 */
#ifndef NN_CPU_SUM_H
#define NN_CPU_SUM_H

#include <math.h>
#include <string.h>

#include "nn/cpu/cpu.h"

enum { NN_SIXTEEN = 16 };
typedef float nn_sixteen __attribute__((vector_size(4 * NN_SIXTEEN)));

/* `some` values of a row; the other lanes are `rest`. */
NN_INLINE void
nn_take(nn_sixteen *to, const float *x, size_t some, float rest)
{
	float lanes[NN_SIXTEEN];

	if (some < NN_SIXTEEN) {
		for (size_t i = 0; i < NN_SIXTEEN; i++)
			lanes[i] = i < some ? x[i] : rest;
		x = lanes;
	}
	memcpy(to, x, sizeof *to);
}

NN_INLINE float
nn_fold(const nn_sixteen *sum)
{
	float lanes[NN_SIXTEEN];

	memcpy(lanes, sum, sizeof lanes);
	for (size_t half = NN_SIXTEEN / 2; half; half /= 2)
		for (size_t i = 0; i < half; i++)
			lanes[i] += lanes[i + half];
	return lanes[0];
}

NN_INLINE size_t
nn_some(size_t n, size_t at)
{
	return n - at < NN_SIXTEEN ? n - at : NN_SIXTEEN;
}

/* sum of x */
NN_INLINE float
nn_total(const float *x, size_t n)
{
	nn_sixteen sum = { 0 }, value;

	for (size_t i = 0; i < n; i += NN_SIXTEEN) {
		nn_take(&value, x + i, nn_some(n, i), 0);
		sum += value;
	}
	return nn_fold(&sum);
}

/* sum of x y */
NN_INLINE float
nn_dot(const float *x, const float *y, size_t n)
{
	nn_sixteen sum = { 0 }, left, right;

	for (size_t i = 0; i < n; i += NN_SIXTEEN) {
		nn_take(&left, x + i, nn_some(n, i), 0);
		nn_take(&right, y + i, nn_some(n, i), 0);
		sum += left * right;
	}
	return nn_fold(&sum);
}

/* sum of (x - from)^2 */
NN_INLINE float
nn_spread(const float *x, float from, size_t n)
{
	nn_sixteen sum = { 0 }, value;

	for (size_t i = 0; i < n; i += NN_SIXTEEN) {
		nn_take(&value, x + i, nn_some(n, i), from);
		value -= from;
		sum += value * value;
	}
	return nn_fold(&sum);
}

/* The greatest value, NaN left out; minus infinity without values.  By SIMD lane: the compilers do not reorder a maximum. */
NN_INLINE float
nn_greatest(const float *x, size_t n)
{
	float lanes[NN_SIXTEEN];
	size_t whole = n / NN_SIXTEEN * NN_SIXTEEN;

	for (size_t j = 0; j < NN_SIXTEEN; j++)
		lanes[j] = -INFINITY;
	for (size_t i = 0; i < whole; i += NN_SIXTEEN)
#pragma omp simd
		for (size_t j = 0; j < NN_SIXTEEN; j++)
			lanes[j] = x[i + j] > lanes[j] ? x[i + j] : lanes[j];
	for (size_t i = whole; i < n; i++)
		lanes[0] = x[i] > lanes[0] ? x[i] : lanes[0];
	for (size_t j = 1; j < NN_SIXTEEN; j++)
		lanes[0] = lanes[j] > lanes[0] ? lanes[j] : lanes[0];
	return lanes[0];
}

/* sum of x, or of x^2, in double */
NN_INLINE double
nn_long_total(const float *x, size_t n, bool square)
{
	double lanes[NN_SIXTEEN] = { 0 };

	for (size_t i = 0; i < n; i += NN_SIXTEEN) {
		size_t some = nn_some(n, i);
#pragma omp simd
		for (size_t j = 0; j < some; j++)
			lanes[j] +=
			    square ? (double)x[i + j] * x[i + j] : (double)x[i + j];
	}
	for (size_t half = NN_SIXTEEN / 2; half; half /= 2)
		for (size_t i = 0; i < half; i++)
			lanes[i] += lanes[i + half];
	return lanes[0];
}

#endif
