#include "nn/nn.h"

#include <string.h>

#include "nn/cpu/cpu.h"

/* How many are greater than column e, or equal and before it. */
static size_t
rank(const float *p, size_t e, size_t E)
{
	int32_t before = 0;

#pragma omp simd reduction(+ : before)
	for (size_t i = 0; i < e; i++)
		before += p[i] >= p[e];
#pragma omp simd reduction(+ : before)
	for (size_t i = e + 1; i < E; i++)
		before += p[i] > p[e];
	return (size_t)before;
}

void
nn_route(int32_t *chosen, float *weights, const float *p, bool renormalize, size_t T,
    size_t E, size_t top)
{
#pragma omp parallel for schedule(static) if (nn_shared(T, E * E))
	for (size_t t = 0; t < T; t++) {
		const float *row = p + t * E;
		float *w = weights + t * top, sum = 0;
		size_t found = 0;
		/* NaN has rank 0, so that `top` are always found */
		for (size_t e = 0; e < E && found < top; e++)
			if (rank(row, e, E) < top) {
				chosen[t * top + found] = (int32_t)e;
				sum += row[e];
				w[found++] = row[e];
			}
		for (size_t i = 0; renormalize && i < top; i++)
			w[i] /= sum;
	}
}

void
nn_route_back(float *dp, const float *dweights, const int32_t *chosen, const float *p,
    bool renormalize, size_t T, size_t E, size_t top)
{
	memset(dp, 0, T * E * sizeof *dp);
	for (size_t t = 0; t < T; t++) {
		const int32_t *at = chosen + t * top;
		const float *row = p + t * E, *dw = dweights + t * top;
		float sum = renormalize ? 0 : 1, along = 0;
		for (size_t i = 0; renormalize && i < top; i++) {
			sum += row[at[i]];
			along += dw[i] * row[at[i]];
		}
		for (size_t i = 0; i < top; i++)
			dp[t * E + (size_t)at[i]] = (dw[i] - along / sum) / sum;
	}
}

void
nn_sort_by_expert(int32_t *rows, int32_t *slots, int32_t *offsets, const int32_t *chosen,
    size_t T, size_t E, size_t top)
{
	memset(offsets, 0, (E + 1) * sizeof *offsets);
	for (size_t i = 0; i < T * top; i++)
		offsets[chosen[i] + 1]++;
	for (size_t e = 0; e < E; e++)
		offsets[e + 1] += offsets[e];
	/* each offset advances to where the next expert's began */
	for (size_t i = 0; i < T * top; i++) {
		int32_t to = offsets[chosen[i]]++;
		slots[to] = (int32_t)i;
		rows[to] = (int32_t)(i / top);
	}
	memmove(offsets + 1, offsets, E * sizeof *offsets);
	offsets[0] = 0;
}
