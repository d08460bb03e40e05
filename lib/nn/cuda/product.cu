#include "nn/cuda/multiply.h"

namespace
{

/* Linear layers of f32 whose products are to be of bf16. */
bool
in_halves(struct nn_matrix w)
{
	return w.bf16 && w.dtype == DTYPE_F32;
}

/* Rows of C elements that are made at once. */
size_t
rows_at_once(size_t C)
{
	return C < MULTIPLY_PIECE ? MULTIPLY_PIECE / (C ? C : 1) : 1;
}

size_t
least(size_t x, size_t y)
{
	return x < y ? x : y;
}

/* Rows of a matrix of weights as a product takes them: where they lie, or made in memory of its own. */
struct weights {
	const void *at;
	size_t ld, rows; /* rows: at once */
	enum multiply_kind kind;
	struct nn_matrix from;
	size_t C;
	scratch<float> floats;
	scratch<__nv_bfloat16> halves;

	weights(struct nn_matrix w, size_t O, size_t columns)
	    : ld(columns), rows(O ? O : 1), kind(MULTIPLY_FLOATS), from(w), C(columns),
	      floats(
		  w.packed || w.dtype == DTYPE_F32 ? 0 : least(rows_at_once(C), O) * C),
	      halves(in_halves(w) ? least(rows_at_once(C), O) * halves_in_row(C) : 0)
	{
		if (in_halves(w) || (w.packed && w.dtype == DTYPE_BF16)) {
			kind = MULTIPLY_HALVES;
			ld = halves_in_row(C);
		}
		if (floats.at || halves.at)
			rows = rows_at_once(C);
	}

	/* Those from row o on. */
	void
	take(size_t o, size_t count)
	{
		const char *stored = (const char *)from.at;

		if (floats.at) {
			floats_of(floats.at, from, C, o, count);
			at = floats.at;
		} else if (halves.at) {
			halves_of(halves.at, (const float *)from.at + o * C, C, count, C);
			at = halves.at;
		} else
			at = stored +
			     o * ld * (kind == MULTIPLY_HALVES ? 2 : sizeof(float));
	}
};

/* y[T,some] = x w^T + beta y + bias, with the weights that were taken. */
void
forward(float *y, size_t ldy, const float *x, size_t ldx, const struct weights &w,
    const float *bias, float beta, size_t T, size_t some)
{
	struct multiply p = {};

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
	p.b_transposed = p.alone = true;
	p.alpha = 1;
	p.beta = beta;
	if (w.kind == MULTIPLY_FLOATS)
		return multiply(&p);
	/* zeros fill up the rows of both */
	size_t rows = rows_at_once(w.C);
	scratch<__nv_bfloat16> halves(least(rows, T) * w.ld);
	p.a = halves.at;
	p.lda = p.K = w.ld;
	for (size_t t = 0; t < T; t += rows) {
		p.M = least(rows, T - t);
		p.c = y + t * ldy;
		halves_of(halves.at, x + t * ldx, ldx, p.M, w.C);
		multiply(&p);
	}
}

void
linear(float *y, size_t ldy, const float *x, size_t ldx, struct nn_matrix w,
    const float *bias, bool add, size_t T, size_t C, size_t O)
{
	if (!T || !O)
		return;
	if (w.packed && w.dtype == DTYPE_I8) {
		multiply_packed_bytes(y, ldy, x, ldx, w, bias, add, T, C, O);
		return;
	}
	struct weights weights(w, O, C);
	for (size_t o = 0; o < O; o += weights.rows) {
		size_t some = least(weights.rows, O - o);
		weights.take(o, some);
		forward(
		    y + o, ldy, x, ldx, weights, bias ? bias + o : nullptr, add, T, some);
	}
}

/* Backward. ------------------------------------------------------------------------ */

/* dx[T,C] (+)= dy[T,some] w, of the weights that were taken. */
struct multiply
product_dx(float *dx, bool add, const void *dy, size_t ldy, const struct weights &w,
    size_t T, size_t some)
{
	struct multiply p = {};

	p.c = dx;
	p.a = dy;
	p.b = w.at;
	p.ldc = p.N = w.C;
	p.lda = ldy;
	p.ldb = w.ld;
	p.M = T;
	p.K = some;
	p.kind = w.kind;
	p.alone = true;
	p.alpha = 1;
	p.beta = add;
	return p;
}

/* dw[O,C] += dy[T,O]^T x[T,C] */
struct multiply
product_dw(float *dw, const void *dy, size_t ldy, const void *x, size_t ldx,
    enum multiply_kind kind, size_t T, size_t C, size_t O)
{
	struct multiply p = {};

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
	struct weights weights(w, O, C);
	struct multiply p;

