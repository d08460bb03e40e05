/* The MLP of a block, plain or gated, its token experts, and the way back. */
#include "model/block_internal.h"

/* The shared experts of a mixture may count less or more, token by token. */
static bool
weighed(const struct block *block)
{
	return block->weights->at[BLOCK_SHARED_GATE].at;
}

void
block_mlp(const struct block *block, float *branch, size_t first, size_t T)
{
	const struct block_state *s = block->state;
	const struct nn_matrix *at = block->weights->at;
	size_t C = block->n.C, I = block->n.I;
	enum nn_act act = block->spec->act;
	const float *y = s->middle + first * C;

	if (!block->spec->gated && !s->stats2) { /* nobody asks for what was before act */
		nn_linear_activate(s->inner, I, y, C, at[BLOCK_UP],
		    vector(at, BLOCK_UP_BIAS), act, T, C, I);
	} else {
		nn_linear(
		    s->up, I, y, C, at[BLOCK_UP], vector(at, BLOCK_UP_BIAS), T, C, I);
		if (block->spec->gated) {
			nn_linear(s->gate, I, y, C, at[BLOCK_GATE],
			    vector(at, BLOCK_GATE_BIAS), T, C, I);
			nn_gate(s->inner, s->up, s->gate, I, act, T, I);
		} else {
			nn_activate(s->inner, s->up, act, T * I);
		}
	}
	if (weighed(block))
		mixture_share(
		    at[BLOCK_SHARED_GATE], s->inner, y, &s->mixture, first, T, C, I);
	nn_linear(
	    branch, C, s->inner, I, at[BLOCK_DOWN], vector(at, BLOCK_DOWN_BIAS), T, I, C);
}

void
block_mlp_back(const struct block *block, const struct block_gradients *gradients,
    const struct block_scratch *scratch, float *dx, const float *d)
{
	const struct block_state *s = block->state;
	const struct nn_matrix *at = block->weights->at;
	float *const *g = gradients->at, *dup = scratch->dinner;
	size_t T = block->batch->T, C = block->n.C, I = block->n.I;
	enum nn_act act = block->spec->act;

	nn_linear_back(scratch->dinner, false, g[BLOCK_DOWN], g[BLOCK_DOWN_BIAS], d, C,
	    s->inner, I, at[BLOCK_DOWN], T, I, C);
	if (weighed(block))
		mixture_share_back(at[BLOCK_SHARED_GATE], g[BLOCK_SHARED_GATE],
		    scratch->dinner, dx, s->inner, s->middle, &s->mixture,
		    &scratch->mixture, T, C, I);
	if (block->spec->gated) {
		dup = s->up;
		nn_gate_back(
		    s->up, s->gate, scratch->dinner, s->up, s->gate, I, act, T, I);
		nn_linear_back(dx, true, g[BLOCK_GATE], g[BLOCK_GATE_BIAS], s->gate, I,
		    s->middle, C, at[BLOCK_GATE], T, C, I);
	} else {
		nn_activate_back(dup, dup, s->up, act, T * I);
	}
	nn_linear_back(dx, true, g[BLOCK_UP], g[BLOCK_UP_BIAS], dup, I, s->middle, C,
	    at[BLOCK_UP], T, C, I);
}

void
block_mixture(const struct block *block)
{
	const struct block_state *s = block->state;
	struct mixture_weights weights = { block->weights->at[BLOCK_ROUTER],
		block->weights->experts };

	mixture_forward(block->spec, &weights, s->mixed, s->router, s->middle,
	    &s->mixture, block->batch->T);
}

void
block_mixture_back(const struct block *block, const struct block_gradients *gradients,
    const struct block_scratch *scratch, float *dx, const float *d)
{
	const struct block_state *s = block->state;
	struct mixture_weights weights = { block->weights->at[BLOCK_ROUTER],
		block->weights->experts };
	struct mixture_gradients wanted = { gradients->at[BLOCK_ROUTER],
		gradients->experts };

	mixture_backward(block->spec, &weights, &wanted, dx, d, s->middle, &s->mixture,
	    &scratch->mixture, block->batch->T);
}
