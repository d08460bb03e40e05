#include "nn/cuda/bf16.h"
#include "nn/cuda/columns.h"
#include "nn/cuda/row.h"

namespace
{

/* The rows of a norm: row i is head i % heads, of C columns, of token i / heads.  The elements are f32 or bf16: X of the sum, R of what
 * is added, Y of the result. */
template <class X, class R, class Y> struct norm_job {
	Y *y;
	X *s;
	float *stats;
	const X *x;
	const R *r;
	const float *w, *b;
	size_t ldy, ldx, rows, heads, C;
	float eps;
	enum nn_norm kind;
};

/* Where row i begins with a row stride of ld. */
__device__ __forceinline__ size_t
row_at(size_t i, size_t ld, size_t heads, size_t C)
{
	size_t t = heads == 1 ? i : quotient(i, heads);

	return t * ld + (i - t * heads) * C;
}

/* The deviation takes a second pass over the row: E[x^2] - E[x]^2 would lose digits.  WHOLE: all rows may be moved by fours; without a
 * branch between them a thread's loads are all in flight at once. */
template <int W, int K, bool WHOLE, class X, class R, class Y>
__global__ void
__launch_bounds__(W > BLOCK ? W : BLOCK) norm_rows(struct norm_job<X, R, Y> a)
{
	__shared__ float room[WARP];
	size_t i = (size_t)blockIdx.x * (blockDim.x / W) + threadIdx.x / W;
	size_t C = i < a.rows ? a.C : 0;
	size_t from = row_at(i, a.ldx, a.heads, C), to = row_at(i, a.ldy, a.heads, C);
	struct row_kept<K> kept;
	auto read = [&](size_t c) {
		struct four s = row_take(a.x + from, c, C, WHOLE);
		if (a.r) {
			struct four r = row_take(a.r + from, c, C, WHOLE);
			for (int j = 0; j < 4; j++)
				s.at[j] += r.at[j];
		}
		return s;
	};

	float mean = 0, spread = 0, plus = a.kind == NN_RMSNORM_PLUS;
	if (K || a.kind == NN_LAYERNORM) {
		row_each<W, K>(C, [&](int k, size_t c) {
			struct four s = read(c);
			kept.keep(k, s);
			mean += four_sum(s);
		});
		mean = a.kind == NN_LAYERNORM ? row_sum<W>(mean, room) / (float)a.C : 0;
	}
	row_each<W, K>(C, [&](int k, size_t c) {
		struct four s = kept.take(k, [&] { return read(c); });
		for (int j = 0; j < 4; j++) {
			s.at[j] = c + j < C ? s.at[j] - mean : 0;
			s.at[j] *= s.at[j];
		}
		spread += four_sum(s);
	});
	float scale = 1 / sqrtf(row_sum<W>(spread, room) / (float)a.C + a.eps);
	if (a.stats && C && threadIdx.x % W == 0) {
		a.stats[2 * i] = mean;
		a.stats[2 * i + 1] = scale;
	}
	row_each<W, K>(C, [&](int k, size_t c) {
		struct four s = kept.take(k, [&] { return read(c); });
		if (a.s)
			row_put(a.s + from, c, C, WHOLE, s);
		for (int j = 0; j < 4; j++)
			s.at[j] = (s.at[j] - mean) * scale;
		if (a.w) {
			struct four w = row_take(a.w, c, C, WHOLE);
			for (int j = 0; j < 4; j++)
				s.at[j] *= plus + w.at[j];
		}
		if (a.b) {
			struct four b = row_take(a.b, c, C, WHOLE);
			for (int j = 0; j < 4; j++)
				s.at[j] += b.at[j];
		}
		row_put(a.y + to, c, C, WHOLE, s);
	});
}

template <bool WHOLE, class X, class R, class Y>
void
launch_norm(const struct norm_job<X, R, Y> &a)
{
	row_shaped(a.C, [=](auto shape) {
		typedef decltype(shape) S;
		device_launch((norm_rows<S::WIDTH, S::KEPT, WHOLE, X, R, Y>),
		    device_blocks(a.rows, S::ROWS), S::THREADS, 0, a);
	});
}

template <class X, class R, class Y>
void
run_norm(const struct norm_job<X, R, Y> &a)
{
	bool whole = row_whole(a.y, a.ldy, a.C) && row_whole(a.s, 0, a.C) &&
		     row_whole(a.x, a.ldx, a.C) && row_whole(a.r, 0, a.C) &&
		     row_whole(a.w, 0, a.C) && row_whole(a.b, 0, a.C);

	if (whole)
		launch_norm<true>(a);
	else
		launch_norm<false>(a);
}

/* Backward: ds unless NULL, and parts of dw and db, one for each block. */
struct norm_back {
	float *ds, *weights, *biases;
	const float *dy, *s, *stats, *w;
	size_t ldy, lds, rows, heads, C, part_rows;
	enum nn_norm kind;
	bool whole;
};

/* A thread's sums, of its columns over the block's rows. */
template <int K> struct norm_sums {
	struct four weight[K ? K : 1], bias[K ? K : 1];
};

/*
 * One row.  With g = dy w and z = (s - mean) scale: ds = scale (g - mean(g) - z mean(g z)), without mean(g) for RMSNorm.
 */
template <int W, int K>
__device__ __forceinline__ void
norm_row_back(const struct norm_back &a, size_t i, bool here, struct norm_sums<K> &sums,
    float *room)
{
	size_t C = here ? a.C : 0, at = row_at(i, a.ldy, a.heads, C);
	size_t from = row_at(i, a.lds, a.heads, C);
	float mean = here ? a.stats[2 * i] : 0, scale = here ? a.stats[2 * i + 1] : 0;
	float sum = 0, product = 0, plus = a.kind == NN_RMSNORM_PLUS;
	struct row_kept<K> gs, zs;
	auto scaled = [&](size_t c, struct four g) {
		if (a.w) {
			struct four w = row_take(a.w, c, C, a.whole);
			for (int j = 0; j < 4; j++)
				g.at[j] *= w.at[j] + plus;
		}
		return g;
	};
	auto normed = [&](size_t c) {
		struct four z = row_take(a.s + from, c, C, a.whole, mean);
		for (int j = 0; j < 4; j++)
			z.at[j] = (z.at[j] - mean) * scale;
		return z;
	};

	row_each<W, K>(C, [&](int k, size_t c) {
		struct four g = row_take(a.dy + at, c, C, a.whole), z = normed(c), along;
		zs.keep(k, z);
		for (int j = 0; j < 4 && K; j++) {
			sums.weight[k].at[j] += g.at[j] * z.at[j];
			sums.bias[k].at[j] += g.at[j];
		}
		g = scaled(c, g);
		gs.keep(k, g);
		for (int j = 0; j < 4; j++)
			along.at[j] = g.at[j] * z.at[j];
		sum += four_sum(g);
		product += four_sum(along);
	});
	if (!a.ds)
		return;
	sum = a.kind == NN_LAYERNORM ? row_sum<W>(sum, room) / (float)a.C : 0;
	product = row_sum<W>(product, room) / (float)a.C;
	row_each<W, K>(C, [&](int k, size_t c) {
		struct four z = zs.take(k, [&] { return normed(c); });
		struct four g = gs.take(
		    k, [&] { return scaled(c, row_take(a.dy + at, c, C, a.whole)); });
		for (int j = 0; j < 4; j++)
			g.at[j] = scale * (g.at[j] - sum - z.at[j] * product);
		row_put(a.ds + at, c, C, a.whole, g);
	});
}

/* The block's part of a parameter's gradient: the threads' sums of the same columns, in order. */
template <int W, int K>
__device__ __forceinline__ void
put_part(float *parts, struct four *sums, size_t C)
{
	constexpr int ROWS = row_shape<W, K>::ROWS;
	__shared__ struct four room[ROWS][ROWS > 1 ? W : 1];
	int lane = threadIdx.x % W, row = threadIdx.x / W;

	row_each<W, K>(C, [&](int k, size_t c) {
		struct four sum = sums[k];
		if (ROWS > 1) {
			__syncthreads();
			room[row][lane] = sum;
			__syncthreads();
			for (int other = 1; !row && other < ROWS; other++)
				for (int j = 0; j < 4; j++)
					sum.at[j] += room[other][lane].at[j];
		}
		if (!row)
			row_put(parts + blockIdx.x * C, c, C, false, sum);
	});
}

template <int W, int K>
__global__ void
__launch_bounds__(W > BLOCK ? W : BLOCK) norm_rows_back(struct norm_back a)
{
	__shared__ float room[WARP];
	size_t from = blockIdx.x * a.part_rows,
	       to = a.rows - from < a.part_rows ? a.rows : from + a.part_rows;
	struct norm_sums<K> sums = {
	};

	/* all threads of a block stay together: rows that do not exist have no columns */
	for (size_t first = from; first < to; first += blockDim.x / W) {
		size_t i = first + threadIdx.x / W;
		norm_row_back<W, K>(a, i, i < to, sums, room);
	}
	if constexpr (K > 0) {
		if (a.weights)
			put_part<W, K>(a.weights, sums.weight, a.C);
		if (a.biases)
			put_part<W, K>(a.biases, sums.bias, a.C);
	}
}

/* The terms of dw and db, for rows that are too long for registers. */
struct weight_gradient {
	struct norm_back a;

