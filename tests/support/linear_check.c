/*
 * linear_check NAME... - compare linear layers with adapters (linear.h) with plain loops in double
 *
 * Every gradient is compared with central differences of the loops.  The masks of dropout come from nn_dropout, which has
 * checks of its own.
 */
#include "model/linear.h"
#include "nn_check.h"

enum { ADAPTERS = 3, C = 11, O = 7, WIDER = 9, BEFORE = 2 };
enum { X, W, BIAS, A0, B0, A2 = A0 + 2, B2, INPUTS };

/* Adapter 0 has rank 3, adapter 1 lacks this layer, adapter 2 has rank 5; two rows of B belong to another layer. */
static const size_t ranks[ADAPTERS] = { 3, 0, 5 };
static const float scales[ADAPTERS] = { 0.75f, 1, -1.5f };
static const struct linear_segment segments[] = { { 2, 4 }, { -1, 6 }, { 0, 7 }, { 1, 9 },
	{ 0, 640 }, { 2, 1300 } };

struct work {
	size_t T;
	const int32_t *tokens; /* the adapter of each row */
	int32_t *own;
	double *mask[ADAPTERS]; /* [T,C] */
	struct array *in[INPUTS], *d[INPUTS];
	struct linear_pair pairs[ADAPTERS];
	struct linear linear;
	struct workspace workspace;
	struct linear_batch batch;
	struct linear_rows rows;
};

static int
adapter_of(int32_t token)
{
	size_t i = 0;

	while (segments[i].end <= (size_t)token)
		i++;
	return segments[i].adapter;
}

/* y [T,O] */
static void
plain(double *y, struct array *const *in, const void *sizes)
{
	const struct work *w = sizes;

	for (size_t t = 0; t < w->T; t++) {
		int adapter = adapter_of(w->tokens[t]);
		size_t rank = adapter < 0 ? 0 : ranks[adapter];
		const double *x = in[X]->ref + t * C;
		for (size_t o = 0; o < O; o++) {
			double sum = in[BIAS]->ref[o];
			for (size_t c = 0; c < C; c++)
				sum += x[c] * in[W]->ref[o * C + c];
			for (size_t r = 0; r < rank; r++) {
				double low = 0;
				for (size_t c = 0; c < C; c++)
					low += x[c] * w->mask[adapter][t * C + c] *
					       in[A0 + adapter]->ref[r * C + c];
				sum += (double)scales[adapter] * low *
				       in[B0 + adapter]->ref[(o + BEFORE) * rank + r];
			}
			y[t * O + o] = sum;
		}
	}
}

/* Finds the masks as the dropout of ones. */
static void
find_masks(struct work *w)
{
	struct array *ones = array_of(w->T * C, 1);
	float *host = mem_new(w->T * C, sizeof *host);

	for (int adapter = 0; adapter < ADAPTERS; adapter++) {
		w->mask[adapter] = mem_new(w->T * C, sizeof **w->mask);
		nn_copy(ones->at, array_of(w->T * C, 1)->at, w->T * C);
		if (w->batch.keys)
			nn_dropout(ones->at, ones->at, C, w->batch.keys,
			    device_ints(w->tokens, w->T), w->pairs[adapter].salt,
			    w->batch.dropout, w->T, C);
		nn_download(host, ones->at, w->T * C * sizeof *host);
		for (size_t i = 0; i < w->T * C; i++)
			w->mask[adapter][i] = (double)host[i];
	}
	free(host);
}

static void
lay_out(struct work *w, size_t tokens, double dropout)
{
	uint64_t *keys = mem_new(tokens, sizeof *keys);

	for (size_t t = 0; t < tokens; t++)
		keys[t] = 1000 + t;
	workspace_measure(&w->workspace);
	linear_layout(&w->batch, &w->workspace, tokens, 5, C, dropout);
	workspace_ready(&w->workspace);
	linear_layout(&w->batch, &w->workspace, tokens, 5, C, dropout);
	if (w->batch.keys)
		nn_upload((void *)w->batch.keys, keys, tokens * sizeof *keys);
	free(keys);
}

