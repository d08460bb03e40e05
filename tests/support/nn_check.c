/*
 * nn_check NAME... - compare the layers of nn.h with plain loops in double precision
 *
 * Each forward is compared with the loop here that defines it, each backward with central differences of that loop.  Without
 * a name: all checks.  Prints one line for each comparison that fails.
 */
#include "nn_check.h"

/* Linear. -------------------------------------------------------------------------- */

struct linear {
	size_t T, C, O;
};

static void
linear(double *y, struct array *const *in, const void *sizes)
{
	const struct linear *s = sizes;

	for (size_t t = 0; t < s->T; t++)
		for (size_t o = 0; o < s->O; o++) {
			double sum = in[2] ? in[2]->ref[o] : 0;
			for (size_t c = 0; c < s->C; c++)
				sum +=
				    in[0]->ref[t * s->C + c] * in[1]->ref[o * s->C + c];
			y[t * s->O + o] = sum;
		}
}

static void
check_linear(void)
{
	static const struct linear sizes[] = { { 1, 1, 1 }, { 7, 5, 3 }, { 33, 17, 70 },
		{ 300, 64, 90 } };

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		size_t T = sizes[i].T, C = sizes[i].C, O = sizes[i].O;
		struct array *x = array_random(T * C, 1), *w = array_random(O * C, 0.2);
		struct array *b = array_random(O, 1), *y = array_new(T * O);
		struct operation o = { linear, &sizes[i], { x, w, b },
			array_random(T * O, 1) };
		linear(y->ref, o.in, &sizes[i]);
		nn_linear(y->at, O, x->at, C, f32(w), b->at, T, C, O);
		expect("linear", y->at, y->ref, T * O, 1e-5);
		if (T > 40)
			continue;
		struct array *dx = array_of(T * C, 1), *dw = array_of(O * C, 1);
		struct array *db = array_of(O, 1);
		nn_linear_back(dx->at, false, dw->at, db->at, o.dy->at, O, x->at, C,
		    f32(w), T, C, O);
		expect_gradient("linear dx", dx->at, &o, 0, 0);
		expect_gradient("linear dw", dw->at, &o, 1, 1);
		expect_gradient("linear db", db->at, &o, 2, 1);
		o.in[2] = NULL;
		linear(y->ref, o.in, &sizes[i]);
		nn_linear(y->at, O, x->at, C, f32(w), NULL, T, C, O);
		expect("linear without bias", y->at, y->ref, T * O, 1e-5);
	}
}

/* Weights in half precision give the same bits as the same values in float32. */
static void
half_case(size_t T, size_t C, size_t O, enum dtype dtype)
{
	/* rows of a fused tensor may start at any element */
	size_t n = O * C, offset = 3;
	struct array *x = array_random(T * C, 1), *w = array_random(n, 0.2);
	struct array *b = array_random(O, 1), *y = array_new(T * O);
	struct array *half = array_new(n + offset), *half_y = array_new(T * O);
	struct array *dy = array_random(T * O, 1), *dx = array_new(T * C);
	struct array *half_dx = array_new(T * C);
	uint16_t *host = mem_new(n + offset, sizeof *host);
	float *wide = mem_new(n, sizeof *wide);

	nn_download(wide, w->at, n * sizeof *wide);
	tensor_from_f32(host + offset, dtype, wide, n);
	tensor_to_f32(wide, host + offset, dtype, n);
	nn_upload(w->at, wide, n * sizeof *wide);
	nn_upload(half->at, host, (n + offset) * sizeof *host);
	free(host);
	free(wide);
	struct nn_matrix matrix = {
		.at = (const uint16_t *)(const void *)half->at + offset, .dtype = dtype
	};
	nn_linear(y->at, O, x->at, C, f32(w), b->at, T, C, O);
	nn_linear(half_y->at, O, x->at, C, matrix, b->at, T, C, O);
	expect_same("linear of half precision", half_y, y);
	nn_linear_activate(y->at, O, x->at, C, f32(w), NULL, NN_SILU, T, C, O);
	nn_linear_activate(half_y->at, O, x->at, C, matrix, NULL, NN_SILU, T, C, O);
	expect_same("linear and SiLU of half precision", half_y, y);
	nn_linear_back(dx->at, false, NULL, NULL, dy->at, O, NULL, C, f32(w), T, C, O);
	nn_linear_back(
	    half_dx->at, false, NULL, NULL, dy->at, O, NULL, C, matrix, T, C, O);
	expect_same("linear dx of half precision", half_dx, dx);
}