	__device__ float
	operator()(size_t i, size_t c) const
	{
		float s = a.s[row_at(i, a.lds, a.heads, a.C) + c];

		return a.dy[row_at(i, a.ldy, a.heads, a.C) + c] *
		       ((s - a.stats[2 * i]) * a.stats[2 * i + 1]);
	}
};

struct bias_gradient {
	struct norm_back a;

	__device__ float
	operator()(size_t i, size_t c) const
	{
		return a.dy[row_at(i, a.ldy, a.heads, a.C) + c];
	}
};

template <class S>
void
back_in_shape(struct norm_back a, float *dw, float *db)
{
	bool parts = S::KEPT && (dw || db);

	a.part_rows = parts ? column_part_rows(a.rows, S::ROWS) : S::ROWS;
	unsigned blocks = device_blocks(a.rows, a.part_rows);
	scratch<float> weights(parts && dw ? blocks * a.C : 0);
	scratch<float> biases(parts && db ? blocks * a.C : 0);
	a.weights = weights.at;
	a.biases = biases.at;
	if (!S::KEPT && dw)
		column_sums(dw, weight_gradient{ a }, a.rows, a.C);
	if (!S::KEPT && db)
		column_sums(db, bias_gradient{ a }, a.rows, a.C);
	if (a.ds || parts)
		device_launch(
		    norm_rows_back<S::WIDTH, S::KEPT>, blocks, S::THREADS, 0, a);
	if (a.weights)
		column_add(dw, a.weights, blocks, a.C);
	if (a.biases)
		column_add(db, a.biases, blocks, a.C);
}

void
run_norm_back(struct norm_back a, float *dw, float *db)
{
	if (!a.rows || !a.C)
		return;
	a.whole = row_whole(a.ds, a.ldy, a.C) && row_whole(a.dy, a.ldy, a.C) &&
		  row_whole(a.s, a.lds, a.C) && row_whole(a.w, 0, a.C);
	row_shaped(a.C, [=](auto shape) { back_in_shape<decltype(shape)>(a, dw, db); });
}

/* y = x / length, or dx = (dy - y (y . dy)) / length: x[n,C] and z[n,C] are x and x, or dy and y. */
struct normalizing {
	float *y, *lengths;
	const float *x, *z, *given;
	size_t rows, C;
	bool whole;
};

template <int W, int K>
__global__ void
__launch_bounds__(W > BLOCK ? W : BLOCK) normalize_rows(struct normalizing a)
{
	__shared__ float room[WARP];
	size_t i = (size_t)blockIdx.x * (blockDim.x / W) + threadIdx.x / W;
	size_t C = i < a.rows ? a.C : 0, at = i * C;
	struct row_kept<K> xs, zs;
	float along = 0;
	auto read = [&](const float *from, size_t c) {
		return row_take(from + at, c, C, a.whole);
	};

	row_each<W, K>(C, [&](int k, size_t c) {
		struct four x = read(a.x, c), z = a.z ? read(a.z, c) : x, product;
		xs.keep(k, x);
		zs.keep(k, z);
		for (int j = 0; j < 4; j++)
			product.at[j] = x.at[j] * z.at[j];
		along += four_sum(product);
	});
	along = row_sum<W>(along, room);
	float length = a.z ? C ? a.given[i] : 1 : sqrtf(along);
	if (!a.z && length < 1e-12f)
		length = 1e-12f;
	if (!a.z && a.lengths && C && threadIdx.x % W == 0)
		a.lengths[i] = length;
	row_each<W, K>(C, [&](int k, size_t c) {
		struct four x = xs.take(k, [&] { return read(a.x, c); });
		if (a.z) {
			struct four z = zs.take(k, [&] { return read(a.z, c); });
			for (int j = 0; j < 4; j++)
				x.at[j] -= z.at[j] * along;
		}
		for (int j = 0; j < 4; j++)
			x.at[j] /= length;
		row_put(a.y + at, c, C, a.whole, x);
	});
}

void
run_normalize(struct normalizing a)
{
	a.whole =
	    row_whole(a.y, 0, a.C) && row_whole(a.x, 0, a.C) && row_whole(a.z, 0, a.C);
	row_shaped(a.C, [=](auto shape) {
		typedef decltype(shape) S;
		device_launch(normalize_rows<S::WIDTH, S::KEPT>,
		    device_blocks(a.rows, S::ROWS), S::THREADS, 0, a);
	});
}
} // namespace

