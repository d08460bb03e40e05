#include "nn/nn.h"

#include "nn/cpu/elementary.h"

/* The tanh form of GELU: 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), Hendrycks and
 * Gimpel 2016; written by the logistic function, since (1 + tanh z) / 2 = sigmoid(2 z). */
static const float TWICE_ROOT = 1.59576912f, CUBIC = 0.044715f;

NN_INLINE float
act_value(float x, enum nn_act act)
{
	switch (act) {
	case NN_GELU: return x * nn_phi(x);
	case NN_GELU_TANH: return x * nn_sigmoid(TWICE_ROOT * (x + CUBIC * x * x * x));
	case NN_SILU: return x * nn_sigmoid(x);
	case NN_SIGMOID: return nn_sigmoid(x);
	case NN_TANH: return nn_tanh(x);
	case NN_TANH_INT8: return rintf(127 * nn_tanh(x));
	case NN_RELU: return x > 0 ? x : 0;
	}
	return x;
}

NN_INLINE float
act_gradient(float x, enum nn_act act)
{
	float y;

	switch (act) {
	case NN_GELU: /* Phi(x) + x phi(x) */
		return nn_phi(x) + x * 0.398942280f * nn_exp(-0.5f * x * x);
	case NN_GELU_TANH:
		y = nn_sigmoid(TWICE_ROOT * (x + CUBIC * x * x * x));
		return y + x * y * (1 - y) * TWICE_ROOT * (1 + 3 * CUBIC * x * x);
	case NN_SILU: y = nn_sigmoid(x); return y * (1 + x * (1 - y));
	case NN_SIGMOID: y = nn_sigmoid(x); return y * (1 - y);
	case NN_TANH:
	case NN_TANH_INT8: y = nn_tanh(x); return 1 - y * y;
	case NN_RELU: return x > 0 ? 1 : 0;
	}
	return 1;
}

/* The four loops.  Each is expanded once for each activation, below. */

NN_INLINE void
each_value(float *y, const float *x, enum nn_act act, size_t n)
{
#pragma omp simd
	for (size_t i = 0; i < n; i++)
		y[i] = act_value(x[i], act);
}

NN_INLINE void
each_gradient(float *dx, const float *dy, const float *x, enum nn_act act, size_t n)
{
#pragma omp simd
	for (size_t i = 0; i < n; i++)
		dx[i] = dy[i] * act_gradient(x[i], act);
}

NN_INLINE void
each_glu(float *y, const float *up, const float *gate, enum nn_act act, size_t n)
{
#pragma omp simd
	for (size_t i = 0; i < n; i++)
		y[i] = up[i] * act_value(gate[i], act);
}

NN_INLINE void
each_glu_gradient(float *dup, float *dgate, const float *dy, const float *up,
    const float *gate, enum nn_act act, size_t n)
{
#pragma omp simd
	for (size_t i = 0; i < n; i++) {
		float value = act_value(gate[i], act),
		      gradient = act_gradient(gate[i], act);
		float g = dy[i], u = up[i];
		dup[i] = g * value;
		dgate[i] = g * u * gradient;
	}
}

void
nn_activate_serial(float *y, const float *x, enum nn_act act, size_t n)
{
	switch (act) {
	case NN_GELU: each_value(y, x, NN_GELU, n); break;
	case NN_GELU_TANH: each_value(y, x, NN_GELU_TANH, n); break;
	case NN_SILU: each_value(y, x, NN_SILU, n); break;
	case NN_SIGMOID: each_value(y, x, NN_SIGMOID, n); break;
	case NN_TANH: each_value(y, x, NN_TANH, n); break;
	case NN_RELU: each_value(y, x, NN_RELU, n); break;
	case NN_TANH_INT8: each_value(y, x, NN_TANH_INT8, n); break;
	}
}

