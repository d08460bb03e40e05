#include <math.h>

#include "model/block_internal.h"
#include "model/mlp.h"

/* A norm's weight or a bias. */
static const float *
vector(const struct nn_matrix *at, enum block_parameter which)
{
	return at[which].at;
}

/* One block in one pass. */
struct block {
	const struct spec *spec;
	const struct spec_layer *layer;
	const struct block_weights *weights;
	const struct block_batch *batch;
	const struct block_state *state;
	struct sizes n;
};

/* Attention: projections, norms of q and k, rotation. ----------------------------- */

/* As the kernel takes it. */
static float
attention_scale(const struct spec *spec, int rotary)
{
	double own = spec->rotaries ? spec->rotary[rotary].attention : 0;

	if (own == 0)
		return spec->attention_scale;
	return (float)(own * (spec->attention_scale != 0 ? (double)spec->attention_scale
							 : 1 / sqrt(spec->head_size)));
}

static struct nn_attention
attention_of(const struct block *block)
{
	const struct sizes *n = &block->n;
	const struct nn_matrix *q = &block->weights->at[BLOCK_Q];

	return (struct nn_attention){ .sequences = block->batch->sequences,
		.H = n->H,
		.K = n->K,
		.D = n->D,
		.ldq = n->G,
		.ldkv = n->G,
		.causal = block->spec->causal,
		.window = (size_t)block->layer->window,
		.scale = attention_scale(block->spec, block->layer->rotary),
		.bias = block->batch->bias,
		/* as the products of the layers around it */
		.rounded = q->rounded || (q->packed && q->dtype == DTYPE_BF16) };
}

static void
rotate(const struct block *block, float *qkv, int direction)
{
	const struct block_batch *batch = block->batch;
	const struct sizes *n = &block->n;

	if (!block->spec->rotaries)
		return;
	const struct block_rotary *rotary = &batch->rotary[block->layer->rotary];
	nn_rotary(qkv, n->G, rotary->inverse, rotary->stride, &batch->sequences, n->H,
	    n->D, direction);
	nn_rotary(qkv + n->Q, n->G, rotary->inverse, rotary->stride, &batch->sequences,
	    n->K, n->D, direction);
}

/* How q and k are normed: as so many stretches of so many columns. */
struct stretches {
	size_t heads, columns;
};

static struct stretches
stretches_of(const struct block *block, size_t heads)
{
	size_t D = block->n.D;

	return block->spec->qk_norm == SPEC_QK_ALL ? (struct stretches){ 1, heads * D }
						   : (struct stretches){ heads, D };
}

static void
norm_heads(const struct block *block)
{
	const struct block_state *s = block->state;
	const struct nn_matrix *at = block->weights->at;
	struct stretches q = stretches_of(block, block->n.H);
	struct stretches k = stretches_of(block, block->n.K);
	size_t T = block->batch->sequences.T, G = block->n.G, Q = block->n.Q;
	float eps = block->spec->norm_eps;

	if (block->spec->qk_norm == SPEC_QK_PLAIN)
		return;
	nn_norm_heads(s->qkv, G, s->stats_q, s->raw, G, vector(at, BLOCK_Q_NORM), eps,
	    block->spec->norm, T, q.heads, q.columns);
	nn_norm_heads(s->qkv + Q, G, s->stats_k, s->raw + Q, G, vector(at, BLOCK_K_NORM),
	    eps, block->spec->norm, T, k.heads, k.columns);
}

static void
norm_heads_back(
    const struct block *block, const struct block_gradients *gradients, float *dqkv)
{
	const struct block_state *s = block->state;
	const struct nn_matrix *at = block->weights->at;
	struct stretches q = stretches_of(block, block->n.H);
	struct stretches k = stretches_of(block, block->n.K);
	size_t T = block->batch->sequences.T, G = block->n.G, Q = block->n.Q;

	if (block->spec->qk_norm == SPEC_QK_PLAIN)
		return;
	nn_norm_heads_back(dqkv, gradients->at[BLOCK_Q_NORM], dqkv, G, s->raw, G,
	    s->stats_q, vector(at, BLOCK_Q_NORM), block->spec->norm, T, q.heads,
	    q.columns);
	nn_norm_heads_back(dqkv + Q, gradients->at[BLOCK_K_NORM], dqkv + Q, G, s->raw + Q,
	    G, s->stats_k, vector(at, BLOCK_K_NORM), block->spec->norm, T, k.heads,
	    k.columns);
}