/* All tokens, or a list of every third. */
static struct work *
work_new(size_t T, bool listed, double dropout)
{
	struct work *w = mem_zero(1, sizeof *w);
	size_t before = BEFORE;

	w->T = T;
	w->own = mem_new(T, sizeof *w->own);
	w->tokens = w->own;
	for (size_t t = 0; t < T; t++)
		w->own[t] = (int32_t)(listed ? 3 * t : t + before);
	w->in[X] = array_random(T * C, 1);
	w->in[W] = array_random(O * C, 1);
	w->in[BIAS] = array_random(O, 1);
	for (int adapter = 0; adapter < ADAPTERS; adapter += 2) {
		w->in[A0 + adapter] = array_random(ranks[adapter] * C, 1);
		w->in[B0 + adapter] = array_random(ranks[adapter] * WIDER, 1);
	}
	for (int i = 0; i < INPUTS; i++)
		w->d[i] = w->in[i] ? array_of(w->in[i]->n, 1) : NULL;
	for (int adapter = 0; adapter < ADAPTERS; adapter++)
		w->pairs[adapter] =
		    ranks[adapter] ? (struct linear_pair){ f32(w->in[A0 + adapter]),
			    f32(w->in[B0 + adapter]), ranks[adapter], scales[adapter],
			    w->d[A0 + adapter]->at, w->d[B0 + adapter]->at,
			    77 + (uint64_t)adapter }
				   : (struct linear_pair){ 0 };
	w->linear = (struct linear){ f32(w->in[W]), w->in[BIAS]->at, w->d[W]->at,
		w->d[BIAS]->at, { w->pairs, BEFORE }, C, O };
	lay_out(w, 1300, dropout);
	w->batch.segments = segments;
	w->batch.count = sizeof segments / sizeof *segments;
	w->rows = (struct linear_rows){ &w->batch, listed ? 0 : before,
		listed ? w->tokens : NULL, listed ? device_ints(w->tokens, T) : NULL };
	find_masks(w);
	return w;
}

static void
work_free(struct work *w)
{
	for (int adapter = 0; adapter < ADAPTERS; adapter++)
		free(w->mask[adapter]);
	workspace_free(&w->workspace);
	free(w->own);
	free(w);
}

static void
check_case(size_t T, bool listed, double dropout, bool back)
{
	struct work *w = work_new(T, listed, dropout);
	struct operation o = { plain, w, { NULL }, array_random(T * O, 1) };
	struct array *y = array_new(T * O), *dx = array_of(T * C, 1),
		     *again = array_new(T * C);

	memcpy(o.in, w->in, sizeof w->in);
	plain(y->ref, o.in, w);
	linear_forward(&w->linear, &w->rows, y->at, O, w->in[X]->at, C, T);
	expect("y", y->at, y->ref, T * O, 1e-5);
	if (!back) {
		work_free(w);
		return;
	}
	linear_back(&w->linear, &w->rows, dx->at, true, o.dy->at, O, w->in[X]->at, C, T);
	expect_gradient("dx", dx->at, &o, X, 1);
	expect_gradient("dw", w->d[W]->at, &o, W, 1);
	expect_gradient("dbias", w->d[BIAS]->at, &o, BIAS, 1);
	expect_gradient("da of rank 3", w->d[A0]->at, &o, A0, 1);
	expect_gradient("db of rank 3", w->d[B0]->at, &o, B0, 1);
	expect_gradient("da of rank 5", w->d[A2]->at, &o, A2, 1);
	expect_gradient("db of rank 5", w->d[B2]->at, &o, B2, 1);
	/* in two calls, as an MLP of token experts does */
	struct linear only = w->linear;
	only.dw = only.db = NULL;
	for (int i = A0; i < INPUTS; i++)
		if (w->d[i])
			nn_copy(w->d[i]->at, array_of(w->d[i]->n, 1)->at, w->d[i]->n);
	linear_back(&only, &w->rows, again->at, false, o.dy->at, O, NULL, C, T);
	expect_gradient("dx alone", again->at, &o, X, 0);
	linear_back(&only, &w->rows, NULL, false, o.dy->at, O, w->in[X]->at, C, T);
	expect_gradient("da alone", w->d[A2]->at, &o, A2, 1);
	expect_gradient("db alone", w->d[B2]->at, &o, B2, 1);
	work_free(w);
}

