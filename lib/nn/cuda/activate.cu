#include "nn/cuda/bf16.h"
#include "nn/cuda/row.h"

namespace
{

/* The tanh form of GELU: 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), Hendrycks and
 * Gimpel 2016; written by the logistic function, since (1 + tanh z) / 2 = sigmoid(2 z). */
constexpr float TWICE_ROOT = 1.59576912f, CUBIC = 0.044715f;

__device__ __forceinline__ float
sigmoid(float x)
{
	return 1 / (1 + expf(-x));
}

/* The standard normal's distribution function; by erfc, which keeps its digits where x is far below 0. */
__device__ __forceinline__ float
phi(float x)
{
	return 0.5f * erfcf(-0.707106781f * x);
}

template <enum nn_act ACT>
__device__ __forceinline__ float
act_value(float x)
{
	switch (ACT) {
	case NN_GELU: return x * phi(x);
	case NN_GELU_TANH: return x * sigmoid(TWICE_ROOT * (x + CUBIC * x * x * x));
	case NN_SILU: return x * sigmoid(x);
	case NN_SIGMOID: return sigmoid(x);
	case NN_TANH: return tanhf(x);
	case NN_TANH_INT8: return rintf(127 * tanhf(x));
	case NN_RELU: return x > 0 ? x : 0;
	}
	return x;
}

template <enum nn_act ACT>
__device__ __forceinline__ float
act_gradient(float x)
{
	float y;

	switch (ACT) {
	case NN_GELU: /* Phi(x) + x phi(x) */
		return phi(x) + x * 0.398942280f * expf(-0.5f * x * x);
	case NN_GELU_TANH:
		y = sigmoid(TWICE_ROOT * (x + CUBIC * x * x * x));
		return y + x * y * (1 - y) * TWICE_ROOT * (1 + 3 * CUBIC * x * x);
	case NN_SILU: y = sigmoid(x); return y * (1 + x * (1 - y));
	case NN_SIGMOID: y = sigmoid(x); return y * (1 - y);
	case NN_TANH:
	case NN_TANH_INT8: y = tanhf(x); return 1 - y * y;
	case NN_RELU: return x > 0 ? 1 : 0;
	}
	return 1;
}

template <enum nn_act ACT, class E>
__global__ void
values(E *y, const E *x, bool whole, size_t n)
{
	for (size_t i = 4 * grid_thread(); i < n; i += 4 * grid_threads()) {
		bool all = whole && i + 4 <= n;
		struct four part = row_take(x, i, n, all);
		for (int j = 0; j < 4; j++)
			part.at[j] = act_value<ACT>(part.at[j]);
		row_put(y, i, n, all, part);
	}
}

template <enum nn_act ACT>
__global__ void
gradients(float *dx, const float *dy, const float *x, bool whole, size_t n)
{
	for (size_t i = 4 * grid_thread(); i < n; i += 4 * grid_threads()) {
		bool all = whole && i + 4 <= n;
		struct four part = row_take(x, i, n, all), g = row_take(dy, i, n, all);
		for (int j = 0; j < 4; j++)
			g.at[j] *= act_gradient<ACT>(part.at[j]);
		row_put(dx, i, n, all, g);
	}
}

template <enum nn_act ACT, class E>
__global__ void
glu(E *y, const E *up, const E *gate, size_t ld, bool whole, size_t T, size_t I)
{
	for (size_t t = lines_row(); t < T; t += lines_rows())
		for (size_t i = lines_column(); i < I; i += lines_columns()) {
			struct four u = row_take(up + t * ld, i, I, whole);
			struct four g = row_take(gate + t * ld, i, I, whole);
			for (int j = 0; j < 4; j++)
				u.at[j] *= act_value<ACT>(g.at[j]);
			row_put(y + t * I, i, I, whole, u);
		}
}

template <enum nn_act ACT>
__global__ void
glu_gradients(float *dup, float *dgate, const float *dy, const float *up,
    const float *gate, size_t ld, bool whole, size_t T, size_t I)
{
	for (size_t t = lines_row(); t < T; t += lines_rows())
		for (size_t i = lines_column(); i < I; i += lines_columns()) {
			struct four d = row_take(dy + t * I, i, I, whole);
			struct four u = row_take(up + t * ld, i, I, whole);
			struct four g = row_take(gate + t * ld, i, I, whole);
			for (int j = 0; j < 4; j++) {
				u.at[j] *= d.at[j] * act_gradient<ACT>(g.at[j]);
				d.at[j] *= act_value<ACT>(g.at[j]);
			}
			row_put(dup + t * ld, i, I, whole, d);
			row_put(dgate + t * ld, i, I, whole, u);
		}
}

template <enum nn_act ACT> struct act_is {
	static constexpr enum nn_act ACTIVATION = ACT;
};

/* Calls f(act_is<act>()), so that each activation has its own kernels. */
template <class F>
void
with_act(enum nn_act act, F f)
{
	switch (act) {
	case NN_GELU: f(act_is<NN_GELU>()); break;
	case NN_GELU_TANH: f(act_is<NN_GELU_TANH>()); break;
	case NN_SILU: f(act_is<NN_SILU>()); break;
	case NN_SIGMOID: f(act_is<NN_SIGMOID>()); break;
	case NN_TANH: f(act_is<NN_TANH>()); break;
	case NN_RELU: f(act_is<NN_RELU>()); break;
	case NN_TANH_INT8: f(act_is<NN_TANH_INT8>()); break;
	}
}

template <class E>
void
activate(E *y, const E *x, enum nn_act act, size_t n)
{
	bool whole = row_whole(y, 0, 0) && row_whole(x, 0, 0);

	with_act(act, [=](auto is) {
		device_launch((values<decltype(is)::ACTIVATION, E>),
		    device_spread((n + 3) / 4), BLOCK, 0, y, x, whole, n);
	});
}

template <class E>
void
gate_rows(
    E *y, const E *up, const E *gate, size_t ld, enum nn_act act, size_t T, size_t I)
{
	struct row_grid lines = row_grid_of(T, I);
	bool whole = row_whole(y, I, I) && row_whole(up, ld, I) && row_whole(gate, ld, I);

	with_act(act, [=](auto is) {
		device_launch((glu<decltype(is)::ACTIVATION, E>), lines.grid, lines.block,
		    0, y, up, gate, ld, whole, T, I);
	});
}
} // namespace