/* A layer from C channels to O; gradients NULL: none are wanted. */
static struct linear
layer(const struct block *block, const struct block_gradients *gradients,
    enum block_parameter which, size_t C, size_t O)
{
	return (struct linear){ .w = block->weights->at[which],
		.bias = vector(block->weights->at, which + 1),
		.dw = gradients ? gradients->at[which] : NULL,
		.db = gradients ? gradients->at[which + 1] : NULL,
		.gates = block->weights->gates[which],
		.C = C,
		.O = O };
}

/* The projections to q, k and v, or to all of them at once; how many there are. */
static int
projections(struct linear to[3], const struct block *block,
    const struct block_gradients *gradients)
{
	const struct sizes *n = &block->n;

	to[0] = layer(block, gradients, BLOCK_Q, n->C, block->spec->fused ? n->G : n->Q);
	if (block->spec->fused)
		return 1;
	to[1] = layer(block, gradients, BLOCK_K, n->C, n->KV);
	to[2] = layer(block, gradients, BLOCK_V, n->C, n->KV);
	return 3;
}

static struct linear_rows
all_rows(const struct block *block)
{
	return (struct linear_rows){ .batch = &block->batch->gates };
}

/* branch[T,C] = out(attention(entry)) */
static void
attend(const struct block *block, float *branch)
{
	const struct block_state *s = block->state;
	const struct sizes *n = &block->n;
	struct nn_attention a = attention_of(block);
	struct linear to[3], out = layer(block, NULL, BLOCK_OUT, n->Q, n->C);
	struct linear_rows rows = all_rows(block);
	size_t T = block->batch->sequences.T;
	float *raw = s->raw;

	for (int i = 0, count = projections(to, block, NULL); i < count; raw += to[i++].O)
		linear_forward(&to[i], &rows, raw, n->G, s->entry, n->C, T);
	norm_heads(block);
	rotate(block, s->qkv, 1);
	nn_attention(
	    s->attended, s->lse, s->qkv, s->qkv + n->Q, s->raw + n->Q + n->KV, &a);
	linear_forward(&out, &rows, branch, n->C, s->attended, n->Q, T);
}

/* From the gradient d[T,C] of the branch to that of the entry: dx[T,C] = (or += when add);
 * dx may be d when it adds. */
static void
attend_back(const struct block *block, const struct block_gradients *gradients,
    const struct block_scratch *scratch, float *dx, bool add, const float *d)
{
	const struct block_state *s = block->state;
	const struct sizes *n = &block->n;
	struct nn_attention a = attention_of(block);
	struct linear to[3], out = layer(block, gradients, BLOCK_OUT, n->Q, n->C);
	struct linear_rows rows = all_rows(block);
	size_t T = block->batch->sequences.T;
	float *from = scratch->dqkv;

	linear_back(
	    &out, &rows, scratch->dattended, false, d, n->C, s->attended, n->Q, T);
	nn_attention_back(from, from + n->Q, from + n->Q + n->KV, block->batch->dbias,
	    scratch->dattended, s->attended, s->lse, s->qkv, s->qkv + n->Q,
	    s->raw + n->Q + n->KV, &a);
	rotate(block, from, -1);
	norm_heads_back(block, gradients, from);
	for (int i = 0, count = projections(to, block, gradients); i < count;
	     from += to[i++].O)
		linear_back(&to[i], &rows, dx, add || i, from, n->G, s->entry, n->C, T);
}

/* The MLP, plain or gated, and token experts. ------------------------------------- */

/* What weighs the shared experts of a mixture token by token, where the model has it. */
static struct linear
share_of(const struct block *block, const struct block_gradients *gradients)
{
	struct linear gate = layer(block, gradients, BLOCK_SHARED_GATE, block->n.C, 1);

	gate.bias = gate.db = NULL; /* what follows it is no bias */
	return gate;
}

static struct mlp
mlp_of(const struct block *block, const struct block_gradients *gradients, size_t first)
{
	return (struct mlp){ .at = block->weights->at + BLOCK_UP,
		.gradients = gradients ? gradients->at + BLOCK_UP : NULL,
		.gates = block->weights->gates + BLOCK_UP,
		.rows = { .batch = &block->batch->gates, .first = first },
		.act = block->spec->act,
		.gated = block->spec->gated,
		.C = block->n.C,
		.I = block->n.I };
}

/* branch[T,C] = mlp(middle) for rows first .. first + T - 1. */
static void
mlp(const struct block *block, float *branch, size_t first, size_t T)
{
	const struct block_state *s = block->state;
	struct mlp mlp = mlp_of(block, NULL, first);
	struct linear share = share_of(block, NULL);
	const float *y = s->middle + first * mlp.C;

	mlp_inner(&mlp, s->inner, s->up, s->gate, y, T);
	if (share.w.at)
		mixture_share(&share, &mlp.rows, s->inner, y, &s->mixture, T, mlp.I);
	mlp_out(&mlp, branch, s->inner, T);
}

