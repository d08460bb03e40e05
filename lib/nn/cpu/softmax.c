#include "nn/nn.h"

#include <math.h>

#include "nn/cpu/elementary.h"
#include "nn/cpu/sum.h"

void
nn_softmax(float *y, const float *x, size_t R, size_t V)
{
#pragma omp parallel for schedule(static) if (nn_shared(R, V))
	for (size_t r = 0; r < R; r++) {
		const float *from = x + r * V;
		float *to = y + r * V, top = nn_greatest(from, V), sum;
#pragma omp simd
		for (size_t v = 0; v < V; v++)
			to[v] = nn_exp(from[v] - top);
		sum = nn_total(to, V);
#pragma omp simd
		for (size_t v = 0; v < V; v++)
			to[v] /= sum;
	}
}

void
nn_softmax_back(float *dx, const float *dy, const float *y, size_t R, size_t V)
{
#pragma omp parallel for schedule(static) if (nn_shared(R, V))
	for (size_t r = 0; r < R; r++) {
		const float *g = dy + r * V, *p = y + r * V;
		float along = nn_dot(g, p, V);
#pragma omp simd
		for (size_t v = 0; v < V; v++)
			dx[r * V + v] = p[v] * (g[v] - along);
	}
}

/* Counts the entries equal to x. */
static size_t
count_equal(const float *row, size_t V, float x)
{
	size_t count = 0;

	for (size_t v = 0; v < V; v++)
		count += row[v] == x;
	return count;
}

/* One row in place; returns its loss.  An entry outside the mask ends as 0. */
static double
cross_entropy_row(float *logits, size_t target, const uint8_t *mask, float scale,
    size_t V, double *correct)
{
	float own = logits[target];

	if (mask)
#pragma omp simd
		for (size_t v = 0; v < V; v++)
			logits[v] = mask[v] ? logits[v] : -INFINITY;
	float top = nn_greatest(logits, V);
	double hit = own >= top ? 1 / (double)count_equal(logits, V, top) : 0;
#pragma omp simd
	for (size_t v = 0; v < V; v++)
		logits[v] = nn_exp(logits[v] - top);
	double sum = nn_long_total(logits, V, false);
	*correct = isnan(sum) ? 0 : hit;
	float factor = (float)((double)scale / sum);
#pragma omp simd
	for (size_t v = 0; v < V; v++)
		logits[v] *= factor;
	logits[target] -= scale;
	return log(sum) + (double)top - (double)own;
}

void
nn_cross_entropy(float *logits, struct nn_loss *sum, const int32_t *targets,
    const uint8_t *mask, float scale, size_t R, size_t V)
{
	/* rows are summed in their order, whichever thread computed them */
	enum { ROWS = 1024 };
	double total = 0;

	for (size_t from = 0; from < R; from += ROWS) {
		double loss[ROWS];
		double hit[ROWS];
		size_t rows = R - from < ROWS ? R - from : ROWS;
#pragma omp parallel for schedule(static) if (nn_shared(rows, V))
		for (size_t i = 0; i < rows; i++)
			loss[i] = cross_entropy_row(logits + (from + i) * V,
			    (size_t)targets[from + i],
			    mask ? mask + (from + i) * V : NULL, scale, V, &hit[i]);
		for (size_t i = 0; i < rows; i++) {
			total += loss[i];
			sum->correct += hit[i];
		}
	}
	sum->loss += total;
}
