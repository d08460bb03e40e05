#include "nn/cuda/bf16.h"
#include "nn/cuda/attention_bf16.h"
#include "nn/cuda/gemm.h"
#include "nn/cuda/row.h"

#include <vector>
extern "C" {
#include "nn/cuda/gemm_hopper.h"
}

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

/* y[T,O] = x[T,C] w[O,C]^T, without a bias, as cuBLASLt takes it. */
struct cublas_gemm
gemm_of(void *y, size_t ldy, const void *x, struct nn_matrix w, enum gemm_type kind,
    size_t T, size_t C, size_t O)
{
	struct cublas_gemm p = {};

	p.c = y;
	p.a = x;
	p.b = w.at;
	p.ldc = ldy;
	p.lda = p.ldb = p.K = C;
	p.M = T;
	p.N = O;
	p.kind = kind;
	p.b_transposed = p.no_split_k = true;
	p.alpha = 1;
	return p;
}

/* By cuBLASLt. */
void
product(bf16 *y, size_t ldy, const bf16 *x, struct nn_matrix w, const float *b, size_t T,
    size_t C, size_t O)
{
	scratch<bf16> bias(b ? bf16_stride(O) : 0); /* cuBLASLt wants it in y's type */
	struct cublas_gemm p = gemm_of(y, ldy, x, w, GEMM_BF16_OUT, T, C, O);

	if (b)
		convert_to_bf16(bias.at, b, O, 1, O);
	p.bias = bias.at;
	cublas_gemm(&p);
}

/* A product of our own kernel: layers side by side in y, or, `grouped`, each of its own rows, one group after another. */
struct fused {
	std::vector<struct hopper_part> parts;
	struct hopper_gemm gemm = {};

	fused(bf16 *y, size_t ldy, const bf16 *x, size_t C,
	    const struct nn_bf16_layer *layers, size_t count, const enum nn_act *act,
	    size_t T, bool grouped)
	{
		size_t column = 0;

		for (size_t i = 0; i < count; i++) {
			const struct nn_bf16_layer *l = &layers[i];
			if (grouped && !l->rows)
				continue;
			parts.push_back({ l->w.at, l->gate.at, l->b, l->gate_b,
			    grouped ? l->rows : T, l->O, column, !grouped && i > 0 });
			column += grouped ? 0 : l->O;
		}
		gemm = { y, x, ldy, C, C, C, parts.data(), parts.size(),
			layers->gate.at ? HOPPER_GATED
			: act		? HOPPER_ACTIVATE
					: HOPPER_PLAIN,
			act ? *act : NN_RELU, 0 };
	}

	bool
	run() const
	{
		if (!hopper_supports(&gemm))
			return false;
		if (gemm.count)
			hopper_gemm(&gemm);
		return true;
	}
};

void
linear(uint16_t *y, size_t ldy, const uint16_t *x, const struct nn_bf16_layer *layers,
    size_t count, const enum nn_act *act, size_t T, size_t C)
{
	bf16 *to = (bf16 *)y;

	if (fused(to, ldy, (const bf16 *)x, C, layers, count, act, T, false).run())
		return;
	for (size_t i = 0; i < count; to += layers[i++].O)
		product(to, ldy, (const bf16 *)x, layers[i].w, layers[i].b, T, C,
		    layers[i].O);
	if (act)
		bf16_activate((bf16 *)y, *act, T * ldy);
}

void
linear_gated(uint16_t *y, const uint16_t *x, const struct nn_bf16_layer *layer,
    enum nn_act act, size_t T, size_t C)
{
	size_t O = layer->O;

	if (fused((bf16 *)y, O, (const bf16 *)x, C, layer, 1, &act, T, false).run())
		return;
	scratch<bf16> both(2 * T * O);
	bf16 *ups = both.at, *gates = both.at + O;
	product(ups, 2 * O, (const bf16 *)x, layer->w, layer->b, T, C, O);
	product(gates, 2 * O, (const bf16 *)x, layer->gate, layer->gate_b, T, C, O);
	bf16_glu((bf16 *)y, ups, gates, 2 * O, act, T, O);
}

