/*
 * mixture_check NAME... - hold the routes of nn.h and token experts to plain loops in double
 *
 * Each backward is compared with central differences of the loop, away from where the choice
 * of experts changes; see nn_check.c.
 */
#include "model/mixture.h"
#include "nn_check.h"

/* Routes. -------------------------------------------------------------------------- */

/* in: x [R,V] */
static void
softmax(double *y, struct array *const *in, const void *sizes)
{
	const size_t *s = sizes;

	for (size_t r = 0; r < s[0]; r++) {
		const double *x = in[0]->ref + r * s[1];
		double sum = 0;
		for (size_t v = 0; v < s[1]; v++)
			sum += exp(x[v]);
		for (size_t v = 0; v < s[1]; v++)
			y[r * s[1] + v] = exp(x[v]) / sum;
	}
}

static void
check_softmax(void)
{
	size_t sizes[2] = { 3, 768 }, n = sizes[0] * sizes[1];
	struct array *x = array_random(n, 3), *y = array_new(n), *dx = array_new(n);
	struct operation o = { softmax, sizes, { x }, array_random(n, 1) };

	softmax(y->ref, o.in, sizes);
	nn_softmax(y->at, x->at, sizes[0], sizes[1]);
	expect("softmax", y->at, y->ref, n, 1e-6);
	nn_copy(dx->at, o.dy->at, n);
	nn_softmax_back(dx->at, dx->at, y->at, sizes[0], sizes[1]);
	expect_gradient("softmax dx", dx->at, &o, 0, 0);
	/* values that would overflow if the maximum were not subtracted */
	for (size_t i = 0; i < n; i++)
		x->ref[i] = (double)(float)(x->ref[i] + 200);
	array_upload(x);
	softmax(y->ref, o.in, sizes);
	nn_softmax(x->at, x->at, sizes[0], sizes[1]);
	expect("softmax of large values, in place", x->at, y->ref, n, 1e-6);
}

static void
expect_ints(const char *what, const int32_t *at, const int32_t *wanted, size_t n)
{
	int32_t *host = mem_new(n, sizeof *host);

	nn_download(host, at, n * sizeof *host);
	for (size_t i = 0; i < n; i++)
		if (host[i] != wanted[i]) {
			printf("%s[%zu]: %d, but %d is right\n", what, i, host[i],
			    wanted[i]);
			failures++;
			break;
		}
	free(host);
}

static void
check_routes(void)
{
	enum { T = 4, E = 5, TOP = 2 };
	static const float p[T * E] = { 0.1f, 0.4f, 0.2f, 0.25f, 0.05f, /* plain */
		0.2f, 0.2f, 0.2f, 0.2f, 0.2f,				/* all equal */
		0.3f, 0.1f, 0.1f, 0.4f, 0.1f,				/* */
		0.1f, 0.3f, 0.1f, 0.3f, 0.2f };
	static const int32_t chosen[] = { 1, 3, 0, 1, 0, 3, 1, 3 };
	static const int32_t offsets[] = { 0, 2, 5, 5, 8, 8 };
	static const int32_t slots[] = { 2, 4, 0, 3, 6, 1, 5, 7 };
	static const int32_t rows[] = { 1, 2, 0, 1, 3, 0, 2, 3 };
	static const double plain[] = { 0.4, 0.25, 0.2, 0.2, 0.3, 0.4, 0.3, 0.3 };
	int32_t zeros[T * TOP] = { 0 };
	int32_t *at = device_ints(zeros, T * TOP), *in_rows = device_ints(zeros, T * TOP);
	int32_t *in_slots = device_ints(zeros, T * TOP), *to = device_ints(zeros, E + 1);
	struct array *w = array_new(T * TOP), *all = array_new(T * E);

	nn_upload(all->at, p, sizeof p);
	nn_route(at, w->at, all->at, false, T, E, TOP);
	expect_ints("chosen", at, chosen, T * TOP);
	expect("weights", w->at, plain, T * TOP, 1e-7);
	nn_sort_by_expert(in_rows, in_slots, to, at, T, E, TOP);
	expect_ints("offsets", to, offsets, E + 1);
	expect_ints("slots", in_slots, slots, T * TOP);
	expect_ints("rows", in_rows, rows, T * TOP);
	nn_route(at, w->at, all->at, true, T, E, TOP);
	for (size_t i = 0; i < T * TOP; i++)
		w->ref[i] = plain[i] / (plain[i & ~1u] + plain[i | 1u]);
	expect("weights that sum to 1", w->at, w->ref, T * TOP, 1e-6);
	/* all NaN: still `top` experts, all in range */
	for (size_t i = 0; i < T * E; i++)
		all->ref[i] = NAN;
	array_upload(all);
	nn_route(at, w->at, all->at, false, T, E, TOP);
	static const int32_t first[] = { 0, 1, 0, 1, 0, 1, 0, 1 };
	expect_ints("chosen of NaN", at, first, T * TOP);
}