static void
check_half_precision(void)
{
	static const size_t rows[] = { 1, 2, 5, 8, 12, 13, 60 };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (int type = 0; type < 2; type++) {
			enum dtype dtype = type ? DTYPE_F16 : DTYPE_BF16;
			half_case(rows[i], 33, 1, dtype);
			half_case(rows[i], 64, 96, dtype);
			half_case(rows[i], 419, 77, dtype);
		}
}

static void
check_product(void)
{
	size_t M = 9, N = 13, K = 21;
	struct array *a = array_random(M * K, 1), *b = array_random(N * K, 1);
	struct array *c = array_random(M * N, 1), *y = array_new(M * N);

	for (int kind = 0; kind < 3; kind++) {
		for (size_t m = 0; m < M; m++)
			for (size_t n = 0; n < N; n++) {
				double sum = 0;
				for (size_t k = 0; k < K; k++)
					sum += a->ref[kind == 2 ? k * M + m : m * K + k] *
					       b->ref[kind == 0 ? n * K + k : k * N + n];
				y->ref[m * N + n] = 0.5 * sum + 2 * c->ref[m * N + n];
			}
		nn_copy(y->at, c->at, M * N);
		if (kind == 0)
			nn_product_nt(y->at, a->at, b->at, M, N, K, 0.5f, 2);
		else if (kind == 1)
			nn_product_nn(y->at, a->at, b->at, M, N, K, 0.5f, 2);
		else
			nn_product_tn(y->at, a->at, b->at, M, N, K, 0.5f, 2);
		expect("product", y->at, y->ref, M * N, 1e-5);
	}
}

/* Norms. --------------------------------------------------------------------------- */

struct norm {
	size_t T, C;
	enum nn_norm kind;
	double eps;
};

static void
norm(double *y, struct array *const *in, const void *sizes)
{
	const struct norm *s = sizes;

	for (size_t t = 0; t < s->T; t++) {
		const double *x = in[0]->ref + t * s->C;
		double mean = 0, square = 0;
		for (size_t c = 0; c < s->C && s->kind == NN_LAYERNORM; c++)
			mean += x[c] / (double)s->C;
		for (size_t c = 0; c < s->C; c++)
			square += (x[c] - mean) * (x[c] - mean) / (double)s->C;
		for (size_t c = 0; c < s->C; c++)
			y[t * s->C + c] =
			    (x[c] - mean) / sqrt(square + s->eps) *
				(in[1] ? (s->kind == NN_RMSNORM_PLUS) + in[1]->ref[c]
				       : 1) +
			    (in[2] ? in[2]->ref[c] : 0);
	}
}

static void
norm_case(const struct norm *s, bool weight, bool bias)
{
	size_t n = s->T * s->C;
	struct array *x = array_random(n, 1), *r = array_random(n, 1), *y = array_new(n);
	struct array *w = weight ? array_random(s->C, 1) : NULL;
	struct array *b = bias ? array_random(s->C, 1) : NULL;
	struct array *sum = array_new(n), *stats = array_new(2 * s->T);
	struct operation o = { norm, s, { sum, w, b }, array_random(n, 1) };
	float *wat = w ? w->at : NULL, *bat = b ? b->at : NULL;

	for (size_t i = 0; i < n; i++)
		sum->ref[i] = x->ref[i] + r->ref[i];
	norm(y->ref, o.in, s);
	nn_norm(y->at, NULL, NULL, x->at, r->at, wat, bat, (float)s->eps, s->kind, s->T,
	    s->C);
	expect("norm", y->at, y->ref, n, 1e-5);
	nn_norm(x->at, sum->at, stats->at, x->at, r->at, wat, bat, (float)s->eps, s->kind,
	    s->T, s->C);
	expect("norm in place", x->at, y->ref, n, 1e-5);
	expect("norm's sum", sum->at, sum->ref, n, 1e-6);
	struct array *ds = array_random(n, 1), *dw = array_of(s->C, 1),
		     *db = array_of(s->C, 1);
	nn_copy(ds->at, o.dy->at, n);
	nn_norm_back(ds->at, w ? dw->at : NULL, b ? db->at : NULL, ds->at, sum->at,
	    stats->at, wat, s->kind, s->T, s->C);
	expect_gradient("norm ds", ds->at, &o, 0, 0);
	if (w)
		expect_gradient("norm dw", dw->at, &o, 1, 1);
	if (b)
		expect_gradient("norm db", db->at, &o, 2, 1);
}

