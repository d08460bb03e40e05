/*
 * mixture - token experts: a router sends each token to `top` of `count` MLPs.
 *
 *	p = softmax(router y)			over all experts
 *	out = sum over the top e of w[e] mlp_e(y) + bias,	w[e] = p[e]; with `renormalize`
 *		divided by the sum of the chosen ones
 *
 * Shazeer et al. 2017, with the softmax before the choice as in OLMoE, Qwen2-MoE, DeepSeekMoE and nomic-embed-text-v2-moe; only
 * the last has the bias.  Between equal probabilities the lower expert wins.  A token's experts are summed in ascending order, so
 * that its bits do not depend on its batch.  Tokens are grouped by expert: one product for each expert and matrix, several
 * experts at once where that is quicker.
 *
 * The shared experts of Qwen2-MoE and DeepSeekMoE are one dense MLP beside these (block.h); where the model has a gate for
 * them, mixture_share weighs it.
 *
 * Letters as in nn.h; E experts, I their inner channels.  All arrays are in memory of the kernels.
 */
#ifndef MODEL_MIXTURE_H
#define MODEL_MIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/linear.h"
#include "model/spec.h"
#include "model/workspace.h"

struct mixture_weights {
	struct linear router;				    /* to [E] */
	const float *bias;				    /* [C], or NULL */
	const struct nn_matrix (*experts)[MLP_PARAMETERS];  /* [E] */
	const struct linear_pairs (*pairs)[MLP_PARAMETERS]; /* [E] */
	const struct linear_batch *batch;
};

/* NULL: not wanted. */
struct mixture_gradients {
	float *bias;
	float *(*experts)[MLP_PARAMETERS];
};

/* Arrays of a forward pass.  keep: a backward pass follows, which reads them; else each block overwrites them. */
struct mixture_state {
	float *p; /* [T,E] the router's probabilities */
	float *
	    weights; /* [T top], in the order of `rows`; behind it [T,top], in that of tokens */
	int32_t *chosen;       /* [T,top] */
	int32_t *rows, *slots; /* [T top] sorted by expert, as of nn_sort_by_expert */
	int32_t *offsets;      /* [E + 1] */
	bool keep;
	size_t step; /* rows of an expert at a time */
	float *up,
	    *gate; /* [T top,I] sorted by expert; without keep [step,I]; gate NULL in a plain MLP */
	float *inner;	      /* [step,I]; without keep it is up */
	float *x, *y;	      /* [step,C] */
	float *logit, *share; /* [T] of mixture_share; NULL without such a gate */
};

/* The gradient of the balance loss (balance.h), which is added to d loss / d p: gradients[sides[t],E] for token t. */
struct mixture_balance {
	const float *gradients; /* NULL: none */
	const int32_t *sides;	/* [T] */
};

/* Scratch of the backward pass, one for all blocks. */
struct mixture_scratch {
	float *dp;	 /* [T,E] */
	float *dbalance; /* [T,E] */
	float *dw;	 /* [T top] */
	float *dinner;	 /* [step,I] */
};

void mixture_layout(struct mixture_state *state, struct workspace *workspace,
    const struct spec *spec, size_t T, bool keep);
void mixture_scratch_layout(struct mixture_scratch *scratch, struct workspace *workspace,
    const struct spec *spec, size_t T);

/* From the router's logits[T,E], which may be state->p: p, chosen, rows, slots, offsets, and the weights in the order of tokens. */
void mixture_choose(const struct spec *spec, const struct mixture_state *state,
    const float *logits, size_t T);

/* out[T,C] overwritten; it is not y.  logits[T,E], unless NULL, receives the router's; their softmax stays in state->p (routing
 * weights as an embedding: Li and Zhou 2024, MoEE). */
void mixture_forward(const struct spec *spec, const struct mixture_weights *weights,
    float *out, float *logits, const float *y, const struct mixture_state *state,
    size_t T);

/* dy[T,C] += d loss / d y; gradients are added to.  dy is not dout.  The state, of a forward pass with keep, is overwritten. */
void mixture_backward(const struct spec *spec, const struct mixture_weights *weights,
    const struct mixture_gradients *gradients, float *dy, const float *dout,
    const float *y, const struct mixture_balance *balance,
    const struct mixture_state *state, const struct mixture_scratch *scratch, size_t T);

/* A dense MLP times sigmoid(gate . y), gate to [1]: scales its inner[T,I], which its down projection, without bias, passes on.
 * The rows are tokens rows->first .. + T - 1 of the batch, at which inner and y begin. */
void mixture_share(const struct linear *gate, const struct linear_rows *rows,
    float *inner, const float *y, const struct mixture_state *state, size_t T, size_t I);

/* The same backward, all T tokens: dinner, the gradient of the scaled inner, becomes that of inner before; the gradients of the
 * gate and dy are added to. */
void mixture_share_back(const struct linear *gate, const struct linear_rows *rows,
    float *dinner, float *dy, const float *inner, const float *y,
    const struct mixture_state *state, const struct mixture_scratch *scratch, size_t T,
    size_t I);

#endif
