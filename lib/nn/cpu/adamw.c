#include "nn/nn.h"

#include <math.h>

#include "nn/cpu/cpu.h"

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