static void
check_norm(void)
{
	for (int kind = 0; kind < 3; kind++) {
		norm_case(&(struct norm){ 5, 19, (enum nn_norm)kind, 1e-5 }, true, true);
		norm_case(
		    &(struct norm){ 3, 130, (enum nn_norm)kind, 1e-12 }, true, false);
		norm_case(&(struct norm){ 2, 768, (enum nn_norm)kind, 1e-5 }, true, true);
		norm_case(&(struct norm){ 4, 2, (enum nn_norm)kind, 1e-2 }, false, false);
	}
	/* a mean much larger than the deviation: computed in one pass the variance would err by 0.03; the rounding of
	 * the mean, in any order of the sum, changes it by less than 0.001 */
	struct array *x = array_random(256, 1), *y = array_new(256);
	for (size_t i = 0; i < 256; i++)
		x->ref[i] = 1000 + x->ref[i];
	array_upload(x);
	struct array *in[3] = { x };
	norm(y->ref, in, &(struct norm){ 1, 256, NN_LAYERNORM, 1e-5 });
	nn_norm(y->at, NULL, NULL, x->at, NULL, NULL, NULL, 1e-5f, NN_LAYERNORM, 1, 256);
	expect("norm of a large mean", y->at, y->ref, 256, 2e-3);
}

/* in: x [T, ld], w [D]; y [T, ld] with 0 outside of heads */
struct heads {
	size_t T, heads, D, ld;
	enum nn_norm kind;
};

static void
norm_heads(double *y, struct array *const *in, const void *sizes)
{
	const struct heads *s = sizes;

	memset(y, 0, s->T * s->ld * sizeof *y);
	for (size_t t = 0; t < s->T; t++)
		for (size_t h = 0; h < s->heads; h++) {
			const double *x = in[0]->ref + t * s->ld + h * s->D;
			double mean = 0, square = 1e-6;
			for (size_t d = 0; d < s->D && s->kind == NN_LAYERNORM; d++)
				mean += x[d] / (double)s->D;
			for (size_t d = 0; d < s->D; d++)
				square += (x[d] - mean) * (x[d] - mean) / (double)s->D;
			for (size_t d = 0; d < s->D; d++)
				y[t * s->ld + h * s->D + d] =
				    (x[d] - mean) / sqrt(square) *
					((s->kind == NN_RMSNORM_PLUS) + in[1]->ref[d]) +
				    in[2]->ref[d];
		}
}

static void
heads_case(const struct heads *s)
{
	size_t n = s->T * s->ld;
	bool biased = s->kind == NN_LAYERNORM;
	struct array *x = array_random(n, 1), *w = array_random(s->D, 1);
	struct array *b = biased ? array_random(s->D, 1) : array_of(s->D, 0);
	struct array *y = array_of(n, 0), *stats = array_new(2 * s->T * s->heads);
	struct operation o = { norm_heads, s, { x, w, b }, array_random(n, 1) };
	struct array *dx = array_random(n, 1), *dw = array_of(s->D, 1);
	struct array *db = array_of(s->D, 1);
	const float *bias = biased ? b->at : NULL;

	norm_heads(y->ref, o.in, s);
	nn_norm_heads(y->at, s->ld, stats->at, x->at, s->ld, w->at, bias, 1e-6f, s->kind,
	    s->T, s->heads, s->D);
	expect("norm of heads", y->at, y->ref, n, 1e-5);
	/* values outside of heads must stay, so in place and packed have different expected values */
	nn_copy(dx->at, x->at, n);
	nn_norm_heads(dx->at, s->ld, NULL, dx->at, s->ld, w->at, bias, 1e-6f, s->kind,
	    s->T, s->heads, s->D);
	for (size_t i = 0; i < n; i++)
		dx->ref[i] = i % s->ld < s->heads * s->D ? y->ref[i] : x->ref[i];
	expect("norm of heads in place", dx->at, dx->ref, n, 1e-5);
	for (size_t i = 0; i < n; i++)
		o.dy->ref[i] *= i % s->ld < s->heads * s->D ? 1 : 0;
	array_upload(o.dy);
	nn_copy(dx->at, o.dy->at, n);
	nn_norm_heads_back(dx->at, dw->at, biased ? db->at : NULL, dx->at, s->ld, x->at,
	    s->ld, stats->at, w->at, s->kind, s->T, s->heads, s->D);
	expect_gradient("norm of heads dx", dx->at, &o, 0, 0);
	expect_gradient("norm of heads dw", dw->at, &o, 1, 1);
	if (biased)
		expect_gradient("norm of heads db", db->at, &o, 2, 1);
}