/* As attend_back, of all rows; dx is added to. */
static void
mlp_back(const struct block *block, const struct block_gradients *gradients,
    const struct block_scratch *scratch, float *dx, const float *d)
{
	const struct block_state *s = block->state;
	struct mlp mlp = mlp_of(block, gradients, 0);
	struct linear share = share_of(block, gradients);
	float *dinner = scratch->dinner;
	size_t T = block->batch->sequences.T;

	mlp_out_back(&mlp, dinner, d, T);
	mlp_out_gradients(&mlp, d, s->inner, T);
	if (share.w.at)
		mixture_share_back(&share, &mlp.rows, dinner, dx, s->inner, s->middle,
		    &s->mixture, &scratch->mixture, T, mlp.I);
	mlp_inner_back(&mlp, dx, true, dinner, s->up, s->gate, s->middle, T);
}

/* Token experts and their router, which has no bias. */
static struct mixture_weights
mixture_of(const struct block *block, const struct block_gradients *gradients)
{
	const struct block_weights *weights = block->weights;
	struct mixture_weights made = { .router = layer(block, gradients, BLOCK_ROUTER,
					    block->n.C,
					    (size_t)block->spec->mixture.count),
		.bias = vector(weights->at, BLOCK_MIXTURE_BIAS),
		.experts = weights->mixture,
		.gates = weights->mixture_gates,
		.batch = &block->batch->gates };

	made.router.bias = made.router.db = NULL;
	return made;
}

/* state->mixed = the token experts of middle, all rows. */
static void
mix(const struct block *block)
{
	const struct block_state *s = block->state;
	struct mixture_weights weights = mixture_of(block, NULL);

	mixture_forward(block->spec, &weights, s->mixed, s->router, s->middle,
	    &s->mixture, block->batch->sequences.T);
}

/* As mlp_back; dx is not d. */
static void
mix_back(const struct block *block, const struct block_gradients *gradients,
    const struct block_scratch *scratch, float *dx, const float *d)
{
	const struct block_state *s = block->state;
	struct mixture_weights weights = mixture_of(block, gradients);
	struct mixture_gradients wanted = { gradients->at[BLOCK_MIXTURE_BIAS],
		gradients->mixture };

	mixture_backward(block->spec, &weights, &wanted, dx, d, s->middle,
	    &block->batch->push, &s->mixture, &scratch->mixture,
	    block->batch->sequences.T);
}

/* The block. ---------------------------------------------------------------------- */

/* y = norm(s), s = x + r; the places of a norm's two parameters follow each other. */
static void
norm(const struct block *block, enum block_parameter which, float *y, float *s,
    float *stats, const float *x, const float *r, size_t T)
{
	const struct nn_matrix *at = block->weights->at;

	nn_norm(y, s, stats, x, r, vector(at, which), vector(at, which + 1),
	    block->spec->norm_eps, block->spec->norm, T, block->n.C);
}

static void
norm_back(const struct block *block, const struct block_gradients *gradients,
    enum block_parameter which, float *d, const float *s, const float *stats)
{
	nn_norm_back(d, gradients->at[which], gradients->at[which + 1], d, s, stats,
	    vector(block->weights->at, which), block->spec->norm,
	    block->batch->sequences.T, block->n.C);
}

/* What a branch gives, normed where the model has it; T rows. */
static float *
normed(const struct block *block, enum block_parameter which, float *to, float *stats,
    float *given, size_t T)
{
	if (!block->spec->branch_norms)
		return given;
	nn_norm(to, NULL, stats, given, NULL, vector(block->weights->at, which), NULL,
	    block->spec->norm_eps, block->spec->norm, T, block->n.C);
	return to;
}

/* From the gradient of what joins to that of what the branch gives. */
static const float *
normed_back(const struct block *block, const struct block_gradients *gradients,
    const struct block_scratch *scratch, enum block_parameter which, const float *d,
    const float *given, const float *stats)
{
	if (!block->spec->branch_norms)
		return d;
	nn_norm_back(scratch->dgiven, gradients->at[which], NULL, d, given, stats,
	    vector(block->weights->at, which), block->spec->norm,
	    block->batch->sequences.T, block->n.C);
	return scratch->dgiven;
}

