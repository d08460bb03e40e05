/*
 * nn_check_real NAME... - the kernels of nn.h at sizes of real models
 *
 * Cases beyond small arrays: blocks of products, the branches of several threads, sums in
 * parts.  Each is held to a plain loop in double; or, where a row's result is that of the row
 * alone, all rows at once to the bits of each by itself; see nn_check.c.
 */
#include "nn_check.h"

enum { WIDTH = 768, HEAD = 64, ROWS = 70 };

/* Products. ------------------------------------------------------------------------ */

/* y[M,N] += alpha a b, where a[m,k] is a[m am + k ak] and b[k,n] is b[k bk + n bn] */
static void
product(double *y, double alpha, const double *a, size_t am, size_t ak, const double *b,
    size_t bk, size_t bn, size_t M, size_t N, size_t K)
{
	for (size_t m = 0; m < M; m++)
		for (size_t n = 0; n < N; n++) {
			double sum = 0;
			for (size_t k = 0; k < K; k++)
				sum += a[m * am + k * ak] * b[k * bk + n * bn];
			y[m * N + n] += alpha * sum;
		}
}

static void
check_product(void)
{
	size_t M = 61, N = 450, K = 901;

	for (int kind = 0; kind < 3; kind++) {
		bool a_transposed = kind == 2, b_transposed = kind == 0;
		struct array *a = array_random(M * K, 0.1), *b = array_random(N * K, 0.1);
		struct array *c = array_random(M * N, 1);
		for (size_t i = 0; i < M * N; i++)
			c->ref[i] *= 2;
		product(c->ref, 0.5, a->ref, a_transposed ? 1 : K, a_transposed ? M : 1,
		    b->ref, b_transposed ? 1 : N, b_transposed ? K : 1, M, N, K);
		(kind == 0	? nn_product_nt
		    : kind == 1 ? nn_product_nn
				: nn_product_tn)(c->at, a->at, b->at, M, N, K, 0.5f, 2);
		expect("product", c->at, c->ref, M * N, 1e-5);
	}
}

static void
check_linear(void)
{
	size_t T = 61, C = 901, O = 450;
	struct array *x = array_random(T * C, 1), *w = array_random(O * C, 0.03);
	struct array *b = array_random(O, 1), *y = array_new(T * O);
	struct array *dy = array_random(T * O, 0.1), *dx = array_of(T * C, 1);
	struct array *dw = array_of(O * C, 1), *db = array_of(O, 1);

	for (size_t i = 0; i < T * O; i++)
		y->ref[i] = b->ref[i % O];
	product(y->ref, 1, x->ref, C, 1, w->ref, 1, C, T, O, C);
	nn_linear(y->at, O, x->at, C, f32(w), b->at, T, C, O);
	expect("linear", y->at, y->ref, T * O, 1e-5);
	for (size_t i = 0; i < T * O; i++)
		y->ref[i] = tanh(y->ref[i]);
	nn_linear_activate(y->at, O, x->at, C, f32(w), b->at, NN_TANH, T, C, O);
	expect("linear and tanh", y->at, y->ref, T * O, 1e-5);
	product(dx->ref, 1, dy->ref, O, 1, w->ref, C, 1, T, C, O);
	product(dw->ref, 1, dy->ref, 1, O, x->ref, C, 1, O, C, T);
	for (size_t i = 0; i < T * O; i++)
		db->ref[i % O] += dy->ref[i];
	nn_linear_back(
	    dx->at, true, dw->at, db->at, dy->at, O, x->at, C, f32(w), T, C, O);
	expect("linear dx", dx->at, dx->ref, T * C, 1e-5);
	expect("linear dw", dw->at, dw->ref, O * C, 1e-5);
	expect("linear db", db->at, db->ref, O, 1e-5);
}

/* Attention. ----------------------------------------------------------------------- */

/* One query of one head: with p = softmax(scale q k^T + bias) and g = dout v^T, out = p v,
 * ds = p (g - p g), dbias += ds, dq = scale ds k, dk += scale ds q, dv += p dout. */
