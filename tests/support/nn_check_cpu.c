/*
 * nn_check_cpu NAME... - checks of the CPU backend's own promises
 *
 * The elementary functions against libm in double, and bits that depend neither on the batch
 * nor on the threads; dropout of the weights of attention; see nn_check.c.
 */
#include <omp.h>

#include "nn/cpu/elementary.h"
#include "nn/cpu/transpose.h"
#include "nn_check.h"

/* Elementary functions. ------------------------------------------------------------ */

/* The greatest error over [low, high]: of the value, or in units of its last place. */
static double
greatest(
    float (*function)(float), double (*right)(double), double low, double high, bool ulps)
{
	const int steps = 1000000;
	double worst = 0;

	for (int i = 0; i <= steps; i++) {
		float x = (float)(low + (high - low) * i / steps);
		double wanted = right((double)x),
		       error = fabs((double)function(x) - wanted);
		int exponent;
		frexp(wanted, &exponent);
		if (ulps)
			error /= ldexp(1, exponent < -125 ? -149 : exponent - 24);
		worst = error > worst ? error : worst;
	}
	return worst;
}

static double
phi(double x)
{
	return 0.5 * erfc(-x / sqrt(2));
}

static double
gelu(double x)
{
	return x * phi(x);
}

static float
own_gelu(float x)
{
	return x * nn_phi(x);
}

static float
own_exp(float x)
{
	return nn_exp(x);
}

static float
own_exp2(float x)
{
	return nn_exp2(x);
}

static float
own_phi(float x)
{
	return nn_phi(x);
}

static float
own_tanh(float x)
{
	return nn_tanh(x);
}

static void
expect_within(const char *what, double worst, double limit)
{
	if (!(worst <= limit)) {
		printf("%s: an error of %.3g, %.3g was promised\n", what, worst, limit);
		failures++;
	} else if (verbosity > 0)
		printf("%s: within %.3g\n", what, worst);
}

static void
check_functions(void)
{
	expect_within("exp (ulp)", greatest(own_exp, exp, -87.3, 88.7, true), 1.5);
	expect_within("2^x (ulp)", greatest(own_exp2, exp2, -126, 0.5, true), 1.5);
	expect_within("tanh (ulp)", greatest(own_tanh, tanh, -12, 12, true), 3);
	expect_within("tanh near 0 (ulp)", greatest(own_tanh, tanh, 1e-6, 1, true), 3);
	expect_within("Phi", greatest(own_phi, phi, -9, 9, false), 1e-7);
	expect_within("GELU", greatest(own_gelu, gelu, -9, 3, false), 3e-7);
	expect_within(
	    "coarse GELU", greatest(nn_gelu_coarse, gelu, -12, 12, false), 8e-5);
	expect_within("coarse GELU, far out",
	    greatest(nn_gelu_coarse, gelu, -1e3, 1e3, false) / 1e3, 4e-6);
	/* not near e^-87.33 and e^88.72, where products may be subnormal */
	expect_value("exp far below",
	    nn_exp(-87.4f) == 0 && nn_exp(-1e30f) == 0 && nn_exp(-INFINITY) == 0, 1, 0);
	expect_value("exp far above",
	    isinf(nn_exp(88.8f)) && isinf(nn_exp(1e30f)) && isinf(nn_exp(INFINITY)), 1,
	    0);
	/* not 2^-126, whose products are subnormal */
	expect_value("2^x far below", (double)nn_exp2(-126.5f), 0, 0);
	expect_value("2^x of minus infinity", (double)nn_exp2(-INFINITY), 0, 0);
	expect_value("Phi far below", (double)nn_phi(-INFINITY), 0, 0);
	expect_value("Phi far above", (double)nn_phi(INFINITY), 1, 0);
	expect_value("tanh far above", (double)nn_tanh(INFINITY), 1, 0);
	expect_value("NaN stays",
	    isnan(nn_exp(NAN)) && isnan(nn_exp2(NAN)) && isnan(nn_phi(NAN)) &&
		isnan(nn_tanh(NAN)) && isnan(nn_gelu_coarse(NAN)),
	    1, 0);
}

/* A row with NaN has no hit, though its target is the greatest number. */
static void
check_cross_entropy(void)
{
	const int32_t target = 0;
	float logits[] = { 1, NAN, 0 };
	struct nn_loss sum = { 0 };

	nn_cross_entropy(logits, &sum, &target, NULL, 1, 1, 3);
	expect_value("hits of a row with NaN", sum.correct, 0, 0);
	expect_value("loss of a row with NaN", isnan(sum.loss), 1, 0);
}

static void
expect_bits(const char *what, const float *x, const float *y, size_t n)
{
	if (memcmp(x, y, n * sizeof *x) == 0)
		return;
	printf("%s: the bits differ\n", what);
	failures++;
}