/* The MLP of rows first .. first + T - 1 and the sum with it. */
static void
second_half(const struct block *block, size_t first, size_t T)
{
	const struct block_state *s = block->state;
	size_t at = first * block->n.C, n = T * block->n.C;
	float *given = block->n.I ? s->given2 : s->mixed + at;
	bool keep = s->stats2;

	if (block->n.I)
		mlp(block, given, first, T);
	if (block->n.I && block->layer->mixture)
		nn_add(given, s->mixed + at, n);
	float *branch = normed(
	    block, BLOCK_DOWN_NORM, keep ? s->sum2 : given, s->stats_given2, given, T);
	if (!block->spec->prenorm)
		norm(block, BLOCK_NORM2, s->out + at, keep ? s->sum2 : NULL, s->stats2,
		    s->middle + at, branch, T);
	else if (keep)
		nn_add(branch, s->sum1, n);
	else
		nn_add(s->out + at, branch, n);
}

void
block_forward(const struct spec *spec, int layer, const struct block_weights *weights,
    const struct block_batch *batch, const struct block_state *s)
{
	struct block_state own = *s; /* of this block, where one state serves all */
	struct block block = { spec, &spec->layer[layer], weights, batch, &own,
		block_sizes(spec, layer) };
	size_t T = batch->sequences.T;

	if (!spec->layer[layer].norm1)
		own.entry = s->x;
	else if (spec->prenorm)
		norm(&block, BLOCK_NORM1, s->entry, NULL, s->stats1, s->x, NULL, T);
	attend(&block, s->given1);
	normed(&block, BLOCK_OUT_NORM, s->branch, s->stats_given1, s->given1, T);
	if (spec->prenorm)
		norm(&block, BLOCK_NORM2, s->middle, s->sum1, s->stats2, s->x, s->branch,
		    T);
	else
		norm(&block, BLOCK_NORM1, s->middle, s->stats1 ? s->sum1 : NULL,
		    s->stats1, s->x, s->branch, T);
	if (spec->layer[layer].mixture)
		mix(&block);
	for (size_t first = 0; first < T; first += s->step)
		second_half(&block, first, T - first < s->step ? T - first : s->step);
}

/* The branch joins what goes past it, and then both go through the norm. */
static void
backward_after(const struct block *block, const struct block_gradients *gradients,
    const struct block_scratch *scratch, float *d)
{
	const struct block_state *s = block->state;
	float *branch = scratch->dbranch;
	size_t n = block->batch->sequences.T * block->n.C;

	norm_back(block, gradients, BLOCK_NORM2, d, s->sum2, s->stats2);
	const float *given = normed_back(
	    block, gradients, scratch, BLOCK_DOWN_NORM, d, s->given2, s->stats_given2);
	if (block->layer->mixture) {
		nn_zero(branch, n);
		mix_back(block, gradients, scratch, branch, given);
	}
	if (block->n.I)
		mlp_back(block, gradients, scratch, d, given);
	if (block->layer->mixture)
		nn_add(d, branch, n);
	norm_back(block, gradients, BLOCK_NORM1, d, s->sum1, s->stats1);
	given = normed_back(
	    block, gradients, scratch, BLOCK_OUT_NORM, d, s->given1, s->stats_given1);
	attend_back(block, gradients, scratch, d, true, given);
}

/* The branches' gradients go through their norms before they join. */
static void
backward_before(const struct block *block, const struct block_gradients *gradients,
    const struct block_scratch *scratch, float *d)
{
	const struct block_state *s = block->state;
	float *branch = scratch->dbranch;
	size_t n = block->batch->sequences.T * block->n.C;

	const float *given = normed_back(
	    block, gradients, scratch, BLOCK_DOWN_NORM, d, s->given2, s->stats_given2);
	nn_zero(branch, n);
	if (block->n.I)
		mlp_back(block, gradients, scratch, branch, given);
	if (block->layer->mixture)
		mix_back(block, gradients, scratch, branch, given);
	norm_back(block, gradients, BLOCK_NORM2, branch, s->sum1, s->stats2);
	nn_add(d, branch, n);
	given = normed_back(
	    block, gradients, scratch, BLOCK_OUT_NORM, d, s->given1, s->stats_given1);
	if (!block->layer->norm1) {
		attend_back(block, gradients, scratch, d, true, given);
		return;
	}
	attend_back(block, gradients, scratch, branch, false, given);
	norm_back(block, gradients, BLOCK_NORM1, branch, s->x, s->stats1);
	nn_add(d, branch, n);
}

void
block_backward(const struct spec *spec, int layer, const struct block_weights *weights,
    const struct block_gradients *gradients, const struct block_batch *batch,
    const struct block_state *s, const struct block_scratch *scratch, float *d)
{
	struct block block = { spec, &spec->layer[layer], weights, batch, s,
		block_sizes(spec, layer) };

	if (spec->prenorm)
		backward_before(&block, gradients, scratch, d);
	else
		backward_after(&block, gradients, scratch, d);
}