static void
check_norm_heads(void)
{
	for (int kind = NN_LAYERNORM; kind <= NN_RMSNORM_PLUS; kind++) {
		heads_case(&(struct heads){ 5, 3, 16, 70, (enum nn_norm)kind });
		heads_case(&(struct heads){ 7, 1, 150, 153, (enum nn_norm)kind });
		heads_case(&(struct heads){ 4, 2, 5, 10, (enum nn_norm)kind });
	}
	/* rows of one stride into rows of another */
	struct array *x = array_random(6 * 20, 1), *w = array_random(4, 1);
	struct array *y = array_new(6 * 20), *packed = array_new(6 * 8);
	struct array *in[3] = { x, w, array_of(4, 0) };
	norm_heads(y->ref, in, &(struct heads){ 6, 2, 4, 20, NN_RMSNORM });
	nn_norm_heads(
	    packed->at, 8, NULL, x->at, 20, w->at, NULL, 1e-6f, NN_RMSNORM, 6, 2, 4);
	for (size_t i = 0; i < 48; i++)
		packed->ref[i] = y->ref[i / 8 * 20 + i % 8];
	expect("norm of heads, packed", packed->at, packed->ref, 48, 1e-5);
}

/* All values as one row: y = x / max(|x|, 1e-12). */
static void
normalize(double *y, struct array *const *in, const void *sizes)
{
	const size_t *s = sizes;

	for (size_t i = 0; i < s[0]; i++) {
		double square = 0;
		for (size_t c = 0; c < s[1]; c++)
			square += in[0]->ref[i * s[1] + c] * in[0]->ref[i * s[1] + c];
		double length = sqrt(square) < 1e-12 ? 1e-12 : sqrt(square);
		for (size_t c = 0; c < s[1]; c++)
			y[i * s[1] + c] = in[0]->ref[i * s[1] + c] / length;
	}
}

static void
normalize_case(size_t N, size_t C)
{
	size_t sizes[2] = { N, C }, n = N * C;
	struct array *x = array_random(n, 3), *y = array_new(n),
		     *lengths = array_new(sizes[0]);
	struct operation o = { normalize, sizes, { x }, array_random(n, 1) };

	normalize(y->ref, o.in, sizes);
	nn_normalize(y->at, lengths->at, x->at, sizes[0], sizes[1]);
	expect("normalize", y->at, y->ref, n, 1e-6);
	struct array *dx = array_new(n);
	nn_normalize_back(dx->at, o.dy->at, y->at, lengths->at, sizes[0], sizes[1]);
	expect_gradient("normalize dx", dx->at, &o, 0, 0);
}

static void
check_normalize(void)
{
	normalize_case(6, 37);
	normalize_case(2, 768);
	struct array *zero = array_new(5);
	nn_normalize(zero->at, NULL, zero->at, 1, 5);
	expect("normalize nothing", zero->at, zero->ref, 5, 0);
}

/* Activations. --------------------------------------------------------------------- */

static double
act(double x, enum nn_act kind)
{
	switch (kind) {
	case NN_GELU: return 0.5 * x * erfc(-x / sqrt(2));
	case NN_GELU_TANH:
		return 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
	case NN_SILU: return x / (1 + exp(-x));
	case NN_SIGMOID: return 1 / (1 + exp(-x));
	case NN_TANH: return tanh(x);
	case NN_RELU: return x > 0 ? x : 0;
	case NN_TANH_INT8: return rint(127 * tanh(x));
	}
	return x;
}

static void
activate(double *y, struct array *const *in, const void *sizes)
{
	for (size_t i = 0; i < in[0]->n; i++)
		y[i] = act(in[0]->ref[i], *(const enum nn_act *)sizes);
}

/* in: up, gate */
static void
gate(double *y, struct array *const *in, const void *sizes)
{
	for (size_t i = 0; i < in[0]->n; i++)
		y[i] = in[0]->ref[i] * act(in[1]->ref[i], *(const enum nn_act *)sizes);
}