static void
attend(const struct nn_attention *a, const int32_t *starts, struct array *const *x,
    size_t n, size_t i, size_t h)
{
	size_t D = a->D, kv = h / (a->H / a->K) * D, first = (size_t)starts[n];
	size_t at = i * a->ldq + h * D, end = (size_t)starts[n + 1];
	size_t longest = a->sequences.longest;
	enum { Q, K, V, OUT, DOUT, DQ, DK, DV, BIAS, DBIAS };
	double *p = mem_zero(end, sizeof *p), *g = mem_zero(end, sizeof *g);
	double sum = 0, along = 0;
	double scale = a->scale != 0 ? (double)a->scale : 1 / sqrt((double)D);
	const double *bias = x[BIAS]->ref + 2 * h * longest + longest + i;
	double *dbias =
	    x[DBIAS]->ref + 2 * first * a->H + (2 * h + 1) * (end - first) + i;

	for (size_t j = first; j < end; j++) {
		size_t gap = i > j ? i - j : j - i;
		double score = a->bias ? *(bias - j) : 0;
		for (size_t d = 0; d < D; d++) {
			score +=
			    x[Q]->ref[at + d] * x[K]->ref[j * a->ldkv + kv + d] * scale;
			g[j] += x[DOUT]->ref[at + d] * x[V]->ref[j * a->ldkv + kv + d];
		}
		if ((!a->causal || j <= i) && (!a->window || gap <= a->window))
			sum += p[j] = exp(score);
	}
	for (size_t j = first; j < end; j++)
		along += (p[j] /= sum) * g[j];
	for (size_t j = first; j < end; j++)
		*(dbias - j) += p[j] * (g[j] - along);
	for (size_t j = first; j < end; j++)
		for (size_t d = 0; d < D; d++) {
			size_t from = j * a->ldkv + kv + d;
			double ds = p[j] * (g[j] - along) * scale;
			x[OUT]->ref[at + d] += p[j] * x[V]->ref[from];
			x[DQ]->ref[at + d] += ds * x[K]->ref[from];
			x[DK]->ref[from] += ds * x[Q]->ref[at + d];
			x[DV]->ref[from] += p[j] * x[DOUT]->ref[at + d];
		}
	free(p);
	free(g);
}

static void
check_attention(void)
{
	static const int32_t starts[] = { 0, 1, 41, 341 };
	static const struct {
		size_t H, K, D, window;
		bool causal, biased;
		float scale;
	} cases[] = { { 4, 2, HEAD, 0, false, false, 0 },
		{ 2, 2, HEAD, 0, true, false, 0 }, { 2, 1, HEAD, 50, false, false, 0 },
		{ 1, 1, NN_MAX_HEAD, 20, true, false, 0 },
		{ 3, 3, HEAD, 0, false, true, 0.25f }, { 4, 2, HEAD, 60, true, true, 0 },
		{ 2, 1, HEAD, 128, true, false, 0 },
		{ 2, 1, NN_MAX_DEVICE_HEAD, 0, false, true, 0 } };

	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
		size_t most_D = nn_device() ? NN_MAX_DEVICE_HEAD : NN_MAX_HEAD;
		size_t D = cases[c].D < most_D ? cases[c].D : most_D;
		size_t T = 341, H = cases[c].H, nq = T * H * D, nk = T * cases[c].K * D;
		struct nn_attention a = attention_at(starts, 3, H, cases[c].K, D);
		a.causal = cases[c].causal;
		a.window = cases[c].window;
		a.scale = cases[c].scale;
		size_t most = a.sequences.longest;
		struct array *x[] = { array_random(nq, 1), array_random(nk, 1),
			array_random(nk, 1), array_new(nq), array_random(nq, 1),
			array_new(nq), array_new(nk), array_new(nk),
			array_random(2 * most * H, 1), array_new(2 * T * H) };
		struct array *lse = array_new(T * H);
		if (cases[c].biased)
			a.bias = x[8]->at;
		for (size_t n = 0; n < 3; n++)
			for (size_t i = (size_t)starts[n]; i < (size_t)starts[n + 1]; i++)
				for (size_t h = 0; h < H; h++)
					attend(&a, starts, x, n, i, h);
		nn_attention(x[3]->at, lse->at, x[0]->at, x[1]->at, x[2]->at, &a);
		expect("attention", x[3]->at, x[3]->ref, nq, 5e-6);
		nn_attention_back(x[5]->at, x[6]->at, x[7]->at, x[9]->at, x[4]->at,
		    x[3]->at, lse->at, x[0]->at, x[1]->at, x[2]->at, &a);
		expect("attention dbias", x[9]->at, x[9]->ref, 2 * T * H, 1e-5);
		expect("attention dq", x[5]->at, x[5]->ref, nq, 1e-5);
		expect("attention dk", x[6]->at, x[6]->ref, nk, 1e-5);
		expect("attention dv", x[7]->at, x[7]->ref, nk, 1e-5);
	}
}

