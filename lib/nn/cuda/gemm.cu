#include "nn/cuda/gemm.h"

#include "nn/cuda/columns.h"

namespace
{

/* f32 weights for a bf16 GEMM. */
bool
in_bf16(struct nn_matrix w)
{
	return w.bf16 && w.dtype == DTYPE_F32;
}

/* Rows of C elements that are converted at once. */
size_t
rows_at_once(size_t C)
{
	return C < GEMM_CHUNK ? GEMM_CHUNK / (C ? C : 1) : 1;
}

/* As few parts of T rows as rows_at_once allows, of one size: cuBLASLt is slow with a last part of few rows. */
size_t
part_of(size_t T, size_t C)
{
	size_t parts = (T + rows_at_once(C) - 1) / rows_at_once(C);

	return parts > 1 ? (T + parts - 1) / parts : T;
}

size_t
least(size_t x, size_t y)
{
	return x < y ? x : y;
}

/* Rows of weights as GEMM takes them: in place, or converted in temporary memory. */
struct weight_rows {
	const void *at;
	size_t ld, rows; /* rows: at once */
	enum gemm_type kind;
	struct nn_matrix from;
	size_t C;
	scratch<float> floats;
	scratch<__nv_bfloat16> rounded;

	weight_rows(struct nn_matrix w, size_t O, size_t columns)
	    : ld(columns), rows(O ? O : 1), kind(GEMM_F32), from(w), C(columns),
	      floats(
		  w.packed || w.dtype == DTYPE_F32 ? 0 : least(rows_at_once(C), O) * C),
	      rounded(in_bf16(w) ? least(rows_at_once(C), O) * bf16_stride(C) : 0)
	{
		if (in_bf16(w) || (w.packed && w.dtype == DTYPE_BF16)) {
			kind = GEMM_BF16;
			ld = bf16_stride(C);
		}
		if (floats.at || rounded.at)
			rows = rows_at_once(C);
	}

	/* Sets `at` to rows o..o+count-1. */
	void
	take(size_t o, size_t count)
	{
		const char *stored = (const char *)from.at;

		if (floats.at) {
			convert_to_f32(floats.at, from, C, o, count);
			at = floats.at;
		} else if (rounded.at) {
			convert_to_bf16(
			    rounded.at, (const float *)from.at + o * C, C, count, C);
			at = rounded.at;
		} else
			at = stored + o * ld * (kind == GEMM_BF16 ? 2 : sizeof(float));
	}
};

/* y[T,some] = x w^T + beta y + bias, with the weights that were taken. */
void
forward(float *y, size_t ldy, const float *x, size_t ldx, const struct weight_rows &w,
    const float *bias, float beta, size_t T, size_t some)
{
	struct cublas_gemm p = {};

	p.c = y;
	p.a = x;
	p.b = w.at;
	p.bias = bias;
	p.ldc = ldy;
	p.lda = ldx;
	p.ldb = w.ld;
	p.M = T;
	p.N = some;
	p.K = w.C;
	p.kind = w.kind;
	p.b_transposed = p.no_split_k = true;
	p.alpha = 1;
	p.beta = beta;
	if (w.kind == GEMM_F32)
		return cublas_gemm(&p);
	/* both rows end in zeros */
	size_t rows = part_of(T, w.C);
	scratch<__nv_bfloat16> rounded(rows * w.ld);
	p.a = rounded.at;
	p.lda = p.K = w.ld;
	for (size_t t = 0; t < T; t += rows) {
		p.M = least(rows, T - t);
		p.c = y + t * ldy;
		convert_to_bf16(rounded.at, x + t * ldx, ldx, p.M, w.C);
		cublas_gemm(&p);
	}
}

void
linear(float *y, size_t ldy, const float *x, size_t ldx, struct nn_matrix w,
    const float *bias, bool add, size_t T, size_t C, size_t O)
{
	if (!T || !O)
		return;
	if (w.packed && w.dtype == DTYPE_I8) {
		gemm_packed_i8(y, ldy, x, ldx, w, bias, add, T, C, O);
		return;
	}
	struct weight_rows weights(w, O, C);
	for (size_t o = 0; o < O; o += weights.rows) {
		size_t some = least(weights.rows, O - o);
		weights.take(o, some);
		forward(
		    y + o, ldy, x, ldx, weights, bias ? bias + o : nullptr, add, T, some);
	}
}

/* Backward. ------------------------------------------------------------------------ */

/* dx[T,C] (+)= dy[T,some] w, of the weights that were taken. */
struct cublas_gemm
product_dx(float *dx, bool add, const void *dy, size_t ldy, const struct weight_rows &w,
    size_t T, size_t some)
{
	struct cublas_gemm p = {};

	p.c = dx;
	p.a = dy;
	p.b = w.at;
	p.ldc = p.N = w.C;
	p.lda = ldy;
	p.ldb = w.ld;
	p.M = T;
	p.K = some;
	p.kind = w.kind;
	p.no_split_k = true;
	p.alpha = 1;
	p.beta = add;
	return p;
}

/* dw[O,C] += dy[T,O]^T x[T,C] */
struct cublas_gemm
product_dw(float *dw, const void *dy, size_t ldy, const void *x, size_t ldx,
    enum gemm_type kind, size_t T, size_t C, size_t O)
{
	struct cublas_gemm p = {};

