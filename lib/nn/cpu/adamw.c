#include "nn/nn.h"

#include <math.h>

#include "nn/cpu/cpu.h"

void
nn_square_sums(double *sums, const float *x, const struct nn_slice *slices, size_t count,
    size_t most)
{
	(void)most;
	for (size_t i = 0; i < count; i++)
		sums[i] = nn_square_sum(x + slices[i].offset, slices[i].count);
}

/* x, or 0 if its size is below `least`.  m and v of a weight without gradients, as in the rows of rare tokens, decay until they are
 * subnormal and stay so: a vector of them takes Intel's processors 150 cycles.  With eps 1e-8 they change no weight long before. */
NN_INLINE float
at_least(float x, float least)
{
	return fabsf(x) < least ? 0.0f : x;
}

static void
update(float *w, float *m, float *v, float *gradient, const struct nn_adamw *a,
    const struct nn_slice *slice)
{
	float beta1 = (float)a->beta1, beta2 = (float)a->beta2, scale = (float)a->scale;
	float rest1 = (float)(1 - a->beta1), rest2 = (float)(1 - a->beta2),
	      eps = (float)a->eps;
	float keep = (float)(1 - a->lr * slice->decay);
	float rate = (float)(a->lr / (1 - pow(a->beta1, (double)slice->step)));
	float root = (float)(1 / sqrt(1 - pow(a->beta2, (double)slice->step)));
	size_t n = slice->count;

#pragma omp parallel for simd schedule(static) if (nn_shared(n, 1))
	for (size_t i = 0; i < n; i++) {
		float g = gradient[i] * scale;
		m[i] = beta1 * at_least(m[i], 0x1p-80f) + rest1 * g;
		v[i] = beta2 * at_least(v[i], 0x1p-120f) + rest2 * g * g;
		w[i] = keep * w[i] - rate * m[i] / (sqrtf(v[i]) * root + eps);
		gradient[i] = 0;
	}
}

void
nn_adamw(float *w, float *m, float *v, float *gradient, const struct nn_adamw *a,
    const struct nn_slice *slices, size_t count, size_t most)
{
	(void)most;
	for (size_t i = 0; i < count; i++) {
		size_t at = slices[i].offset;
		if (slices[i].step)
			update(w + at, m + slices[i].moments, v + slices[i].moments,
			    gradient + at, a, &slices[i]);
		else
			nn_zero(gradient + at, slices[i].count);
	}
}
