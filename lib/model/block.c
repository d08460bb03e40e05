#include "model/block.h"

#include "model/block_internal.h"

/* Rows that the MLP takes at a time when nothing is kept: its inner activations then stay
 * in the cache, and memory does not grow with the batch. */
enum { STEP = 512 };

struct sizes
block_sizes(const struct spec *spec, int layer)
{
	size_t H = (size_t)spec->heads, K = (size_t)spec->kv_heads;
	size_t D = (size_t)spec->head_size;

	return (struct sizes){ .C = (size_t)spec->width,
		.H = H,
		.K = K,
		.D = D,
		.Q = H * D,
		.KV = K * D,
		.G = (H + 2 * K) * D,
		.I = (size_t)spec->layer[layer].inner };
}

/* Of the layer that takes most. */
static struct sizes
largest(const struct spec *spec)
{
	struct sizes n = block_sizes(spec, 0);

	for (int i = 1; i < spec->layers; i++)
		if ((size_t)spec->layer[i].inner > n.I)
			n.I = (size_t)spec->layer[i].inner;
	return n;
}

/* For a forward that forgets: the input is overwritten, branches have scratch. */
static void
layout_once(struct block_state *state, struct workspace *workspace,
    const struct spec *spec, size_t T)
{
	struct sizes n = largest(spec);

	state->step = T < STEP ? T : STEP;
	state->raw = state->qkv = workspace_floats(workspace, T, n.G);
	state->attended = workspace_floats(workspace, T, n.Q);
	state->branch = workspace_floats(workspace, T, n.C);
	state->up = workspace_floats(workspace, state->step, n.I);
	if (spec->gated)
		state->gate = workspace_floats(workspace, state->step, n.I);
	state->inner = state->up;
	state->sum2 = workspace_floats(workspace, state->step, n.C);
	if (spec->mixture.count) {
		mixture_layout(&state->mixture, workspace, spec, T, false);
		state->mixed = workspace_floats(workspace, T, n.C);
	}
	state->entry = state->middle = spec->prenorm ? state->branch : state->x;
	state->sum1 = state->out = state->x;
}

static void
layout_kept(struct block_state *state, struct workspace *workspace,
    const struct spec *spec, int layer, size_t T)
{
	struct sizes n = block_sizes(spec, layer);

	state->step = T;
	state->entry = spec->prenorm && spec->layer[layer].norm1
			   ? workspace_floats(workspace, T, n.C)
			   : state->x;
	state->stats1 = workspace_floats(workspace, T, 2);
	state->raw = state->qkv = workspace_floats(workspace, T, n.G);
	if (spec->qk_norm != SPEC_QK_PLAIN) {
		state->raw = workspace_floats(workspace, T, n.G);
		state->stats_q = workspace_floats(workspace, T, 2 * n.H);
		state->stats_k = workspace_floats(workspace, T, 2 * n.K);
	}
	state->attended = workspace_floats(workspace, T, n.Q);
	state->lse = workspace_floats(workspace, T, n.H);
	state->branch = state->sum1 = workspace_floats(workspace, T, n.C);
	state->middle = workspace_floats(workspace, T, n.C);
	state->stats2 = workspace_floats(workspace, T, 2);
	state->up = workspace_floats(workspace, T, n.I);
	if (spec->gated)
		state->gate = workspace_floats(workspace, T, n.I);
	state->inner = workspace_floats(workspace, T, n.I);
	state->out = workspace_floats(workspace, T, n.C);
	state->sum2 = spec->prenorm ? state->out : workspace_floats(workspace, T, n.C);
	if (spec->layer[layer].mixture) {
		mixture_layout(&state->mixture, workspace, spec, T, true);
		state->mixed = n.I ? workspace_floats(workspace, T, n.C) : state->sum2;
	}
}

void
block_layout(struct block_state *state, struct workspace *workspace,
    const struct spec *spec, int layer, size_t T, float *x, bool keep)
{
	*state = (struct block_state){ .x = x };
	if (keep)
		layout_kept(state, workspace, spec, layer, T);
	else
		layout_once(state, workspace, spec, T);
}