static void
check_activate(void)
{
	for (int i = 0; i <= NN_RELU; i++) {
		enum nn_act kind = (enum nn_act)i;
		size_t n = 20001;
		struct array *x = array_random(n, 4), *y = array_new(n),
			     *dy = array_of(n, 1);
		x->ref[0] = 100;
		x->ref[1] = -100;
		array_upload(x);
		activate(y->ref, &x, &kind);
		nn_activate(y->at, x->at, kind, n);
		expect("activation", y->at, y->ref, n, 3e-7);
		/* elementwise, so one evaluation gives all differences */
		for (size_t j = 0; j < n; j++)
			y->ref[j] =
			    (act(x->ref[j] + 1e-5, kind) - act(x->ref[j] - 1e-5, kind)) /
			    2e-5;
		nn_activate_back(dy->at, dy->at, x->at, kind, n);
		expect("activation's gradient", dy->at, y->ref, n, 1e-6);
		struct array *up = array_random(60, 1), *dup = array_new(60),
			     *dgate = array_new(60);
		struct array *in = array_random(60, 2), *out = array_new(60);
		struct operation o = { gate, &kind, { up, in }, array_random(60, 1) };
		gate(out->ref, o.in, &kind);
		nn_glu(out->at, up->at, in->at, 12, kind, 5, 12);
		expect("gate", out->at, out->ref, 60, 1e-6);
		nn_glu_back(
		    dup->at, dgate->at, o.dy->at, up->at, in->at, 12, kind, 5, 12);
		expect_gradient("gate dup", dup->at, &o, 0, 0);
		expect_gradient("gate dgate", dgate->at, &o, 1, 0);
	}
}

/* Values just below and above each integer's ends. */
static void
check_int8(void)
{
	enum { ENDS = 2 * 253 };
	const enum nn_act tanh_int8 = NN_TANH_INT8;
	struct array *x = array_new(ENDS), *y = array_new(ENDS), *dx = array_of(ENDS, 1),
		     *expected = array_of(ENDS, 1);

	for (int i = 0; i < ENDS; i++)
		x->ref[i] = atanh((i / 2 - 126 + (i % 2 ? 0.49 : -0.49)) / 127);
	array_upload(x);
	activate(y->ref, &x, &tanh_int8);
	nn_activate(y->at, x->at, tanh_int8, ENDS);
	expect("tanh as int8", y->at, y->ref, ENDS, 0);
	nn_activate_back(dx->at, dx->at, x->at, tanh_int8, ENDS);
	nn_activate_back(expected->at, expected->at, x->at, NN_TANH, ENDS);
	expect_same("its gradient", dx, expected);
}

/* Attention. ----------------------------------------------------------------------- */

struct attention {
	const int32_t *starts;
	size_t N, H, K, D, window;
	bool causal;
	double scale; /* 0: 1 / sqrt(D) */
	size_t longest;
	const int32_t *attended; /* nn_sequences */
};

/* The bucket of a distance between query and key, in random order. */
enum { BUCKETS = 5 };

static int32_t
bucket_at(size_t x)
{
	return (int32_t)((7 * x + x / 3) % BUCKETS);
}

/* in: q, k, v, and a table of biases or NULL */
static void
attention(double *y, struct array *const *in, const void *sizes)
{
	const struct attention *s = sizes;
	const double *q = in[0]->ref, *k = in[1]->ref, *v = in[2]->ref;
	double *p = mem_new((size_t)s->starts[s->N], sizeof *p);
	double scale = s->scale != 0 ? s->scale : 1 / sqrt((double)s->D);

	for (size_t n = 0; n < s->N; n++)
		for (int64_t i = s->starts[n]; i < s->starts[n + 1]; i++)
			for (size_t h = 0; h < s->H; h++) {
				const double *a = q + ((size_t)i * s->H + h) * s->D;
				double sum = 0, *out = y + ((size_t)i * s->H + h) * s->D;
				memset(out, 0, s->D * sizeof *out);
				for (int64_t j = s->starts[n]; j < s->starts[n + 1];
				     j++) {
					size_t at =
					    ((size_t)j * s->K + h / (s->H / s->K)) * s->D;
					size_t x = s->longest + (size_t)(i - j);
					p[j] =
					    in[3]
						? in[3]->ref[(size_t)bucket_at(x) * s->H +
							     h]
						: 0;
					for (size_t d = 0; d < s->D; d++)
						p[j] += a[d] * k[at + d] * scale;
					bool seen =
					    (!s->causal || j <= i) &&
					    (!s->window ||
						llabs(i - j) <= (int64_t)s->window) &&
					    (!s->attended ||
						j < s->starts[n] + s->attended[n]);
					p[j] = seen ? exp(p[j]) : 0;
					sum += p[j];
				}
				for (int64_t j = s->starts[n];
				     sum > 0 && j < s->starts[n + 1]; j++)
					for (size_t d = 0; d < s->D; d++)
						out[d] += p[j] / sum *
							  v[((size_t)j * s->K +
								h / (s->H / s->K)) *
								  s->D +
							      d];
			}
	free(p);
}

