/* The memory of a block: what it keeps for its backward, or for a forward that forgets. */
#include "model/block_internal.h"

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
    const struct spec *spec, size_t T, size_t step)
{
	struct sizes n = largest(spec);

	state->step = T < step ? T : step;
	state->raw = state->qkv = workspace_floats(workspace, T, n.G);
	state->attended = workspace_floats(workspace, T, n.Q);
	state->branch = workspace_floats(workspace, T, n.C);
	state->up = workspace_floats(workspace, state->step, n.I);
	if (spec->gated)
		state->gate = workspace_floats(workspace, state->step, n.I);
	state->inner = state->up;
	state->sum2 = workspace_floats(workspace, state->step, n.C);
	state->given1 = state->branch;
	state->given2 = state->sum2;
	if (spec->mixture.count) {
		mixture_layout(&state->mixture, workspace, spec, T, false);
		state->mixed = workspace_floats(workspace, T, n.C);
	}
	state->entry = state->middle = spec->prenorm ? state->branch : state->x;
	state->sum1 = state->out = state->x;
}

/* What branches give is kept where it is normed. */
static void
layout_given(struct block_state *state, struct workspace *workspace,
    const struct spec *spec, size_t T, size_t C)
{
	state->given1 = state->branch;
	state->given2 = state->sum2;
	if (!spec->branch_norms)
		return;
	state->given1 = workspace_floats(workspace, T, C);
	state->given2 = workspace_floats(workspace, T, C);
	state->stats_given1 = workspace_floats(workspace, T, 2);
	state->stats_given2 = workspace_floats(workspace, T, 2);
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
	layout_given(state, workspace, spec, T, n.C);
	if (spec->layer[layer].mixture) {
		mixture_layout(&state->mixture, workspace, spec, T, true);
		state->mixed = n.I ? workspace_floats(workspace, T, n.C) : state->given2;
	}
}

void
block_layout(struct block_state *state, struct workspace *workspace,
    const struct spec *spec, int layer, size_t T, float *x, size_t step)
{
	*state = (struct block_state){ .x = x };
	if (step)
		layout_once(state, workspace, spec, T, step);
	else
		layout_kept(state, workspace, spec, layer, T);
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
	if (spec->branch_norms)
		scratch->dgiven = workspace_floats(workspace, T, n.C);
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
		block_layout(&state, &workspace, spec, layer, 16, NULL, 0);
	block_scratch_layout(&scratch, &workspace, spec, 16);
	return workspace.used / 16 / sizeof(float);
}