void
linear_f32(float *y, const uint16_t *x, struct nn_matrix w, size_t T, size_t C, size_t O)
{
	if (w.dtype != DTYPE_BF16) {
		scratch<float> floats(T * C);
		to_f32(floats.at, x, T * C);
		nn_linear(y, O, floats.at, C, w, NULL, T, C, O);
		return;
	}
	struct cublas_gemm p = gemm_of(y, O, x, w, GEMM_BF16, T, C, O);
	cublas_gemm(&p);
}

/* Where slot s of all, [T top], lies among the rows sorted by expert. */
__global__ void
invert(int32_t *places, const int32_t *slots, size_t R)
{
	for (size_t r = grid_thread(); r < R; r += grid_threads())
		places[slots[r]] = (int32_t)r;
}

__global__ void
gather(bf16 *y, const bf16 *x, const int32_t *rows, bool whole, size_t R, size_t C)
{
	for (size_t r = lines_row(); r < R; r += lines_rows())
		for (size_t c = lines_column(); c < C; c += lines_columns())
			row_put(y + r * C, c, C, whole,
			    row_take(x + (size_t)rows[r] * C, c, C, whole));
}

/* out[t] = bias + sum of weights[t,j] y[places[t,j]], in the order of j */
__global__ void
sum_slots(bf16 *out, const bf16 *y, const float *weights, const int32_t *places,
    const float *bias, bool whole, size_t T, size_t top, size_t C)
{
	for (size_t t = lines_row(); t < T; t += lines_rows())
		for (size_t c = lines_column(); c < C; c += lines_columns()) {
			struct four sum = four_of(0);
			for (size_t j = t * top; j < (t + 1) * top; j++) {
				struct four x =
				    row_take(y + (size_t)places[j] * C, c, C, whole);
				for (int i = 0; i < 4; i++)
					sum.at[i] += weights[j] * x.at[i];
			}
			if (bias)
				for (int i = 0; i < 4; i++)
					sum.at[i] += c + i < C ? bias[c + i] : 0;
			row_put(out + t * C, c, C, whole, sum);
		}
}

/* Layers of consecutive groups of rows. */
void
grouped(bf16 *y, const bf16 *x, const struct nn_bf16_layer *layers, size_t count,
    const enum nn_act *act, size_t C)
{
	if (fused(y, layers->O, x, C, layers, count, act, 0, true).run())
		return;
	for (size_t i = 0; i < count; i++) {
		const struct nn_bf16_layer *l = &layers[i];
		if (l->gate.at)
			linear_gated(
			    (uint16_t *)y, (const uint16_t *)x, l, *act, l->rows, C);
		else
			linear((uint16_t *)y, l->O, (const uint16_t *)x, l, 1, act,
			    l->rows, C);
		y += l->rows * l->O;
		x += l->rows * C;
	}
}

void
experts(uint16_t *out, const uint16_t *x, const struct nn_bf16_layer *in,
    const struct nn_bf16_layer *down, size_t count, const struct nn_bf16_routes *to,
    enum nn_act act, size_t T, size_t C, size_t I)
{
	size_t R = T * to->top;
	struct row_grid rows = row_grid_of(R, C), tokens = row_grid_of(T, C);
	scratch<bf16> outer(R * C), inner(R * I);
	scratch<int32_t> places(R);

	device_launch(gather, rows.grid, rows.block, 0, outer.at, (const bf16 *)x,
	    to->rows, true, R, C);
	grouped(inner.at, outer.at, in, count, &act, C);
	grouped(outer.at, inner.at, down, count, NULL, I);
	device_launch(invert, device_spread(R), BLOCK, 0, places.at, to->slots, R);
	device_launch(sum_slots, tokens.grid, tokens.block, 0, (bf16 *)out, outer.at,
	    to->weights, places.at, to->bias, true, T, to->top, C);
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

/* Without our own GEMM token experts are quicker with f32 between kernels, many experts in a launch (grouped.cu). */
struct nn_bf16
kernels_of_device()
{
	struct hopper_gemm any = {};

	any.C = 8;
	return { from_f32, to_f32, add_to_f32, linear, linear_gated, linear_f32,
		hopper_supports(&any) ? experts : nullptr, norm, norm_sum, heads,
		attention };
}
} // namespace

const struct nn_bf16 *
nn_bf16(void)
{
	static const struct nn_bf16 kernels = kernels_of_device();

	return &kernels;
}