/* Rows. ---------------------------------------------------------------------------- */

static float *weights,
    *spare; /* values of about 1, the same for all rows; also for unused arguments */

static void
rows_norm(float *y, const float *x, const float *z, size_t R)
{
	nn_norm(y, NULL, NULL, x, z, weights, weights + 1, 1e-5f, NN_LAYERNORM, R, WIDTH);
}

static void
rows_norm_back(float *y, const float *x, const float *z, size_t R)
{
	nn_norm_back(y, NULL, NULL, x, z, weights, weights + 1, NN_RMSNORM, R, WIDTH);
}

static void
rows_heads(float *y, const float *x, const float *z, size_t R)
{
	(void)z;
	nn_norm_heads(y, WIDTH, NULL, x, WIDTH, weights, NULL, 1e-6f, NN_RMSNORM, R,
	    WIDTH / HEAD, HEAD);
}

static void
rows_heads_back(float *y, const float *x, const float *z, size_t R)
{
	nn_norm_heads_back(y, NULL, NULL, x, WIDTH, z, WIDTH, weights, weights + 1,
	    NN_RMSNORM, R, WIDTH / HEAD, HEAD);
}

static void
rows_normalize(float *y, const float *x, const float *z, size_t R)
{
	(void)z;
	nn_normalize(y, NULL, x, R, WIDTH);
}

static void
rows_normalize_back(float *y, const float *x, const float *z, size_t R)
{
	nn_normalize_back(y, x, z, weights, R, WIDTH);
}

static void
rows_softmax(float *y, const float *x, const float *z, size_t R)
{
	(void)z;
	nn_softmax(y, x, R, WIDTH);
}

static void
rows_softmax_back(float *y, const float *x, const float *z, size_t R)
{
	nn_softmax_back(y, x, z, R, WIDTH);
}

static void
rows_gate(float *y, const float *x, const float *z, size_t R)
{
	nn_glu(y, x, z, WIDTH, NN_SILU, R, WIDTH);
}

static void
rows_gate_back(float *y, const float *x, const float *z, size_t R)
{
	nn_glu_back(spare, y, x, z, x, WIDTH, NN_SILU, R, WIDTH);
}

static void
rows_activate(float *y, const float *x, const float *z, size_t R)
{
	(void)z;
	nn_activate(y, x, NN_GELU, R * WIDTH);
}

static void
rows_activate_back(float *y, const float *x, const float *z, size_t R)
{
	nn_activate_back(y, x, z, NN_GELU, R * WIDTH);
}

/* w serves as lengths and, in pairs, as statistics: the same for each row */
static void
check_rows(void)
{
	static const struct {
		const char *name;
		void (*run)(float *y, const float *x, const float *z, size_t R);
	} kernels[] = { { "norm", rows_norm }, { "norm ds", rows_norm_back },
		{ "norm of heads", rows_heads }, { "norm of heads dx", rows_heads_back },
		{ "normalize", rows_normalize }, { "normalize dx", rows_normalize_back },
		{ "softmax", rows_softmax }, { "softmax dx", rows_softmax_back },
		{ "gate", rows_gate }, { "gate dgate", rows_gate_back },
		{ "activation", rows_activate },
		{ "activation's gradient", rows_activate_back } };
	size_t n = ROWS * WIDTH;
	struct array *x = array_random(n, 1), *z = array_random(n, 1);
	struct array *y = array_new(n), *alone = array_new(n);

	weights = array_of(2 * n, 1.25)->at;
	spare = array_new(n)->at;
	for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
		kernels[i].run(y->at, x->at, z->at, ROWS);
		for (size_t r = 0; r < n; r += WIDTH)
			kernels[i].run(alone->at + r, x->at + r, z->at + r, 1);
		expect_same(kernels[i].name, y, alone);
	}
}