static void
check_rows(void)
{
	size_t R = 9, C = 70, n = R * C;
	struct array *x = array_random(n, 1), *by = array_random(R, 1), *y = array_new(n);
	struct array *dots = array_new(R);

	for (size_t i = 0; i < n; i++) {
		y->ref[i] = x->ref[i] * by->ref[i / C];
		dots->ref[i / C] += x->ref[i] * y->ref[i];
	}
	nn_copy(y->at, x->at, n);
	nn_scale_rows(y->at, by->at, R, C);
	expect("scaled rows", y->at, y->ref, n, 1e-7);
	nn_dot_rows(dots->at, x->at, y->at, R, C);
	expect("dots of rows", dots->at, dots->ref, R, 1e-6);
}

/* Mixtures. ------------------------------------------------------------------------ */

/* MLP: the parameters of all experts, in the order of enum mlp_parameter */
enum { Y, ROUTER, SUM_BIAS, MLP, INPUTS = MLP + MLP_PARAMETERS };

/* Kinds of MLPs: gated or plain, with biases of each expert or one of their sum, with down transposed; and a router with
 * a loss of its own. */
enum { GATED = 1, BIASES = 2, SUM = 4, TURNED = 8, PUSH = 16 };

struct sizes {
	size_t T, C, E, I, top;
	bool renormalize;
	int kind;
};

static double
silu(double x)
{
	return x / (1 + exp(-x));
}

/* The probabilities of token t. */
static void
route(double *p, struct array *const *in, const struct sizes *s, size_t t)
{
	double sum = 0;

	for (size_t e = 0; e < s->E; e++) {
		p[e] = 0;
		for (size_t c = 0; c < s->C; c++)
			p[e] += in[ROUTER]->ref[e * s->C + c] * in[Y]->ref[t * s->C + c];
		sum += p[e] = exp(p[e]);
	}
	for (size_t e = 0; e < s->E; e++)
		p[e] /= sum;
}

/* The indices of the `top` greatest, greatest first; returns the relative distance of the last of them from the next. */
static double
best(size_t *places, const double *p, const struct sizes *s)
{
	double last = 0, next = 0;

	for (size_t i = 0; i < s->top + 1; i++) {
		size_t place = s->E;
		for (size_t e = 0; e < s->E; e++) {
			bool taken = false;
			for (size_t j = 0; j < i; j++)
				taken |= places[j] == e;
			if (!taken && (place == s->E || p[e] > p[place]))
				place = e;
		}
		last = next;
		next = place < s->E ? p[place] : 0;
		places[i] = place;
	}
	return 1 - next / last;
}

/* Row `row` of a matrix [,C] times x, and its bias. */
static double
linear(const double *x, struct array *const *in, const struct sizes *s,
    enum mlp_parameter which, size_t row)
{
	double sum = s->kind & BIASES ? in[MLP + which + 1]->ref[row] : 0;

	for (size_t c = 0; c < s->C; c++)
		sum += x[c] * in[MLP + which]->ref[row * s->C + c];
	return sum;
}

static void
expert(double *y, const double *x, struct array *const *in, const struct sizes *s,
    size_t e, double weight)
{
	const double *down = in[MLP + MLP_DOWN]->ref;

	for (size_t i = 0; i < s->I; i++) {
		size_t row = e * s->I + i;
		double up = linear(x, in, s, MLP_UP, row);
		double inner = s->kind & GATED
				   ? up * silu(linear(x, in, s, MLP_GATE, row))
				   : silu(up);
		for (size_t c = 0; c < s->C; c++)
			y[c] += weight * inner *
				down[s->kind & TURNED ? row * s->C + c
						      : (e * s->C + c) * s->I + i];
	}
	for (size_t c = 0; c < s->C && s->kind & BIASES; c++)
		y[c] += weight * in[MLP + MLP_DOWN_BIAS]->ref[e * s->C + c];
}

