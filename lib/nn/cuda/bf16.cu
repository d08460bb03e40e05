#include "nn/cuda/bf16.h"
#include "nn/cuda/attention_bf16.h"
#include "nn/cuda/gemm.h"
#include "nn/cuda/row.h"

namespace
{

typedef __nv_bfloat16 bf16;

/* y = x, of either type; ADD: y += x */
template <class X, class Y, bool ADD>
__global__ void
convert(Y *y, const X *x, bool whole, size_t n)
{
	for (size_t i = 4 * grid_thread(); i < n; i += 4 * grid_threads()) {
		bool all = whole && i + 4 <= n;
		struct four part = row_take(x, i, n, all);
		if (ADD) {
			struct four sum = row_take(y, i, n, all);
			for (int j = 0; j < 4; j++)
				part.at[j] += sum.at[j];
		}
		row_put(y, i, n, all, part);
	}
}

template <bool ADD, class X, class Y>
void
converted(Y *y, const X *x, size_t n)
{
	bool whole = row_whole(y, 0, 0) && row_whole(x, 0, 0);

	device_launch(
	    (convert<X, Y, ADD>), device_spread((n + 3) / 4), BLOCK, 0, y, x, whole, n);
}

void
from_f32(uint16_t *y, const float *x, size_t n)
{
	converted<false>((bf16 *)y, x, n);
}

void
to_f32(float *y, const uint16_t *x, size_t n)
{
	converted<false>(y, (const bf16 *)x, n);
}

void
add_to_f32(float *y, const uint16_t *x, size_t n)
{
	converted<true>(y, (const bf16 *)x, n);
}

void
product(bf16 *y, size_t ldy, const bf16 *x, struct nn_matrix w, const float *b, size_t T,
    size_t C, size_t O)
{
	scratch<bf16> bias(b ? bf16_stride(O) : 0); /* cuBLASLt wants it in y's type */
	struct cublas_gemm p = {};

	if (b)
		convert_to_bf16(bias.at, b, O, 1, O);
	p.c = y;
	p.a = x;
	p.b = w.at;
	p.bias = bias.at;
	p.ldc = ldy;
	p.lda = p.ldb = p.K = C;
	p.M = T;
	p.N = O;
	p.kind = GEMM_BF16_OUT;
	p.b_transposed = p.no_split_k = true;
	p.alpha = 1;
	cublas_gemm(&p);
}

void
linear(uint16_t *y, size_t ldy, const uint16_t *x, struct nn_matrix w, const float *b,
    const enum nn_act *act, size_t T, size_t C, size_t O)
{
	product((bf16 *)y, ldy, (const bf16 *)x, w, b, T, C, O);
	if (act)
		bf16_activate((bf16 *)y, *act, T * O);
}

void
linear_gated(uint16_t *y, const uint16_t *x, struct nn_matrix up, struct nn_matrix gate,
    const float *const b[2], enum nn_act act, size_t T, size_t C, size_t I)
{
	scratch<bf16> both(2 * T * I);
	bf16 *ups = both.at, *gates = both.at + I;

	product(ups, 2 * I, (const bf16 *)x, up, b[0], T, C, I);
	product(gates, 2 * I, (const bf16 *)x, gate, b[1], T, C, I);
	bf16_glu((bf16 *)y, ups, gates, 2 * I, act, T, I);
}

void
norm(uint16_t *y, const uint16_t *x, const uint16_t *r, size_t ld, const float *w,
    const float *b, float eps, enum nn_norm kind, size_t T, size_t C)
{
	bf16_norm((bf16 *)y, (const bf16 *)x, (const bf16 *)r, ld, w, b, eps, kind, T, C);
}

void
norm_sum(uint16_t *y, float *x, const uint16_t *r, const float *w, const float *b,
    float eps, enum nn_norm kind, size_t T, size_t C)
{
	bf16_norm_sum((bf16 *)y, x, (const bf16 *)r, w, b, eps, kind, T, C);
}

void
heads(uint16_t *qk, size_t ld, const float *const w[2], float eps, enum nn_norm kind,
    const float *inv, size_t step, const struct nn_sequences *sequences, size_t H,
    size_t K, size_t D)
{
	bf16_heads((bf16 *)qk, ld, w, eps, kind, inv, step, sequences, H, K, D);
}

void
attention(uint16_t *out, const uint16_t *q, const uint16_t *k, const uint16_t *v,
    const struct nn_attention *a)
{
	attention_bf16((bf16 *)out, (const bf16 *)q, (const bf16 *)k, (const bf16 *)v, a);
}

const struct nn_bf16 kernels = { from_f32, to_f32, add_to_f32, linear, linear_gated, norm,
	norm_sum, heads, attention };
} // namespace

const struct nn_bf16 *
nn_bf16(void)
{
	return &kernels;
}