	/* of no outputs zeros */
	for (size_t o = 0; o < O || !o; o += weights.rows) {
		size_t some = least(weights.rows, O - o);
		weights.take(o, some);
		p = product_dx(dx, add || o, dy + o, ldy, weights, T, some);
		multiply(&p);
	}
}

/* Both of bf16, the rows of dy and x a part of them at a time, the weights, too. */
void
back_in_halves(float *dx, bool add, float *dw, const float *dy, size_t ldy,
    const float *x, size_t ldx, struct nn_matrix w, size_t T, size_t C, size_t O)
{
	struct weights weights(w, O, C);
	size_t wide = halves_in_row(least(weights.rows, O)), narrow = halves_in_row(C);
	size_t rows = rows_at_once(wide < narrow ? narrow : wide);
	scratch<__nv_bfloat16> dy_halves(least(rows, T) * wide),
	    x_halves(dw ? least(rows, T) * narrow : 0);
	struct multiply p;

	for (size_t o = 0; o < O || !o; o += weights.rows) {
		size_t some = least(weights.rows, O - o), ld = halves_in_row(some);
		if (dx)
			weights.take(o, some);
		for (size_t t = 0; t < T; t += rows) {
			size_t high = least(rows, T - t);
			halves_of(dy_halves.at, dy + t * ldy + o, ldy, high, some);
			if (dx) {
				p = product_dx(dx + t * C, add || o, dy_halves.at, ld,
				    weights, high, some);
				multiply(&p);
			}
			if (dw) {
				halves_of(x_halves.at, x + t * ldx, ldx, high, C);
				p = product_dw(dw + o * C, dy_halves.at, ld, x_halves.at,
				    narrow, MULTIPLY_HALVES, high, C, some);
				multiply(&p);
			}
		}
	}
}

/* Rows that a block sums; fixed, so that the order does not depend on the device. */
constexpr int HIGH = 256, THREADS_DOWN = 8;

/* parts[i,o]: the sum of column o in stretch i of the rows; a block has WARP columns, of `across` blocks beside each other. */
__global__ void
column_parts(
    float *parts, const float *dy, size_t ldy, unsigned across, size_t T, size_t O)
{
	__shared__ float room[THREADS_DOWN][WARP];
	size_t i = blockIdx.x / across;
	size_t o = (size_t)(blockIdx.x % across) * WARP + threadIdx.x;
	size_t end = T - i * HIGH < HIGH ? T : (i + 1) * HIGH;
	float sum = 0;

	for (size_t t = i * HIGH + threadIdx.y; o < O && t < end; t += THREADS_DOWN)
		sum += dy[t * ldy + o];
	room[threadIdx.y][threadIdx.x] = sum;
	__syncthreads();
	if (threadIdx.y || o >= O)
		return;
	for (int j = 1; j < THREADS_DOWN; j++)
		sum += room[j][threadIdx.x];
	parts[i * O + o] = sum;
}

__global__ void
add_parts(float *db, const float *parts, size_t stretches, size_t O)
{
	for (size_t o = grid_thread(); o < O; o += grid_threads()) {
		float sum = 0;
		for (size_t i = 0; i < stretches; i++)
			sum += parts[i * O + o];
		db[o] += sum;
	}
}

void
column_sums(float *db, const float *dy, size_t ldy, size_t T, size_t O)
{
	size_t stretches = (T + HIGH - 1) / HIGH;
	unsigned across = device_blocks(O, WARP);
	scratch<float> parts(stretches * O);

	if (!T || !O)
		return;
	device_launch(column_parts, (unsigned)(across * stretches),
	    dim3(WARP, THREADS_DOWN), 0, parts.at, dy, ldy, across, T, O);
	device_launch(add_parts, device_spread(O), BLOCK, 0, db, parts.at, stretches, O);
}

/* Products of matrices whose rows lie close. */
void
product(float *c, const float *a, bool a_transposed, const float *b, bool b_transposed, size_t M,
    size_t N, size_t K, float alpha, float beta)
{
	struct multiply p = {};

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
	multiply(&p);
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
	/* none of cuBLASLt's own: its GELU is the other form, and what its ReLU makes of NaN it does not say */
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
	struct multiply p;

	if (in_halves(w)) {
		if (dx || dw)
			back_in_halves(dx, add, dw, dy, ldy, x, ldx, w, T, C, O);
	} else {
		if (dx)
			back_dx(dx, add, dy, ldy, w, T, C, O);
		if (dw) {
			p = product_dw(dw, dy, ldy, x, ldx, MULTIPLY_FLOATS, T, C, O);
			multiply(&p);
		}
	}
	if (db)
		column_sums(db, dy, ldy, T, O);
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
	/* TF32 keeps ten bits behind the first one, of both sides; whether they are rounded or cut, and sums too, nobody says */
	if (multiply_tf32())
		return ((double)K + 4) * 0x1p-22 + 0x1p-8;
	return ((double)K + 4) * 0x1p-24;
}
