/*
 * block_check - compare the backward of a block with central differences of its forward, for every place of the norms and
 * every kind of MLP, and the forward of inference with that of training
 */
#include "model/block.h"
#include "nn_check.h"

enum { T = 9, N = 2, MOST = 48 };

/* A block, its workspace, and the values to perturb. */
struct work {
	struct spec spec;
	struct block_weights weights;
	struct block_gradients gradients;
	struct nn_matrix experts[4][MLP_PARAMETERS];
	float *dexperts[4][MLP_PARAMETERS];
	struct linear_pairs pairs[4][MLP_PARAMETERS]; /* none */
	struct array *values[MOST], *found[MOST], *x, *dout;
	int count;
	struct block_batch batch;
	struct workspace workspace;
	struct block_buffers buffers;
	struct block_activations activations;
	struct block_scratch scratch;
};

static const struct nn_matrix *
add(struct work *w, size_t n, double mean, float **gradient)
{
	static struct nn_matrix matrix;
	struct array *x = array_random(n, 0.5);

	for (size_t i = 0; i < n; i++)
		x->ref[i] += mean;
	array_upload(x);
	w->values[w->count] = x;
	w->found[w->count] = array_new(n);
	*gradient = w->found[w->count++]->at;
	matrix = f32(x);
	return &matrix;
}

static struct work *
work_new(bool prenorm, int experts, int inner, bool shared_gate, bool plain, bool branch)
{
	static const int32_t starts[] = { 0, 4, T };
	struct work *w = mem_zero(1, sizeof *w);
	int64_t rows, columns;

	w->spec = (struct spec){ .layers = 1,
		.width = 8,
		.heads = 2,
		.kv_heads = 1,
		.head_size = 4,
		.prenorm = prenorm,
		.norm = NN_LAYERNORM,
		.norm_bias = true,
		.branch_norms = branch,
		.norm_eps = 1e-5f,
		.act = NN_SILU,
		.gated = !plain,
		.qkv_bias = true,
		.up_bias = plain,
		.down_bias = plain,
		.mixture = { .count = experts,
		    .top = 2,
		    .inner = 5,
		    .shared_gate = shared_gate,
		    .up_bias = plain,
		    .down_bias = plain,
		    .bias = plain },
		.layer = { { .norm1 = true, .inner = inner, .mixture = experts > 0 } } };
	for (int i = 0; i < BLOCK_PARAMETERS; i++)
		if (spec_block_shape(
			&w->spec, 0, (enum block_parameter)i, &rows, &columns))
			w->weights.at[i] =
			    *add(w, (size_t)(rows * (columns ? columns : 1)),
				i == BLOCK_NORM1 || i == BLOCK_NORM2 ||
				    i == BLOCK_OUT_NORM || i == BLOCK_DOWN_NORM,
				&w->gradients.at[i]);
	for (int e = 0; e < experts; e++)
		for (int i = 0; i < MLP_PARAMETERS; i++)
			if (spec_mixture_shape(
				&w->spec, (enum mlp_parameter)i, &rows, &columns))
				w->experts[e][i] =
				    *add(w, (size_t)(rows * (columns ? columns : 1)), 0,
					&w->dexperts[e][i]);
	w->weights.mixture = (const struct nn_matrix(*)[MLP_PARAMETERS])w->experts;
	w->weights.mixture_pairs = (const struct linear_pairs(*)[MLP_PARAMETERS])w->pairs;
	w->gradients.mixture = w->dexperts;
	w->x = array_random(T * 8, 1);
	w->dout = array_random(T * 8, 1);
	w->batch = (struct block_batch){ .sequences = sequences_at(starts, N) };
	return w;
}

/* Lays out the block's arrays; `in` is its input. */
static void
layout(struct work *w, bool keep, struct array *in)
{
	nn_copy(in->at, w->x->at, T * 8);
	workspace_measure(&w->workspace);
	for (int pass = 0; pass < 2; pass++) {
		if (keep)
			block_activations_layout(
			    &w->activations, &w->workspace, &w->spec, 0, T, in->at);
		else
			block_buffers_layout(
			    &w->buffers, &w->workspace, &w->spec, T, in->at, 128);
		block_scratch_layout(&w->scratch, &w->workspace, &w->spec, T);
		if (pass == 0)
			workspace_ready(&w->workspace);
	}
}

/* sum(out * dout) */
static double
loss(struct work *w, bool keep)
{
	struct array *in = array_new(T * 8);
	float out[T * 8];
	double sum = 0;

	layout(w, keep, in);
	if (keep)
		block_forward(&w->spec, 0, &w->weights, &w->batch, &w->activations);
	else
		block_infer(&w->spec, 0, &w->weights, &w->batch, &w->buffers, NULL);
	nn_download(out, keep ? w->activations.out : w->buffers.x, sizeof out);
	for (size_t i = 0; i < T * 8; i++)
		sum += (double)out[i] * w->dout->ref[i];
	return sum;
}