	p.c = dw;
	p.a = dy;
	p.b = x;
	p.ldc = p.N = C;
	p.lda = ldy;
	p.ldb = ldx;
	p.M = O;
	p.K = T;
	p.kind = kind;
	p.a_transposed = true;
	p.alpha = p.beta = 1;
	return p;
}

void
back_dx(float *dx, bool add, const float *dy, size_t ldy, struct nn_matrix w, size_t T,
    size_t C, size_t O)
{
	struct weight_rows weights(w, O, C);
	struct cublas_gemm p;

	/* dx of no outputs is zeros */
	for (size_t o = 0; o < O || !o; o += weights.rows) {
		size_t some = least(weights.rows, O - o);
		weights.take(o, some);
		p = product_dx(dx, add || o, dy + o, ldy, weights, T, some);
		cublas_gemm(&p);
	}
}

/* Both with bf16 operands; dy, x and weights are converted in chunks of rows. */
void
back_in_bf16(float *dx, bool add, float *dw, const float *dy, size_t ldy, const float *x,
    size_t ldx, struct nn_matrix w, size_t T, size_t C, size_t O)
{
	struct weight_rows weights(w, O, C);
	size_t wide = bf16_stride(least(weights.rows, O)), narrow = bf16_stride(C);
	size_t rows = part_of(T, wide < narrow ? narrow : wide);
	scratch<__nv_bfloat16> dy_bf16(rows * wide), x_bf16(dw ? rows * narrow : 0);
	struct cublas_gemm p;

	for (size_t o = 0; o < O || !o; o += weights.rows) {
		size_t some = least(weights.rows, O - o), ld = bf16_stride(some);
		if (dx)
			weights.take(o, some);
		for (size_t t = 0; t < T; t += rows) {
			size_t high = least(rows, T - t);
			convert_to_bf16(dy_bf16.at, dy + t * ldy + o, ldy, high, some);
			if (dx) {
				p = product_dx(dx + t * C, add || o, dy_bf16.at, ld,
				    weights, high, some);
				cublas_gemm(&p);
			}
			if (dw) {
				convert_to_bf16(x_bf16.at, x + t * ldx, ldx, high, C);
				p = product_dw(dw + o * C, dy_bf16.at, ld, x_bf16.at,
				    narrow, GEMM_BF16, high, C, some);
				cublas_gemm(&p);
			}
		}
	}
}

/* Of contiguous matrices. */
void
product(float *c, const float *a, bool a_transposed, const float *b, bool b_transposed,
    size_t M, size_t N, size_t K, float alpha, float beta)
{
	struct cublas_gemm p = {};

	p.c = c;
	p.a = a;
	p.b = b;
	p.ldc = N;
	p.lda = a_transposed ? M : K;
	p.ldb = b_transposed ? K : N;
	p.M = M;
	p.N = N;
	p.K = K;
	p.a_transposed = a_transposed;
	p.b_transposed = b_transposed;
	p.alpha = alpha;
	p.beta = beta;
	cublas_gemm(&p);
}
} // namespace

void
nn_linear(float *y, size_t ldy, const float *x, size_t ldx, struct nn_matrix w,
    const float *b, size_t T, size_t C, size_t O)
{
	linear(y, ldy, x, ldx, w, b, false, T, C, O);
}

void
nn_linear_activate(float *y, size_t ldy, const float *x, size_t ldx, struct nn_matrix w,
    const float *b, enum nn_act act, size_t T, size_t C, size_t O)
{
	/* not cuBLASLt's epilogues: its GELU is the tanh form, and its ReLU of NaN is not documented */
	if (ldy == O) {
		linear(y, ldy, x, ldx, w, b, false, T, C, O);
		nn_activate(y, y, act, T * O);
		return;
	}
	scratch<float> close(T * O);
	linear(close.at, O, x, ldx, w, b, false, T, C, O);
	nn_activate(close.at, close.at, act, T * O);
	if (T && O)
		device_check(
		    cudaMemcpy2DAsync(y, ldy * sizeof *y, close.at, O * sizeof *y,
			O * sizeof *y, T, cudaMemcpyDeviceToDevice, device_stream()),
		    "a copy on the device");
}

void
nn_linear_add(float *y, size_t ldy, const float *x, size_t ldx, struct nn_matrix w,
    size_t T, size_t C, size_t O)
{
	linear(y, ldy, x, ldx, w, nullptr, true, T, C, O);
}

void
nn_linear_back(float *dx, bool add, float *dw, float *db, const float *dy, size_t ldy,
    const float *x, size_t ldx, struct nn_matrix w, size_t T, size_t C, size_t O)
{
	struct cublas_gemm p;

	if (in_bf16(w)) {
		if (dx || dw)
			back_in_bf16(dx, add, dw, dy, ldy, x, ldx, w, T, C, O);
	} else {
		if (dx)
			back_dx(dx, add, dy, ldy, w, T, C, O);
		if (dw) {
			p = product_dw(dw, dy, ldy, x, ldx, GEMM_F32, T, C, O);
			cublas_gemm(&p);
		}
	}
	if (db)
		column_sums(db, matrix_element{ dy, ldy }, T, O);
}

void
nn_product_nt(float *c, const float *a, const float *b, size_t M, size_t N, size_t K,
    float alpha, float beta)
{
	product(c, a, false, b, true, M, N, K, alpha, beta);
}

void
nn_product_nn(float *c, const float *a, const float *b, size_t M, size_t N, size_t K,
    float alpha, float beta)
{
	product(c, a, false, b, false, M, N, K, alpha, beta);
}

void
nn_product_tn(float *c, const float *a, const float *b, size_t M, size_t N, size_t K,
    float alpha, float beta)
{
	product(c, a, true, b, false, M, N, K, alpha, beta);
}

double
nn_product_error(size_t K)
{
	/* TF32 has ten mantissa bits of both sides; whether they are rounded or cut is not documented */
	if (gemm_tf32())
		return ((double)K + 4) * 0x1p-22 + 0x1p-8;
	return ((double)K + 4) * 0x1p-24;
}