/* Moments that decay without a gradient become 0, not subnormal, long after they stop changing the weight. */
static void
check_decay(void)
{
	const struct nn_adamw adamw = { 1e-3, 0.9, 0.999, 1e-8, 1 };
	const struct nn_slice slice = { .count = 64, .step = 1000, .decay = 0.01 };
	struct array *w = array_random(64, 1), *wanted = array_new(64);
	struct array *m = array_new(64), *v = array_new(64), *g = array_new(64);

	for (size_t i = 0; i < 64; i++) {
		m->at[i] = i % 2 ? -1e-25f : 1e-25f;
		v->at[i] = 1e-37f;
		wanted->at[i] = (1 - 1e-5f) * w->at[i];
	}
	nn_adamw(w->at, m->at, v->at, g->at, &adamw, &slice, 1, slice.count);
	expect_bits("weights without a gradient", w->at, wanted->at, 64);
	expect_bits("m without a gradient", m->at, g->at, 64);
	expect_bits("v without a gradient", v->at, g->at, 64);
}

/* The same bits. ------------------------------------------------------------------- */

/* The last number exceeds the tiles of the products. */
static const int numbers[] = { 1, 2, 3, 5, 64 };
enum { NUMBERS = sizeof numbers / sizeof *numbers };

/* A row gives the same bits alone, among other rows, and with any number of threads. */
static void
same_linear(size_t T, size_t C, size_t O)
{
	struct array *x = array_random(T * C, 1), *w = array_random(O * C, 1);
	struct array *b = array_random(O, 1), *all = array_new(T * O),
		     *some = array_new(T * O);

	omp_set_num_threads(1);
	nn_linear(all->at, O, x->at, C, f32(w), b->at, T, C, O);
	for (int i = 0; i < NUMBERS; i++) {
		omp_set_num_threads(numbers[i]);
		for (size_t rows = 1; rows <= T; rows += rows < 20 ? 1 : 37) {
			nn_linear(some->at, O, x->at + (T - rows) * C, C, f32(w), b->at,
			    rows, C, O);
			expect_bits(
			    "linear", some->at, all->at + (T - rows) * O, rows * O);
		}
	}
}

/* A product gives the same bits as a whole and in two parts, by columns or by rows. */
static void
split_in_two(enum dtype dtype, size_t T, size_t C, size_t O)
{
	struct array *x = array_random(T * C, 1), *w = array_random(O * C, 1);
	struct array *b = array_random(O, 1), *dy = array_random(T * O, 1);
	struct array *y = array_new(T * O), *dx = array_new(T * C),
		     *dw = array_new(O * C);
	struct array *y2 = array_new(T * O), *dx2 = array_new(T * C);
	struct array *dw2 = array_new(O * C), *db = array_new(O), *db2 = array_new(O);
	size_t size = dtype_size(dtype);

	/* in place: each element is read before it is written */
	tensor_from_f32(w->at, dtype, w->at, O * C);
	struct nn_matrix whole = { .at = w->at, .dtype = dtype };
	omp_set_num_threads(1);
	nn_linear(y->at, O, x->at, C, whole, b->at, T, C, O);
	nn_linear_back(
	    dx->at, false, dw->at, db->at, dy->at, O, x->at, C, whole, T, C, O);
	for (int i = 0; i < NUMBERS; i++) {
		omp_set_num_threads(numbers[i]);
		nn_zero(db2->at, O);
		nn_zero(dw2->at, O * C);
		for (size_t half = 0; half < 2; half++) {
			size_t t = half * (T / 2), rows = half ? T - t : T / 2;
			size_t o = half * (O / 2), columns = half ? O - o : O / 2;
			struct nn_matrix part = { .at = (char *)w->at + o * C * size,
				.dtype = dtype };
			nn_linear(
			    y2->at + o, O, x->at, C, part, b->at + o, T, C, columns);
			nn_linear_back(NULL, false, dw2->at + o * C, db2->at + o,
			    dy->at + o, O, x->at, C, part, T, C, columns);
			nn_linear_back(dx2->at + t * C, false, NULL, NULL, dy->at + t * O,
			    O, NULL, C, whole, rows, C, O);
		}
		expect_bits("columns in two parts", y2->at, y->at, T * O);
		expect_bits("columns in two parts, dw", dw2->at, dw->at, O * C);
		expect_bits("columns in two parts, db", db2->at, db->at, O);
		expect_bits("rows in two parts, dx", dx2->at, dx->at, T * C);
		nn_zero(y2->at, T * O);
		nn_linear(y2->at, O, x->at, C, whole, b->at, T / 2, C, O);
		nn_linear(y2->at + T / 2 * O, O, x->at + T / 2 * C, C, whole, b->at,
		    T - T / 2, C, O);
		expect_bits("rows in two parts", y2->at, y->at, T * O);
	}
}