void
nn_norm(float *y, float *s, float *stats, const float *x, const float *r, const float *w,
    const float *b, float eps, enum nn_norm kind, size_t T, size_t C)
{
	run_norm(norm_job<float, float, float>{
	    y, s, stats, x, r, w, b, C, C, T, 1, C, eps, kind });
}

void
nn_norm_heads(float *y, size_t ldy, float *stats, const float *x, size_t ldx,
    const float *w, const float *b, float eps, enum nn_norm kind, size_t T, size_t heads,
    size_t D)
{
	run_norm(norm_job<float, float, float>{
	    y, NULL, stats, x, NULL, w, b, ldy, ldx, T * heads, heads, D, eps, kind });
}

void
nn_norm_back(float *ds, float *dw, float *db, const float *dy, const float *s,
    const float *stats, const float *w, enum nn_norm kind, size_t T, size_t C)
{
	run_norm_back(
	    { ds, NULL, NULL, dy, s, stats, w, C, C, T, 1, C, 0, kind, false }, dw, db);
}

void
nn_norm_heads_back(float *dx, float *dw, float *db, const float *dy, size_t ldy,
    const float *x, size_t ldx, const float *stats, const float *w, enum nn_norm kind,
    size_t T, size_t heads, size_t D)
{
	run_norm_back({ dx, NULL, NULL, dy, x, stats, w, ldy, ldx, T * heads, heads, D, 0,
			  kind, false },
	    dw, db);
}

void
nn_normalize(float *y, float *lengths, const float *x, size_t N, size_t C)
{
	run_normalize({ y, lengths, x, NULL, NULL, N, C, false });
}

void
nn_normalize_back(
    float *dx, const float *dy, const float *y, const float *lengths, size_t N, size_t C)
{
	run_normalize({ dx, NULL, dy, y, lengths, N, C, false });
}

void
bf16_norm(__nv_bfloat16 *y, const __nv_bfloat16 *x, const __nv_bfloat16 *r, size_t ld,
    const float *w, const float *b, float eps, enum nn_norm kind, size_t T, size_t C)
{
	run_norm(norm_job<__nv_bfloat16, __nv_bfloat16, __nv_bfloat16>{
	    y, NULL, NULL, x, r, w, b, ld, ld, T, 1, C, eps, kind });
}

void
bf16_norm_sum(__nv_bfloat16 *y, float *x, const __nv_bfloat16 *r, const float *w,
    const float *b, float eps, enum nn_norm kind, size_t T, size_t C)
{
	run_norm(norm_job<float, __nv_bfloat16, __nv_bfloat16>{
	    y, r ? x : NULL, NULL, x, r, w, b, C, C, T, 1, C, eps, kind });
}