static void
check_adapters(void)
{
	check_case(12, false, 0, true);
	check_case(1, false, 0, true);
	check_case(13, true, 0, true);
	check_case(1298, false, 0, false);
	check_case(430, true, 0, false);
}

static void
check_dropout(void)
{
	check_case(12, false, 0.4, true);
	check_case(13, true, 0.4, true);
	check_case(1298, false, 0.4, false);
}

/* A row's bits do not depend on the adapters of other rows; without an adapter they equal the plain layer's. */
static void
check_bits(void)
{
	struct work *w = work_new(1298, false, 0);
	struct array *y = array_new(w->T * O), *some = array_new(w->T * O);
	size_t first = 0;

	linear_forward(&w->linear, &w->rows, y->at, O, w->in[X]->at, C, w->T);
	for (size_t i = 0; i < w->batch.count; i++) {
		size_t end = segments[i].end - BEFORE;
		struct linear_segment one = { segments[i].adapter, end - first };
		struct linear_batch batch = w->batch;
		struct linear_rows rows = { .batch = &batch };
		batch.segments = &one;
		batch.count = one.adapter >= 0;
		linear_forward(&w->linear, &rows, some->at + first * O, O,
		    w->in[X]->at + first * C, C, end - first);
		first = end;
	}
	expect_same("rows by adapter", some, y);
	/* B of zeros */
	for (int adapter = 0; adapter < ADAPTERS; adapter += 2)
		nn_zero(w->in[B0 + adapter]->at, w->in[B0 + adapter]->n);
	linear_forward(&w->linear, &w->rows, y->at, O, w->in[X]->at, C, w->T);
	nn_linear(some->at, O, w->in[X]->at, C, w->linear.w, w->linear.bias, w->T, C, O);
	expect_same("B of zeros", y, some);
	work_free(w);
}

/* Checks the share that dropout zeroes, the scale of the rest, and that keys, salts and columns determine the mask. */
static void
check_share(void)
{
	enum { R = 400, COLUMNS = 250, N = R * COLUMNS };
	struct array *x = array_of(N, 2), *y = array_new(N), *other = array_new(N);
	uint64_t *host = mem_new(R, sizeof *host), *keys = nn_alloc(R * sizeof *keys);
	float *got = mem_new(N, sizeof *got), *more = mem_new(N, sizeof *more);
	double both = 0, left = 0;

	for (size_t r = 0; r < R; r++)
		host[r] = 5 + r;
	nn_upload(keys, host, R * sizeof *keys);
	nn_dropout(y->at, x->at, COLUMNS, keys, NULL, 1, 0.25, R, COLUMNS);
	nn_dropout(other->at, x->at, COLUMNS, keys, NULL, 2, 0.25, R, COLUMNS);
	nn_download(got, y->at, N * sizeof *got);
	nn_download(more, other->at, N * sizeof *more);
	for (size_t i = 0; i < N; i++) {
		if (got[i] != 0)
			expect_value("what is kept", (double)got[i], 2 / 0.75, 1e-6);
		left += got[i] == 0;
		both += got[i] == 0 && more[i] == 0;
	}
	/* four standard deviations */
	expect_value("share left out", left / N, 0.25, 0.0045);
	expect_value("share left out of both", both / N, 0.0625, 0.003);
	for (size_t c = 0; c < COLUMNS; c++) {
		double rows = 0;
		for (size_t r = 0; r < R; r++)
			rows += got[r * COLUMNS + c] == 0;
		expect_value("share of a column", rows / R, 0.25, 0.09);
	}
	nn_dropout(other->at, x->at, COLUMNS, keys, NULL, 1, 0.25, R, COLUMNS);
	expect_same("dropped again", other, y);
	nn_free(keys, R * sizeof *keys);
	free(host);
	free(got);
	free(more);
}

static const struct check checks[] = {
	{ "adapters", check_adapters },
	{ "dropout", check_dropout },
	{ "bits", check_bits },
	{ "share", check_share },
};

int
main(int argc, char **argv)
{
	return check_main(argc, argv, checks, sizeof checks / sizeof *checks);
}
