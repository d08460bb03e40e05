#include "nn/nn.h"

#include <math.h>

#include "nn/cpu/cpu.h"

/* One row in place; returns its loss.  An entry outside the mask ends as 0. */
static double
cross_entropy_row(float *logits, size_t target, const uint8_t *mask, float scale,
    size_t V, bool *correct)
{
	float top = -INFINITY, own = logits[target];
	double sum = 0;

	for (size_t v = 0; v < V; v++)
		if ((!mask || mask[v]) && (logits[v] > top || logits[v] != logits[v]))
			top = logits[v];
	*correct = own >= top;
	if (mask) {
#pragma omp simd reduction(+ : sum)
		for (size_t v = 0; v < V; v++) {
			float p = mask[v] ? nn_exp(logits[v] - top) : 0;
			logits[v] = p;
			sum += (double)p;
		}
	} else {
#pragma omp simd reduction(+ : sum)
		for (size_t v = 0; v < V; v++) {
			float p = nn_exp(logits[v] - top);
			logits[v] = p;
			sum += (double)p;
		}
	}
	float factor = (float)((double)scale / sum);
#pragma omp simd
	for (size_t v = 0; v < V; v++)
		logits[v] *= factor;
	logits[target] -= scale;
	return log(sum) + (double)top - (double)own;
}

double
nn_cross_entropy(float *logits, const int32_t *targets, const uint8_t *mask, float scale,
    size_t R, size_t V, int64_t *correct)
{
	/* rows are summed in their order, whoever computed them */
	enum { ROWS = 1024 };
	double total = 0;
	int64_t right = 0;

	for (size_t from = 0; from < R; from += ROWS) {
		double loss[ROWS];
		bool hit[ROWS];
		size_t rows = R - from < ROWS ? R - from : ROWS;
#pragma omp parallel for schedule(static) if (rows * V > NN_SERIAL)
		for (size_t i = 0; i < rows; i++)
			loss[i] = cross_entropy_row(logits + (from + i) * V,
			    (size_t)targets[from + i],
			    mask ? mask + (from + i) * V : NULL, scale, V, &hit[i]);
		for (size_t i = 0; i < rows; i++) {
			total += loss[i];
			right += hit[i];
		}
	}
	if (correct)
		*correct = right;
	return total;
}

void
nn_adamw(float *w, float *m, float *v, const float *gradient, const struct nn_adamw *a,
    size_t n)
{
	float beta1 = (float)a->beta1, beta2 = (float)a->beta2, scale = (float)a->scale;
	float rest1 = (float)(1 - a->beta1), rest2 = (float)(1 - a->beta2),
	      eps = (float)a->eps;
	float keep = (float)(1 - a->lr * a->decay);
	float rate = (float)(a->lr / (1 - pow(a->beta1, (double)a->step)));
	float root = (float)(1 / sqrt(1 - pow(a->beta2, (double)a->step)));

#pragma omp parallel for simd schedule(static) if (n > NN_SERIAL)
	for (size_t i = 0; i < n; i++) {
		float g = gradient[i] * scale;
		m[i] = beta1 * m[i] + rest1 * g;
		v[i] = beta2 * v[i] + rest2 * g * g;
		w[i] = keep * w[i] - rate * m[i] / (sqrtf(v[i]) * root + eps);
	}
}