/* [T,C], and then the probabilities [T,E]. */
static void
mixture(double *y, struct array *const *in, const void *sizes)
{
	const struct sizes *s = sizes;
	double *p = mem_new(s->E, sizeof *p);
	size_t *places = mem_new(s->top + 1, sizeof *places);

	memset(y, 0, s->T * s->C * sizeof *y);
	for (size_t t = 0; t < s->T; t++) {
		double sum = 0;
		route(p, in, s, t);
		if (best(places, p, s) < 1e-5)
			die("token %zu has two experts that are nearly as good", t);
		for (size_t i = 0; i < s->top; i++)
			sum += p[places[i]];
		for (size_t i = 0; i < s->top; i++)
			expert(y + t * s->C, in[Y]->ref + t * s->C, in, s, places[i],
			    p[places[i]] / (s->renormalize ? sum : 1));
		for (size_t c = 0; c < s->C && s->kind & SUM; c++)
			y[t * s->C + c] += in[SUM_BIAS]->ref[c];
		memcpy(y + s->T * s->C + t * s->E, p, s->E * sizeof *p);
	}
	free(p);
	free(places);
}

/* A mixture of these sizes, its parameters and its workspace. */
struct work {
	struct spec spec;
	struct array *in[INPUTS];
	struct nn_matrix (*experts)[MLP_PARAMETERS];
	float *(*gradients)[MLP_PARAMETERS];
	struct linear_pairs (*gates)[MLP_PARAMETERS]; /* none */
	struct linear_batch batch;
	struct mixture_weights weights;
	struct workspace workspace;
	struct mixture_state state;
	struct mixture_scratch scratch;
};

static void
lay_out(struct work *w, size_t T, bool keep)
{
	workspace_measure(&w->workspace);
	for (int pass = 0; pass < 2; pass++) {
		mixture_layout(&w->state, &w->workspace, &w->spec, T, keep);
		mixture_scratch_layout(&w->scratch, &w->workspace, &w->spec, T);
		if (pass == 0)
			workspace_ready(&w->workspace);
	}
}

/* Elements of a parameter of one expert; 0: there is none. */
static size_t
size_of(const struct work *w, int which)
{
	int64_t rows, columns;

	if (!spec_mixture_shape(&w->spec, (enum mlp_parameter)which, &rows, &columns))
		return 0;
	return (size_t)(rows * (columns ? columns : 1));
}

static struct work *
work_new(const struct sizes *s)
{
	struct work *w = mem_zero(1, sizeof *w);
	bool biases = s->kind & BIASES;

	w->spec.width = (int)s->C;
	w->spec.act = NN_SILU;
	w->spec.gated = s->kind & GATED;
	w->spec.mixture = (struct spec_mixture){ .count = (int)s->E,
		.top = (int)s->top,
		.inner = (int)s->I,
		.renormalize = s->renormalize,
		.shared_gate = true,
		.up_bias = biases,
		.down_bias = biases,
		.turned = s->kind & TURNED };
	w->in[Y] = array_random(s->T * s->C, 1);
	w->in[ROUTER] = array_random(s->E * s->C, 1);
	w->in[SUM_BIAS] = array_random(s->C, 1);
	w->experts = mem_zero(s->E, sizeof *w->experts);
	w->gradients = mem_zero(s->E, sizeof *w->gradients);
	w->gates = mem_zero(s->E, sizeof *w->gates);
	for (int i = 0; i < MLP_PARAMETERS; i++) {
		size_t n = size_of(w, i);
		w->in[MLP + i] = array_random(s->E * n, 0.5);
		for (size_t e = 0; e < s->E && n; e++)
			w->experts[e][i] = nn_f32(w->in[MLP + i]->at + e * n);
	}
	w->weights.router =
	    (struct linear){ .w = f32(w->in[ROUTER]), .C = s->C, .O = s->E };
	w->weights.pairs = (const struct linear_pairs(*)[MLP_PARAMETERS])w->gates;
	w->weights.batch = &w->batch;
	w->weights.bias = s->kind & SUM ? w->in[SUM_BIAS]->at : NULL;
	w->weights.experts = (const struct nn_matrix(*)[MLP_PARAMETERS])w->experts;
	return w;
}

static void
work_free(struct work *w)
{
	workspace_free(&w->workspace);
	free(w->experts);
	free(w->gradients);
	free(w->gates);
	free(w);
}