void
block_scratch_layout(struct block_scratch *scratch, struct workspace *workspace,
    const struct spec *spec, size_t T)
{
	struct sizes n = largest(spec);

	*scratch = (struct block_scratch){ 0 };
	scratch->dqkv = workspace_floats(workspace, T, n.G);
	scratch->dattended = workspace_floats(workspace, T, n.Q);
	scratch->dinner = workspace_floats(workspace, T, n.I);
	if (spec->prenorm || spec->mixture.count)
		scratch->dbranch = workspace_floats(workspace, T, n.C);
	if (spec->mixture.count)
		mixture_scratch_layout(&scratch->mixture, workspace, spec, T);
}

/* Measured on one block of 16 tokens, whose pieces are whole cache lines. */
size_t
block_floats(const struct spec *spec)
{
	struct workspace workspace = { 0 };
	struct block_state state;
	struct block_scratch scratch;

	workspace_measure(&workspace);
	for (int layer = 0; layer < spec->layers; layer++)
		block_layout(&state, &workspace, spec, layer, 16, NULL, true);
	block_scratch_layout(&scratch, &workspace, spec, 16);
	return workspace.used / 16 / sizeof(float);
}

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
	    vector(block->weights->at, which), block->spec->norm, block->batch->T,
	    block->n.C);
}

/* The MLP of rows first .. first + T - 1 and the sum with it. */
static void
second_half(const struct block *block, size_t first, size_t T)
{
	const struct block_state *s = block->state;
	size_t at = first * block->n.C, n = T * block->n.C;
	float *branch = block->n.I ? s->sum2 : s->mixed + at;
	bool keep = s->stats2;

	if (block->n.I)
		block_mlp(block, branch, first, T);
	if (block->n.I && block->layer->mixture)
		nn_add(branch, s->mixed + at, n);
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
	size_t T = batch->T;

	if (!spec->layer[layer].norm1)
		own.entry = s->x;
	else if (spec->prenorm)
		norm(&block, BLOCK_NORM1, s->entry, NULL, s->stats1, s->x, NULL, T);
	block_attend(&block, s->branch);
	if (spec->prenorm)
		norm(&block, BLOCK_NORM2, s->middle, s->sum1, s->stats2, s->x, s->branch,
		    T);
	else
		norm(&block, BLOCK_NORM1, s->middle, s->stats1 ? s->sum1 : NULL,
		    s->stats1, s->x, s->branch, T);
	if (spec->layer[layer].mixture)
		block_mixture(&block);
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
	size_t n = block->batch->T * block->n.C;

	norm_back(block, gradients, BLOCK_NORM2, d, s->sum2, s->stats2);
	if (block->layer->mixture) {
		nn_zero(branch, n);
		block_mixture_back(block, gradients, scratch, branch, d);
	}
	if (block->n.I)
		block_mlp_back(block, gradients, scratch, d, d);
	if (block->layer->mixture)
		nn_add(d, branch, n);
	norm_back(block, gradients, BLOCK_NORM1, d, s->sum1, s->stats1);
	block_attend_back(block, gradients, scratch, d, true, d);
}

/* The branches' gradients go through their norms before they join. */
static void
backward_before(const struct block *block, const struct block_gradients *gradients,
    const struct block_scratch *scratch, float *d)
{
	const struct block_state *s = block->state;
	float *branch = scratch->dbranch;
	size_t n = block->batch->T * block->n.C;

	nn_zero(branch, n);
	if (block->n.I)
		block_mlp_back(block, gradients, scratch, branch, d);
	if (block->layer->mixture)
		block_mixture_back(block, gradients, scratch, branch, d);
	norm_back(block, gradients, BLOCK_NORM2, branch, s->sum1, s->stats2);
	nn_add(d, branch, n);
	if (!block->layer->norm1) {
		block_attend_back(block, gradients, scratch, d, true, d);
		return;
	}
	block_attend_back(block, gradients, scratch, branch, false, d);
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