/* Compares the gradient with the central difference of the loss along a random direction. */
static void
expect_slope(struct work *w, const char *what, struct array *x, const float *gradient)
{
	const double step = 1e-3;
	double slope = 0, difference = 0;
	double *from = mem_new(x->n, sizeof *from), *by = mem_new(x->n, sizeof *by);
	float *host = mem_new(x->n, sizeof *host);

	nn_download(host, gradient, x->n * sizeof *host);
	memcpy(from, x->ref, x->n * sizeof *from);
	for (size_t i = 0; i < x->n; i++) {
		by[i] = rng_normal(&chance);
		slope += by[i] * (double)host[i];
	}
	for (int side = -1; side <= 1; side += 2) {
		for (size_t i = 0; i < x->n; i++)
			x->ref[i] = from[i] + side * step * by[i];
		array_upload(x);
		difference += side * loss(w, true) / (2 * step);
	}
	memcpy(x->ref, from, x->n * sizeof *from);
	array_upload(x);
	expect_value(what, slope, difference, 6e-3);
	free(from);
	free(by);
	free(host);
}

/* One token of each sequence computed alone has the same bits as among all tokens. */
static void
expect_pooled(struct work *w)
{
	static const int32_t tokens[] = { 3, 0 }, rows[] = { 3, 4 },
			     starts[] = { 0, 1, 2 };
	struct array *all = array_new(T * 8), *in = array_new(T * 8),
		     *x = array_new(N * 8), *attended = array_new(N * 8);
	struct block_pooled pooled = { .tokens = device_ints(tokens, N),
		.rows = device_ints(rows, N),
		.starts = device_ints(starts, N + 1),
		.batch = { .sequences = sequences_at(starts, N) },
		.x = x->at,
		.attended = attended->at };

	layout(w, false, all);
	block_infer(&w->spec, 0, &w->weights, &w->batch, &w->buffers, NULL);
	layout(w, false, in);
	block_infer(&w->spec, 0, &w->weights, &w->batch, &w->buffers, &pooled);
	for (int i = 0; i < N; i++)
		expect_bits_of("pooled", x->at + i * 8, all->at + rows[i] * 8, 8);
}

static void
check(bool prenorm, int experts, int inner, bool shared_gate, bool plain, bool branch)
{
	struct work *w = work_new(prenorm, experts, inner, shared_gate, plain, branch);
	struct array *d = array_new(T * 8);
	char what[128];

	expect_pooled(w);
	double forgets = loss(w, false), keeps = loss(w, true);
	snprintf(what, sizeof what, "%s, norms %s%s, %d experts, MLP of %d",
	    plain ? "plain" : "gated", prenorm ? "before" : "after",
	    branch ? " and of branches" : "", experts, inner);
	expect_value(what, forgets, keeps, 1e-6);
	nn_copy(d->at, w->dout->at, T * 8);
	block_backward(&w->spec, 0, &w->weights, &w->gradients, &w->batch,
	    &w->activations, &w->scratch, d->at);
	size_t end = strlen(what);
	for (int i = 0; i < w->count; i++) {
		snprintf(what + end, sizeof what - end, ", parameter %d", i);
		expect_slope(w, what, w->values[i], w->found[i]->at);
	}
	snprintf(what + end, sizeof what - end, ", input");
	expect_slope(w, what, w->x, d->at);
	workspace_free(&w->workspace);
	free(w);
}

static void
check_after(void)
{
	check(false, 0, 6, false, false, false);
	check(false, 4, 0, false, false, false);
	check(false, 4, 6, false, false, false);
	check(false, 4, 6, true, false, false);
	check(false, 0, 6, false, true, false);
	check(false, 4, 0, false, true, false);
	check(false, 0, 6, false, false, true);
	check(false, 4, 6, true, false, true);
}

static void
check_before(void)
{
	check(true, 0, 6, false, false, false);
	check(true, 4, 0, false, false, false);
	check(true, 4, 6, false, false, false);
	check(true, 4, 6, true, false, false);
	check(true, 4, 0, false, true, false);
	check(true, 0, 6, false, false, true);
	check(true, 4, 0, false, false, true);
	check(true, 4, 6, true, false, true);
}

static const struct check checks[] = { { "after", check_after },
	{ "before", check_before } };

int
main(int argc, char **argv)
{
	return check_main(argc, argv, checks, sizeof checks / sizeof *checks);
}