static void
gradients(float *dx, const float *dy, const float *x, enum nn_act act, size_t n)
{
	switch (act) {
	case NN_GELU: each_gradient(dx, dy, x, NN_GELU, n); break;
	case NN_GELU_TANH: each_gradient(dx, dy, x, NN_GELU_TANH, n); break;
	case NN_SILU: each_gradient(dx, dy, x, NN_SILU, n); break;
	case NN_SIGMOID: each_gradient(dx, dy, x, NN_SIGMOID, n); break;
	case NN_TANH:
	case NN_TANH_INT8: each_gradient(dx, dy, x, NN_TANH, n); break;
	case NN_RELU: each_gradient(dx, dy, x, NN_RELU, n); break;
	}
}

static void
glu(float *y, const float *up, const float *gate, enum nn_act act, size_t n)
{
	switch (act) {
	case NN_GELU: each_glu(y, up, gate, NN_GELU, n); break;
	case NN_GELU_TANH: each_glu(y, up, gate, NN_GELU_TANH, n); break;
	case NN_SILU: each_glu(y, up, gate, NN_SILU, n); break;
	case NN_SIGMOID: each_glu(y, up, gate, NN_SIGMOID, n); break;
	case NN_TANH: each_glu(y, up, gate, NN_TANH, n); break;
	case NN_RELU: each_glu(y, up, gate, NN_RELU, n); break;
	case NN_TANH_INT8: each_glu(y, up, gate, NN_TANH_INT8, n); break;
	}
}

static void
glu_gradients(float *dup, float *dgate, const float *dy, const float *up,
    const float *gate, enum nn_act act, size_t n)
{
	switch (act) {
	case NN_GELU: each_glu_gradient(dup, dgate, dy, up, gate, NN_GELU, n); break;
	case NN_GELU_TANH:
		each_glu_gradient(dup, dgate, dy, up, gate, NN_GELU_TANH, n);
		break;
	case NN_SILU: each_glu_gradient(dup, dgate, dy, up, gate, NN_SILU, n); break;
	case NN_SIGMOID:
		each_glu_gradient(dup, dgate, dy, up, gate, NN_SIGMOID, n);
		break;
	case NN_TANH: each_glu_gradient(dup, dgate, dy, up, gate, NN_TANH, n); break;
	case NN_RELU: each_glu_gradient(dup, dgate, dy, up, gate, NN_RELU, n); break;
	case NN_TANH_INT8:
		each_glu_gradient(dup, dgate, dy, up, gate, NN_TANH_INT8, n);
		break;
	}
}

enum { BLOCK = 1 << 12 };

void
nn_activate(float *y, const float *x, enum nn_act act, size_t n)
{
#pragma omp parallel for schedule(static) if (nn_shared(nn_blocks(n, BLOCK), BLOCK))
	for (size_t i = 0; i < n; i += BLOCK)
		nn_activate_serial(y + i, x + i, act, n - i < BLOCK ? n - i : BLOCK);
}

void
nn_activate_back(float *dx, const float *dy, const float *x, enum nn_act act, size_t n)
{
#pragma omp parallel for schedule(static) if (nn_shared(nn_blocks(n, BLOCK), BLOCK))
	for (size_t i = 0; i < n; i += BLOCK)
		gradients(dx + i, dy + i, x + i, act, n - i < BLOCK ? n - i : BLOCK);
}

void
nn_glu(float *y, const float *up, const float *gate, size_t ld, enum nn_act act, size_t T,
    size_t I)
{
#pragma omp parallel for schedule(static) if (nn_shared(T, I))
	for (size_t t = 0; t < T; t++)
		glu(y + t * I, up + t * ld, gate + t * ld, act, I);
}

void
nn_glu_back(float *dup, float *dgate, const float *dy, const float *up, const float *gate,
    size_t ld, enum nn_act act, size_t T, size_t I)
{
#pragma omp parallel for schedule(static) if (nn_shared(T, I))
	for (size_t t = 0; t < T; t++)
		glu_gradients(dup + t * ld, dgate + t * ld, dy + t * I, up + t * ld,
		    gate + t * ld, act, I);
}
