#include "nn/nn.h"

#include <math.h>
#include <string.h>

#include "nn/cpu/cpu.h"

/* The tokens first..last-1 of sequence i that are pooled; returns their number. */
static size_t
pooled(const int32_t *starts, const int32_t *skip, size_t i, size_t *first, size_t *last)
{
	*first = (size_t)starts[i];
	*last = (size_t)starts[i + 1];
	if (skip) {
		size_t left_out = (size_t)skip[i];
		*first = left_out < *last - *first ? *first + left_out : *last;
	}
	return *last - *first;
}

/* The weight of token t in a pooling that is a weighted sum. */
static float
pool_weight(enum nn_pool kind, size_t t, size_t start, size_t first, size_t last)
{
	double count = (double)(last - first), before = (double)(first - start);

	switch (kind) {
	case NN_POOL_MEAN: return (float)(1 / count);
	case NN_POOL_MEAN_SQRT: return (float)(1 / sqrt(count));
	case NN_POOL_WEIGHTED: /* 1, 2, 3, ... from the start of the sequence */
		return (float)((double)(t - start + 1) /
			       (count * (before + (count + 1) / 2)));
	default: return 0;
	}
}

static void
pool_sum(float *y, const float *x, enum nn_pool kind, size_t start, size_t first,
    size_t last, size_t C)
{
	memset(y, 0, C * sizeof *y);
	for (size_t t = first; t < last; t++) {
		float weight = pool_weight(kind, t, start, first, last);
#pragma omp simd
		for (size_t c = 0; c < C; c++)
			y[c] += weight * x[t * C + c];
	}
}

static void
pool_max(float *y, const float *x, size_t first, size_t last, size_t C)
{
	memset(y, 0, C * sizeof *y);
	for (size_t t = first; t < last; t++)
#pragma omp simd
		for (size_t c = 0; c < C; c++)
			y[c] = t == first || x[t * C + c] > y[c] ? x[t * C + c] : y[c];
}

void
nn_pool(float *y, size_t ldy, const float *x, const struct nn_sequences *sequences,
    const int32_t *skip, enum nn_pool kind, size_t C)
{
	const int32_t *starts = sequences->starts;

#pragma omp parallel for schedule(dynamic) if (nn_shared(sequences->T, C))
	for (size_t i = 0; i < sequences->N; i++) {
		size_t first, last, start = (size_t)starts[i], count;
		float *row = y + i * ldy;
		count = pooled(starts, skip, i, &first, &last);
		if (start == (size_t)starts[i + 1])
			memset(row, 0, C * sizeof *row);
		else if (kind == NN_POOL_CLS)
			memcpy(row, x + (count ? first : start) * C, C * sizeof *row);
		else if (kind == NN_POOL_LAST)
			memcpy(row, x + (last - 1) * C, C * sizeof *row);
		else if (kind == NN_POOL_MAX || count == 0)
			pool_max(row, x, first, last, C);
		else
			pool_sum(row, x, kind, start, first, last, C);
	}
}

/* The gradient of a maximum goes to the first token with that value. */
static void
pool_max_back(
    float *dx, const float *dy, const float *x, size_t first, size_t last, size_t C)
{
	for (size_t c = 0; c < C; c++) {
		size_t best = first;
		for (size_t t = first; t < last; t++)
			if (x[t * C + c] > x[best * C + c])
				best = t;
		dx[best * C + c] = dy[c];
	}
}

void
nn_pool_back(float *dx, const float *dy, size_t ldy, const float *x,
    const struct nn_sequences *sequences, const int32_t *skip, enum nn_pool kind,
    size_t C)
{
	const int32_t *starts = sequences->starts;

#pragma omp parallel for schedule(dynamic) if (nn_shared(sequences->T, C))
	for (size_t i = 0; i < sequences->N; i++) {
		size_t first, last, start = (size_t)starts[i],
				    end = (size_t)starts[i + 1];
		const float *row = dy + i * ldy;
		size_t count = pooled(starts, skip, i, &first, &last);
		memset(dx + start * C, 0, (end - start) * C * sizeof *dx);
		if (start == end)
			continue;
		if (kind == NN_POOL_CLS)
			memcpy(dx + (count ? first : start) * C, row, C * sizeof *dx);
		else if (kind == NN_POOL_LAST)
			memcpy(dx + (last - 1) * C, row, C * sizeof *dx);
		else if (kind == NN_POOL_MAX && count)
			pool_max_back(dx, row, x, first, last, C);
		else
			for (size_t t = first; t < last; t++) {
				float weight = pool_weight(kind, t, start, first, last);
				for (size_t c = 0; c < C; c++)
					dx[t * C + c] = weight * row[c];
			}
	}
}
