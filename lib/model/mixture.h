/*
 * mixture - token experts: a router sends each token to the `top` best of `count` MLPs.
 *
 *	p = softmax(router y)			over all experts
 *	out = sum over the top e of w[e] mlp_e(y) + bias,	w[e] = p[e], divided by the sum
 *		of those chosen when the model renormalizes
 *
 * (Shazeer et al. 2017, with the softmax before the choice, as OLMoE, Qwen2-MoE, DeepSeekMoE
 * and nomic-embed-text-v2-moe have it; only the last has the bias.)  Of equal probabilities the lower expert is taken; a token's experts
 * add up in ascending order, so that its bits do not depend on its batch.  Tokens are grouped
 * by expert: one product for each expert and matrix, however many tokens it has, those of several experts at once where
 * that is quicker (nn_linear_grouped).
 *
 * The shared experts of Qwen2-MoE and DeepSeekMoE are one dense MLP beside these (block.h);
 * mixture_share weighs it where the model has a gate for it.
 *
 * Letters as in nn.h; E experts, I their inner channels.  All arrays are in memory of the
 * kernels.
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

/* What a forward leaves; laid out for the backward, or for a forward that forgets. */
struct mixture_state {
	float *p;	       /* [T,E] the router's probabilities */
	float *weights;	       /* [T,top], then in the order of `rows` */
	int32_t *chosen;       /* [T,top] */
	int32_t *rows, *slots; /* [T top] by expert, as of nn_sort_by_expert */
	int32_t *offsets;      /* [E + 1] */
	bool keep;
	size_t step; /* rows of an expert at a time */
	float *up,
	    *gate;    /* [T top,I] by expert; forgetting: [step,I]; gate NULL without */
	float *inner; /* [step,I] */
	float *x, *y; /* [step,C] */
	float *logit, *share; /* [T] of mixture_share; NULL without such a gate */
};

/* What a loss of the router's own adds to d loss / d p: slopes[sides[t],E] for token t. */
struct mixture_push {
	const float *slopes;  /* NULL: there is none */
	const int32_t *sides; /* [T] */
};

/* Scratch of the backward, shared by all blocks. */
struct mixture_scratch {
	float *dp;     /* [T,E] */
	float *push;   /* [T,E] */
	float *dw;     /* [T top] */
	float *dinner; /* [step,I] */
};

void mixture_layout(struct mixture_state *state, struct workspace *workspace,
    const struct spec *spec, size_t T, bool keep);
void mixture_scratch_layout(struct mixture_scratch *scratch, struct workspace *workspace,
    const struct spec *spec, size_t T);

/* out[T,C] overwritten; it is not y.  logits[T,E], when not NULL, receives the router's; their
 * softmax stays in state->p.  (Routing weights are an embedding: Li and Zhou 2024, MoEE.) */
void mixture_forward(const struct spec *spec, const struct mixture_weights *weights,
    float *out, float *logits, const float *y, const struct mixture_state *state,
    size_t T);

/* dy[T,C] += d loss / d y; gradients are added to.  The state must have been kept, and is used
 * up.  dy is not dout. */
void mixture_backward(const struct spec *spec, const struct mixture_weights *weights,
    const struct mixture_gradients *gradients, float *dy, const float *dout,
    const float *y, const struct mixture_push *push, const struct mixture_state *state,
    const struct mixture_scratch *scratch, size_t T);

/* A dense MLP times sigmoid(gate . y), gate to [1]: its inner[T,I] are scaled, which its down
 * projection, without bias, passes on.  The rows are tokens rows->first .. + T - 1 of the batch; inner
 * and y are at the first of them. */
void mixture_share(const struct linear *gate, const struct linear_rows *rows,
    float *inner, const float *y, const struct mixture_state *state, size_t T, size_t I);

/* All T tokens; `inner` as mixture_share left it.  dinner, the gradient of that, becomes the
 * one of what it was before; the gate's and dy are added to. */
void mixture_share_back(const struct linear *gate, const struct linear_rows *rows,
    float *dinner, float *dy, const float *inner, const float *y,
    const struct mixture_state *state, const struct mixture_scratch *scratch, size_t T,
    size_t I);

#endif