/* Gradients of the probabilities, for tokens that alternate between two sides; their sum is dp[T,E]. */
static struct mixture_balance
push_of(const struct sizes *s, double *dp)
{
	struct array *slopes = array_random(2 * s->E, 1);
	int32_t *sides = mem_new(s->T, sizeof *sides);

	for (size_t t = 0; t < s->T; t++) {
		sides[t] = t % 3 == 1;
		for (size_t e = 0; e < s->E; e++)
			dp[t * s->E + e] =
			    s->kind & PUSH ? slopes->ref[(size_t)sides[t] * s->E + e] : 0;
	}
	struct mixture_balance push = { s->kind & PUSH ? slopes->at : NULL,
		device_ints(sides, s->T) };
	free(sides);
	return push;
}

static void
check_backward(struct work *w, const struct sizes *s)
{
	static const char *const names[] = { "mixture dy", "mixture drouter",
		"mixture dbias of the sum", "mixture dup", "mixture dup bias",
		"mixture dgate", "mixture dgate bias", "mixture ddown",
		"mixture ddown bias" };
	struct operation o = { mixture, s, { NULL },
		array_random(s->T * (s->C + s->E), 1) };
	struct mixture_balance push = push_of(s, o.dy->ref + s->T * s->C);
	struct array *d[INPUTS], *again = array_of(s->T * s->C, 1);
	struct array *out = array_new(s->T * s->C);
	struct mixture_gradients gradients = { .experts = w->gradients }, none = { 0 };

	memcpy(o.in, w->in, sizeof w->in);
	for (int i = 0; i < INPUTS; i++)
		d[i] = array_of(w->in[i]->n, 1);
	w->weights.router.dw = d[ROUTER]->at;
	gradients.bias = s->kind & SUM ? d[SUM_BIAS]->at : NULL;
	for (size_t e = 0; e < s->E; e++)
		for (int i = 0; i < MLP_PARAMETERS; i++)
			if (size_of(w, i))
				w->gradients[e][i] = d[MLP + i]->at + e * size_of(w, i);
	mixture_backward(&w->spec, &w->weights, &gradients, d[Y]->at, o.dy->at,
	    w->in[Y]->at, &push, &w->state, &w->scratch, s->T);
	for (int i = 0; i < INPUTS; i++)
		if (i != SUM_BIAS || s->kind & SUM)
			expect_gradient(names[i], d[i]->at, &o, i, 1);
	/* without gradients of the parameters, as for adapters of other layers */
	w->weights.router.dw = NULL;
	mixture_forward(
	    &w->spec, &w->weights, out->at, NULL, w->in[Y]->at, &w->state, s->T);
	mixture_backward(&w->spec, &w->weights, &none, again->at, o.dy->at, w->in[Y]->at,
	    &push, &w->state, &w->scratch, s->T);
	expect_gradient("mixture dy alone", again->at, &o, Y, 1);
}

static void
mixture_case(const struct sizes *s, bool back)
{
	struct work *w = work_new(s);
	size_t n = s->T * s->C;
	struct array *out = array_new(n + s->T * s->E), *logits = array_new(s->T * s->E);
	struct array *p = array_new(s->T * s->E);

	mixture(out->ref, w->in, s);
	for (size_t t = 0; t < s->T; t++)
		route(p->ref + t * s->E, w->in, s, t);
	lay_out(w, s->T, false);
	mixture_forward(
	    &w->spec, &w->weights, out->at, NULL, w->in[Y]->at, &w->state, s->T);
	expect("mixture", out->at, out->ref, n, 1e-5);
	lay_out(w, s->T, true);
	mixture_forward(
	    &w->spec, &w->weights, out->at, logits->at, w->in[Y]->at, &w->state, s->T);
	expect("mixture, kept", out->at, out->ref, n, 1e-5);
	expect("mixture's probabilities", w->state.p, p->ref, s->T * s->E, 1e-6);
	nn_softmax(logits->at, logits->at, s->T, s->E);
	expect("softmax of mixture's logits", logits->at, p->ref, s->T * s->E, 1e-6);
	if (back)
		check_backward(w, s);
	work_free(w);
}