/* Parameters' gradients, which all rows add to. */
static void
check_parameters(void)
{
	size_t n = ROWS * WIDTH;
	struct array *s = array_random(n, 1), *dy = array_random(n, 1);
	struct array *stats = array_random(2 * n / HEAD, 1);
	struct array *dw = array_of(WIDTH, 1), *db = array_of(WIDTH, 1);
	struct array *heads = array_of(HEAD, 1);

	for (size_t i = 0; i < n; i++) {
		const double *row = stats->ref + i / WIDTH * 2,
			     *head = stats->ref + i / HEAD * 2;
		dw->ref[i % WIDTH] += dy->ref[i] * (s->ref[i] - row[0]) * row[1];
		db->ref[i % WIDTH] += dy->ref[i];
		heads->ref[i % HEAD] += dy->ref[i] * (s->ref[i] - head[0]) * head[1];
	}
	nn_norm_back(NULL, dw->at, db->at, dy->at, s->at, stats->at, NULL, NN_LAYERNORM,
	    ROWS, WIDTH);
	expect("norm dw", dw->at, dw->ref, WIDTH, 5e-6);
	expect("norm db", db->at, db->ref, WIDTH, 5e-6);
	nn_norm_heads_back(NULL, heads->at, NULL, dy->at, WIDTH, s->at, WIDTH, stats->at,
	    heads->at, NN_RMSNORM, ROWS, WIDTH / HEAD, HEAD);
	expect("norm of heads dw", heads->at, heads->ref, HEAD, 5e-6);
}

/* Tokens. -------------------------------------------------------------------------- */

static void
check_tokens(void)
{
	enum { T = 150, V = 1000 };
	static const int32_t starts[] = { 0, 100, 101, T };
	int32_t ids[T];
	struct array *table = array_random(V * WIDTH, 1), *x = array_new(T * WIDTH);
	struct array *types = array_random(WIDTH, 1), *dtypes = array_of(WIDTH, 1);
	struct array *places = array_random(T * WIDTH, 1);
	struct array *dplaces = array_of(T * WIDTH, 1), *dx = array_random(T * WIDTH, 1);
	struct array *dtable = array_of(V * WIDTH, 1), *rows = array_new(T * WIDTH);
	struct array *scattered = array_of(V * WIDTH, 1);

	for (size_t t = 0; t < T; t++)
		ids[t] = (int32_t)rng_below(&chance, t & 1 ? 20 : V);
	for (size_t i = 0; i < T * WIDTH; i++) {
		size_t t = i / WIDTH, c = i % WIDTH, from = (size_t)ids[t] * WIDTH + c;
		size_t place = (t < 100 ? t : t < 101 ? 0 : t - 101) * WIDTH + c;
		rows->ref[i] = table->ref[from];
		x->ref[i] = table->ref[from] + types->ref[c] + places->ref[place];
		dtable->ref[from] += dx->ref[i];
		scattered->ref[from] += dx->ref[i];
		dtypes->ref[c] += dx->ref[i];
		dplaces->ref[place] += dx->ref[i];
	}
	struct nn_sequences at = sequences_at(starts, 3);
	int32_t *id = device_ints(ids, T);
	nn_embed(x->at, id, &at, f32(table), f32(types), f32(places), WIDTH);
	expect("embed", x->at, x->ref, x->n, 1e-6);
	nn_embed_back(dtable->at, dtypes->at, dplaces->at, dx->at, id, &at, WIDTH);
	expect("embed dtokens", dtable->at, dtable->ref, dtable->n, 2e-6);
	expect("embed dtypes", dtypes->at, dtypes->ref, dtypes->n, 2e-5);
	expect("embed dpositions", dplaces->at, dplaces->ref, dplaces->n, 2e-6);
	nn_gather(rows->at, table->at, id, T, WIDTH);
	expect("gather", rows->at, rows->ref, rows->n, 0);
	nn_scatter_add(scattered->at, dx->at, id, T, WIDTH);
	expect("scatter", scattered->at, scattered->ref, scattered->n, 2e-6);
	expect_same("scatter and embed dtokens", scattered, dtable);
}

/* All sequences at once give the same bits as each alone. */
static void
check_pool(void)
{
	static const int32_t starts[] = { 0, 4, 30, 30, ROWS }, skip[] = { 2, 0, 0, 50 };
	struct array *x = array_random(ROWS * WIDTH, 1), *dy = array_random(4 * WIDTH, 1);
	struct array *y = array_new(4 * WIDTH), *one = array_new(4 * WIDTH);
	struct array *dx = array_new(ROWS * WIDTH), *done = array_new(ROWS * WIDTH);
	struct nn_sequences at = sequences_at(starts, 4);
	int32_t *out = device_ints(skip, 4);

	for (int kind = 0; kind <= NN_POOL_LAST; kind++) {
		enum nn_pool how = (enum nn_pool)kind;
		nn_pool(y->at, WIDTH, x->at, &at, out, how, WIDTH);
		nn_pool_back(dx->at, dy->at, WIDTH, x->at, &at, out, how, WIDTH);
		for (size_t i = 0; i < 4; i++) {
			const int32_t own[] = { 0, starts[i + 1] - starts[i] };
			size_t first = (size_t)starts[i] * WIDTH;
			struct nn_sequences alone = sequences_at(own, 1);
			nn_pool(one->at + i * WIDTH, WIDTH, x->at + first, &alone,
			    out + i, how, WIDTH);
			nn_pool_back(done->at + first, dy->at + i * WIDTH, WIDTH,
			    x->at + first, &alone, out + i, how, WIDTH);
		}
		expect_same("pool", y, one);
		expect_same("pool dx", dx, done);
	}
}