void
nn_activate(float *y, const float *x, enum nn_act act, size_t n)
{
	activate(y, x, act, n);
}

void
bf16_activate(__nv_bfloat16 *y, enum nn_act act, size_t n)
{
	activate(y, (const __nv_bfloat16 *)y, act, n);
}

void
bf16_glu(__nv_bfloat16 *y, const __nv_bfloat16 *up, const __nv_bfloat16 *gate, size_t ld,
    enum nn_act act, size_t T, size_t I)
{
	gate_rows(y, up, gate, ld, act, T, I);
}

void
nn_activate_back(float *dx, const float *dy, const float *x, enum nn_act act, size_t n)
{
	bool whole = row_whole(dx, 0, 0) && row_whole(dy, 0, 0) && row_whole(x, 0, 0);

	with_act(act, [=](auto is) {
		device_launch(gradients<decltype(is)::ACTIVATION>,
		    device_spread((n + 3) / 4), BLOCK, 0, dx, dy, x, whole, n);
	});
}

void
nn_glu(float *y, const float *up, const float *gate, size_t ld, enum nn_act act, size_t T,
    size_t I)
{
	gate_rows(y, up, gate, ld, act, T, I);
}

void
nn_glu_back(float *dup, float *dgate, const float *dy, const float *up, const float *gate,
    size_t ld, enum nn_act act, size_t T, size_t I)
{
	struct row_grid lines = row_grid_of(T, I);
	bool whole = row_whole(dup, ld, I) && row_whole(dgate, ld, I) &&
		     row_whole(dy, I, I) && row_whole(up, ld, I) &&
		     row_whole(gate, ld, I);

	with_act(act, [=](auto is) {
		device_launch(glu_gradients<decltype(is)::ACTIVATION>, lines.grid,
		    lines.block, 0, dup, dgate, dy, up, gate, ld, whole, T, I);
	});
}