/* All f16 and bf16 values, widened, and transposed in blocks. */
static void
check_widen(void)
{
	enum { ALL = 1 << 16, ROWS = 29, COLUMNS = ALL / 64, WIDTH = NN_PANEL };
	struct array *x = array_new(ALL), *wanted = array_new(ALL);
	struct array *transposed = array_new((size_t)COLUMNS * WIDTH);
	uint16_t *values = mem_new(ALL, sizeof *values);

	for (size_t i = 0; i < ALL; i++)
		values[i] = (uint16_t)i;
	for (int type = 0; type < 2; type++) {
		enum dtype dtype = type ? DTYPE_F16 : DTYPE_BF16;
		tensor_to_f32(wanted->at, values, dtype, ALL);
		nn_widen(x->at, values, dtype, ALL);
		expect_bits("widened", x->at, wanted->at, ALL);
		for (size_t first = 0; first + ROWS <= 64; first++) {
			size_t rows = ROWS < WIDTH ? ROWS : WIDTH;
			const float *from = wanted->at + first * COLUMNS;
			nn_transpose(transposed->at, WIDTH,
			    (struct nn_matrix){
				.at = values + first * COLUMNS, .dtype = dtype },
			    COLUMNS, 0, rows, COLUMNS - 5, WIDTH, 1);
			for (size_t i = 0; i < (size_t)COLUMNS * WIDTH; i++)
				x->at[i] = i % WIDTH < rows
					       ? from[i % WIDTH * COLUMNS + i / WIDTH]
					       : 0;
			expect_bits("transposed", transposed->at, x->at,
			    (size_t)(COLUMNS - 5) * WIDTH);
		}
	}
	free(values);
}

static void
check_bits(void)
{
	static const int32_t starts[] = { 0, 40, 47, 190 }, alone[] = { 0, 7 };
	struct nn_attention a = attention_at(starts, 3, 4, 2, 16);
	struct nn_attention one = a;
	struct array *q = array_random(190 * 64, 1), *k = array_random(190 * 32, 1);
	struct array *v = array_random(190 * 32, 1), *all = array_new(190 * 64);
	struct array *some = array_new(7 * 64), *dw = array_new(64),
		     *again = array_new(64);

	same_linear(200, 30, 50);
	same_linear(100, 400, 130);
	split_in_two(DTYPE_F32, 61, 768, 1000);
	split_in_two(DTYPE_F32, 15, 1000, 768);
	split_in_two(DTYPE_BF16, 40, 768, 1000);
	nn_attention(all->at, NULL, q->at, k->at, v->at, &a);
	one.sequences = sequences_at(alone, 1);
	nn_attention(
	    some->at, NULL, q->at + 40 * 64, k->at + 40 * 32, v->at + 40 * 32, &one);
	expect_bits("attention", some->at, all->at + 40 * 64, 7 * 64);
	struct array *stats = array_random(2 * 2970, 1), *x = array_random(2970 * 64, 1);
	double square = 0;
	for (int i = 0; i < NUMBERS; i++) {
		omp_set_num_threads(numbers[i]);
		nn_zero(again->at, 64);
		nn_norm_back(NULL, again->at, NULL, x->at, x->at, stats->at, NULL,
		    NN_LAYERNORM, 2970, 64);
		if (i == 0)
			nn_copy(dw->at, again->at, 64);
		expect_bits("norm dw", again->at, dw->at, 64);
		if (i > 0)
			expect_value("square sum", nn_square_sum(x->at, x->n), square, 0);
		square = nn_square_sum(x->at, x->n);
	}
}

/* Attention with dropout of its weights. ------------------------------------------- */

struct dropped {
	const int32_t *starts;
	size_t N, H, K, D;
	bool causal;
	double *masks; /* [H, T, longest]: 0, or 1 / (1 - rate) */
	size_t longest;
};

/* Finds the masks as nn_dropout of ones: a row for each query of a head. */
static void
find_masks(struct dropped *s, const struct nn_attention_dropout *dropout)
{
	size_t T = (size_t)s->starts[s->N], n = T * s->longest;
	struct array *ones = array_of(n, 1);
	float *host = mem_new(n, sizeof *host);

	s->masks = mem_new(s->H * n, sizeof *s->masks);
	for (size_t h = 0; h < s->H; h++) {
		struct array *y = array_new(n);
		nn_dropout(y->at, ones->at, s->longest, dropout->keys, NULL,
		    dropout->salt + h, dropout->rate, T, s->longest);
		nn_download(host, y->at, n * sizeof *host);
		for (size_t i = 0; i < n; i++)
			s->masks[h * n + i] = (double)host[i];
	}
	free(host);
}