static void
check_routes(void)
{
	enum { T = 900, E = 16, TOP = 3 };
	struct array *p = array_random(T * E, 1), *w = array_new(T * TOP);
	struct array *alone = array_new(T * TOP);
	struct array *chosen = array_new(T * TOP), *found = array_new(T * TOP);
	int32_t *at = (int32_t *)(void *)chosen->at, *one = (int32_t *)(void *)found->at;

	nn_softmax(p->at, p->at, T, E);
	nn_route(at, w->at, p->at, true, T, E, TOP);
	for (size_t t = 0; t < T; t++)
		nn_route(
		    one + t * TOP, alone->at + t * TOP, p->at + t * E, true, 1, E, TOP);
	expect_same("chosen", chosen, found);
	expect_same("weights of routes", w, alone);
}

/* Vectors. ------------------------------------------------------------------------- */

static void
check_vector(void)
{
	size_t n = ((size_t)1 << 22) + 100003;
	struct array *x = array_new(n), *y = array_new(n);
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		x->ref[i] = rng_uniform(&chance) - 0.25;
	array_upload(x);
	for (size_t i = 0; i < n; i++)
		sum += x->ref[i] * x->ref[i];
	expect_value("square sum", nn_square_sum(x->at, n), sum, 1e-12);
	nn_copy(y->at, x->at, n);
	expect("copy", y->at, x->ref, n, 0);
	nn_scale(y->at, -2, n);
	nn_add(y->at, x->at, n);
	for (size_t i = 0; i < n; i++)
		y->ref[i] = -x->ref[i];
	expect("scale and add", y->at, y->ref, n, 1e-7);
	expect_value("finite", nn_finite(x->at, n), 1, 0);
	nn_zero(y->at, n);
	for (size_t i = 0; i < n; i++)
		y->ref[i] = 0;
	expect("zero", y->at, y->ref, n, 0);

	struct array *by = array_random(ROWS, 1), *dots = array_new(ROWS);
	for (size_t i = 0; i < ROWS * WIDTH; i++) {
		y->ref[i] = x->ref[i] * by->ref[i / WIDTH];
		dots->ref[i / WIDTH] += x->ref[i] * y->ref[i];
	}
	nn_copy(y->at, x->at, ROWS * WIDTH);
	nn_scale_rows(y->at, by->at, ROWS, WIDTH);
	expect("scaled rows", y->at, y->ref, ROWS * WIDTH, 1e-7);
	nn_dot_rows(dots->at, x->at, y->at, ROWS, WIDTH);
	expect("dots of rows", dots->at, dots->ref, ROWS, 2e-6);
}

/* A growing buffer is large enough, aligned, and kept while it suffices. */
static void
check_memory(void)
{
	static const size_t counts[] = { 100, 3000000, 3000001, 9000000 };
	size_t size = 0, before;
	char *block = NULL;

	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		before = size;
		char *next = nn_reserve(block, &size, counts[i], 4);
		/* a larger one may begin where the freed one did */
		if (before >= 4 * counts[i])
			expect_value("kept", next == block, 1, 0);
		expect_value("aligned", (double)((uintptr_t)next % 64), 0, 0);
		expect_value("large enough", size >= 4 * counts[i], 1, 0);
		block = next;
		char *host = mem_zero(size, 1);
		nn_upload(block, host, size);
		free(host);
	}
	expect_value("kept for less", nn_reserve(block, &size, 1, 1) == block, 1, 0);
	nn_free(block, size);
}

static const struct check checks[] = {
	{ "product", check_product },
	{ "linear", check_linear },
	{ "attention", check_attention },
	{ "rows", check_rows },
	{ "parameters", check_parameters },
	{ "tokens", check_tokens },
	{ "pool", check_pool },
	{ "routes", check_routes },
	{ "vector", check_vector },
	{ "memory", check_memory },
};

int
main(int argc, char **argv)
{
	return check_main(argc, argv, checks, sizeof checks / sizeof *checks);
}