static void
check_mixture(void)
{
	static const int kinds[] = { GATED, 0, BIASES, GATED | BIASES, SUM | TURNED,
		GATED | SUM | TURNED, PUSH };

	for (int i = 0; i < 14; i++) {
		bool r = i % 2;
		int kind = kinds[i / 2];
		mixture_case(&(struct sizes){ 13, 6, 5, 4, 2, r, kind }, true);
		mixture_case(&(struct sizes){ 4, 5, 9, 3, 3, r, kind }, true);
		mixture_case(&(struct sizes){ 3, 5, 2, 7, 1, r, kind }, true);
		/* all experts, and more rows of one than a chunk has */
		mixture_case(&(struct sizes){ 5, 4, 3, 4, 3, r, kind }, true);
		mixture_case(&(struct sizes){ 1300, 8, 3, 5, 2, r, kind }, false);
		/* more experts than one grouped product has */
		mixture_case(&(struct sizes){ 300, 8, 300, 3, 2, r, kind }, false);
	}
}

/* A token gives the same bits alone and in every batch, with or without kept activations. */
static void
bits_case(int kind)
{
	struct sizes s = { 700, 40, 6, 24, 2, false, kind };
	struct work *w = work_new(&s);
	struct array *all = array_new(s.T * s.C), *some = array_new(s.T * s.C);

	lay_out(w, s.T, true);
	mixture_forward(
	    &w->spec, &w->weights, all->at, NULL, w->in[Y]->at, &w->state, s.T);
	for (size_t T = 1; T < s.T; T = T * 2 + 1) {
		lay_out(w, T, false);
		mixture_forward(&w->spec, &w->weights, some->at, NULL,
		    w->in[Y]->at + (s.T - T) * s.C, &w->state, T);
		expect_bits_of("mixture", some->at, all->at + (s.T - T) * s.C, T * s.C);
	}
	work_free(w);
}

static void
check_bits(void)
{
	bits_case(GATED);
	bits_case(SUM | TURNED);
}

/* Shares. -------------------------------------------------------------------------- */

/* in: inner [T,I], y [T,C], gate [C] */
static void
share(double *out, struct array *const *in, const void *sizes)
{
	const struct sizes *s = sizes;

	for (size_t t = 0; t < s->T; t++) {
		double logit = 0;
		for (size_t c = 0; c < s->C; c++)
			logit += in[1]->ref[t * s->C + c] * in[2]->ref[c];
		for (size_t i = 0; i < s->I; i++)
			out[t * s->I + i] = in[0]->ref[t * s->I + i] / (1 + exp(-logit));
	}
}

static void
check_share(void)
{
	struct sizes s = { 11, 6, 3, 5, 2, false, GATED };
	struct work *w = work_new(&s);
	struct array *inner = array_random(s.T * s.I, 1), *gate = array_random(s.C, 1);
	struct array *scaled = array_new(s.T * s.I), *dinner = array_new(s.T * s.I);
	struct array *dy = array_of(s.T * s.C, 1), *dgate = array_of(s.C, 1);
	struct operation o = { share, &s, { inner, w->in[Y], gate },
		array_random(s.T * s.I, 1) };
	struct linear to = { .w = f32(gate), .dw = dgate->at, .C = s.C, .O = 1 };
	struct linear_rows rows = { .batch = &w->batch };

	share(scaled->ref, o.in, &s);
	lay_out(w, s.T, true);
	nn_copy(scaled->at, inner->at, s.T * s.I);
	for (rows.first = 0; rows.first < s.T; rows.first += 4)
		mixture_share(&to, &rows, scaled->at + rows.first * s.I,
		    w->in[Y]->at + rows.first * s.C, &w->state,
		    s.T - rows.first < 4 ? s.T - rows.first : 4, s.I);
	rows.first = 0;
	expect("share", scaled->at, scaled->ref, s.T * s.I, 1e-6);
	nn_copy(dinner->at, o.dy->at, s.T * s.I);
	mixture_share_back(&to, &rows, dinner->at, dy->at, scaled->at, w->in[Y]->at,
	    &w->state, &w->scratch, s.T, s.I);
	expect_gradient("share dinner", dinner->at, &o, 0, 0);
	expect_gradient("share dy", dy->at, &o, 1, 1);
	expect_gradient("share dgate", dgate->at, &o, 2, 1);
	work_free(w);
}

static const struct check checks[] = {
	{ "softmax", check_softmax },
	{ "routes", check_routes },
	{ "rows", check_rows },
	{ "mixture", check_mixture },
	{ "bits", check_bits },
	{ "share", check_share },
};

int
main(int argc, char **argv)
{
	return check_main(argc, argv, checks, sizeof checks / sizeof *checks);
}