/* A query of a head; the loops of torch: softmax, dropout, product. */
static void
drop_query(double *out, struct array *const *in, const struct dropped *s, size_t first,
    size_t past, size_t i, size_t h, double *p)
{
	size_t T = (size_t)s->starts[s->N], kv = h / (s->H / s->K);
	const double *q = in[0]->ref + (i * s->H + h) * s->D;
	const double *mask = s->masks + (h * T + i) * s->longest;
	double sum = 0;

	past = s->causal ? i + 1 : past;
	for (size_t j = first; j < past; j++) {
		double score = 0;
		for (size_t d = 0; d < s->D; d++)
			score += q[d] * in[1]->ref[(j * s->K + kv) * s->D + d];
		sum += p[j] = exp(score / sqrt((double)s->D));
	}
	memset(out, 0, s->D * sizeof *out);
	for (size_t j = first; j < past; j++)
		for (size_t d = 0; d < s->D; d++)
			out[d] += p[j] / sum * mask[j - first] *
				  in[2]->ref[(j * s->K + kv) * s->D + d];
}

static void
drop_attention(double *y, struct array *const *in, const void *sizes)
{
	const struct dropped *s = sizes;
	double *p = mem_new((size_t)s->starts[s->N], sizeof *p);

	for (size_t n = 0; n < s->N; n++) {
		size_t first = (size_t)s->starts[n], past = (size_t)s->starts[n + 1];
		for (size_t i = first; i < past; i++)
			for (size_t h = 0; h < s->H; h++)
				drop_query(y + (i * s->H + h) * s->D, in, s, first, past,
				    i, h, p);
	}
	free(p);
}

static void
dropped_case(struct dropped *s, bool back)
{
	size_t T = (size_t)s->starts[s->N], nq = T * s->H * s->D, nk = T * s->K * s->D;
	struct array *q = array_random(nq, 1), *k = array_random(nk, 1);
	struct array *v = array_random(nk, 1), *y = array_new(nq);
	struct array *lse = array_new(T * s->H), *without = array_new(nq);
	uint64_t *keys = mem_new(T, sizeof *keys);
	struct operation o = { drop_attention, s, { q, k, v }, array_random(nq, 1) };
	struct nn_attention a = attention_at(s->starts, s->N, s->H, s->K, s->D);

	a.causal = s->causal;
	a.bf16 = true;
	a.dropout = (struct nn_attention_dropout){ keys, 12345, 0.3 };
	for (size_t t = 0; t < T; t++)
		keys[t] = rng_next(&chance);
	s->longest = a.sequences.longest;
	find_masks(s, &a.dropout);
	drop_attention(y->ref, o.in, s);
	nn_attention(y->at, lse->at, q->at, k->at, v->at, &a);
	expect("dropped", y->at, y->ref, nq, 5e-6);
	/* a forward pass without kept activations gives the same bits, in any precision of the products */
	nn_attention(without->at, NULL, q->at, k->at, v->at, &a);
	expect_same("dropped without lse", without, y);
	if (back) {
		struct array *dq = array_new(nq), *dk = array_new(nk),
			     *dv = array_new(nk);
		nn_attention_back(dq->at, dk->at, dv->at, NULL, o.dy->at, y->at, lse->at,
		    q->at, k->at, v->at, &a);
		expect_gradient("dropped dq", dq->at, &o, 0, 0);
		expect_gradient("dropped dk", dk->at, &o, 1, 0);
		expect_gradient("dropped dv", dv->at, &o, 2, 0);
	}
	free(s->masks);
	free(keys);
}

static void
check_dropped(void)
{
	static const int32_t some[] = { 0, 1, 34, 66, 366 }, few[] = { 0, 5, 6, 23 };
	static const int32_t longer[] = { 0, 140 };
	struct dropped cases[] = {
		{ some, 4, 4, 2, 32, false, NULL, 0 },
		{ some, 4, 2, 2, 8, true, NULL, 0 },
		{ few, 3, 4, 2, 6, false, NULL, 0 },
		{ few, 3, 2, 1, 5, true, NULL, 0 },
		{ longer, 1, 1, 1, 2, false, NULL, 0 },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		dropped_case(&cases[i], i > 1);
}

static const struct check checks[] = {
	{ "functions", check_functions },
	{ "cross-entropy", check_cross_entropy },
	{ "decay", check_decay },
	{ "bits", check_bits },
	{ "widen", check_widen },
	{ "dropped", check_dropped },
};

int
main(int argc, char **argv)
{
	return check_main(argc, argv, checks, sizeof checks / sizeof *checks);
}