/* The table's bias, for the kernels. */
static float *
bias_of(const struct array *table, int32_t **buckets, const struct attention *s)
{
	int32_t *host = mem_new(2 * s->longest, sizeof *host);
	struct array *bias = array_new(2 * s->longest * s->H);

	for (size_t x = 0; x < 2 * s->longest; x++)
		host[x] = bucket_at(x);
	*buckets = device_ints(host, 2 * s->longest);
	nn_position_bias(bias->at, f32(table), *buckets, s->longest, s->H);
	free(host);
	return bias->at;
}

static void
attention_case(struct attention *s, bool biased, bool back)
{
	size_t T = (size_t)s->starts[s->N], nq = T * s->H * s->D, nk = T * s->K * s->D;
	struct array *q = array_random(nq, 1), *k = array_random(nk, 1),
		     *v = array_random(nk, 1);
	struct array *y = array_new(nq), *lse = array_new(T * s->H);
	struct array *table = biased ? array_random(BUCKETS * s->H, 1) : NULL;
	struct operation o = { attention, s, { q, k, v, table }, array_random(nq, 1) };
	struct nn_attention a = attention_at(s->starts, s->N, s->H, s->K, s->D);
	int32_t *buckets = NULL;

	a.causal = s->causal;
	a.window = s->window;
	a.scale = (float)s->scale;
	if (s->attended)
		a.sequences.attended = device_ints(s->attended, s->N);
	s->longest = a.sequences.longest;
	if (biased)
		a.bias = bias_of(table, &buckets, s);
	attention(y->ref, o.in, s);
	nn_attention(y->at, lse->at, q->at, k->at, v->at, &a);
	expect("attention", y->at, y->ref, nq, 5e-6);
	if (!back)
		return;
	struct array *dq = array_of(nq, 1), *dk = array_of(nk, 1), *dv = array_of(nk, 1);
	struct array *dbias = biased ? array_new(2 * T * s->H) : NULL;
	nn_attention_back(dq->at, dk->at, dv->at, biased ? dbias->at : NULL, o.dy->at,
	    y->at, lse->at, q->at, k->at, v->at, &a);
	expect_gradient("attention dq", dq->at, &o, 0, 0);
	expect_gradient("attention dk", dk->at, &o, 1, 0);
	expect_gradient("attention dv", dv->at, &o, 2, 0);
	if (!biased)
		return;
	struct array *dtable = array_of(BUCKETS * s->H, 1);
	nn_position_bias_back(dtable->at, dbias->at, buckets, &a.sequences, s->H);
	expect_gradient("attention dtable", dtable->at, &o, 3, 1);
}

static void
check_attention(void)
{
	static const int32_t some[] = { 0, 1, 34, 66, 66, 366 }, few[] = { 0, 5, 6, 15 };
	static const int32_t one[] = { 0, 40 }, longer[] = { 0, 140 };
	static const int32_t seen[] = { 1, 3, 32, 0, 70 };

	for (int kind = 0; kind < 8; kind++) {
		bool causal = kind & 1, biased = kind & 4;
		size_t window = kind & 2 ? 9 : 0;
		double scale = biased ? 0.75 : 0;
		struct attention cases[] = {
			{ some, 5, 4, 2, 32, window, causal, 0, 0, NULL },
			{ some, 5, 4, 2, 32, window, causal, 0, 0, seen },
			{ some, 5, 2, 2, 64, window * 8, causal, 0, 0, NULL },
			{ some, 5, 3, 1, 40, window, causal, 0, 0, NULL },
			{ few, 3, 4, 2, 6, window / 4, causal, scale, 0, NULL },
			{ one, 1, 1, 1, 33, window, causal, 0, 0, NULL },
			{ longer, 1, 1, 1, 2, window, causal, scale, 0, NULL },
		};
		for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
			attention_case(&cases[i], biased, i > 3);
	}
}

static const struct check checks[] = {
	{ "linear", check_linear },
	{ "half", check_half_precision },
	{ "product", check_product },
	{ "norm", check_norm },
	{ "heads", check_norm_heads },
	{ "normalize", check_normalize },
	{ "activate", check_activate },
	{ "int8", check_int8 },
	{ "attention", check_attention },
};

int
main(int argc, char **argv)
{
	return check_main(argc, argv, checks, sizeof checks / sizeof *checks);
}
