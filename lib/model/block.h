/*
 * block - one transformer block, forward and backward, as a specification says.
 *
 * norms after the sums (BERT):		norms before the branches (ModernBERT, decoders):
 *	y = norm1(x + attention(x))		y = x + attention(norm1(x))
 *	z = norm2(y + mlp(y))			z = y + mlp(norm2(y))
 *
 * With spec.branch_norms, what attention and mlp give is normed before it is added (Gemma 3).
 * attention(u) = out(softmax(q k' scale) v), q and k normed and rotated as the model
 * has it; mlp(u) = down(up(u) act(gate(u))), or down(act(up(u))); or token experts
 * (mixture.h), alone or beside such an MLP.
 *
 * Letters as in nn.h; G = (H + 2 K) D, the columns of q, k and v side by side.
 * All arrays are in memory of the kernels.
 */
#ifndef MODEL_BLOCK_H
#define MODEL_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/linear.h"
#include "model/mixture.h"
#include "model/spec.h"
#include "model/workspace.h"

/* NULL: the model has no such parameter; of gradients: it is not wanted. */
struct block_weights {
	struct nn_matrix at[BLOCK_PARAMETERS];		   /* norms and biases are f32 */
	const struct nn_matrix (*mixture)[MLP_PARAMETERS]; /* [mixture.count] */
	/* what gates have beside them */
	struct linear_gates gates[BLOCK_PARAMETERS];
	const struct linear_gates (*mixture_gates)[MLP_PARAMETERS];
};
struct block_gradients {
	float *at[BLOCK_PARAMETERS];
	float *(*mixture)[MLP_PARAMETERS];
};

/* Rotary frequencies: inverse[D/2] for all sequences (stride 0), or a row for each of them,
 * `stride` apart. */
struct block_rotary {
	const float *inverse;
	size_t stride;
};

/* What the blocks of one pass share. */
struct block_batch {
	struct nn_sequences sequences;
	struct block_rotary rotary[SPEC_ROTARIES];
	const float *bias; /* of scores (nn_attention); NULL: none */
	float *dbias;	   /* as nn_attention_back adds to it; NULL: not wanted */
	struct mixture_push push;
	struct linear_batch gates;
};

/* Activations of one block; laid out for the backward, or for a forward that forgets: then
 * one state serves all blocks, and the input becomes the output in place. */
struct block_state {
	float *x;		  /* [T,C] the input, borrowed */
	float *entry, *stats1;	  /* [T,C], what attention reads, and norm1's [T,2] */
	float *raw, *qkv;	  /* [T,G], projected; q and k normed and rotated */
	float *stats_q, *stats_k; /* [T,H,2], [T,K,2], or [T,2] */
	float *attended;	  /* [T,H D] */
	float *lse;		  /* [T,H], or NULL */
	float *given1,
	    *given2; /* [T,C], [step,C], what attention and MLP give; with norms of their own: before them */
	float *stats_given1, *stats_given2; /* [T,2], of those norms */
	float *branch;			    /* [T,C], what is added to x */
	float *sum1;			    /* [T,C], x + branch */
	float *middle, *stats2;	  /* [T,C], what the MLP reads, and norm2's [T,2] */
	size_t step;		  /* rows of the MLP at a time; T when keeping */
	float *up, *gate, *inner; /* [step,I]; gate NULL in a plain MLP */
	float *sum2;		  /* [step,C], what is added to y, and the sum with it */
	struct mixture_state mixture;
	float *mixed;  /* [T,C], what the token experts give, or NULL */
	float *router; /* [T,E], receives the router's logits; NULL: not wanted */
	float *out;    /* [T,C] */
};

/* Scratch of the backward, shared by all blocks. */
struct block_scratch {
	float *dqkv;	  /* [T,G] */
	float *dattended; /* [T,H D] */
	float *dinner;	  /* [T,I] */
	float *dbranch;	  /* [T,C], or NULL with norms after and no token experts */
	float *dgiven;	  /* [T,C], or NULL without norms of what branches give */
	struct mixture_scratch mixture;
};

/* step 0: for the backward of block `layer`.  Else for every block (layer is not read), whose MLPs take so many rows at a
 * time: their inner activations then stay in the cache, and memory does not grow with the batch. */
void block_layout(struct block_state *state, struct workspace *workspace,
    const struct spec *spec, int layer, size_t T, float *x, size_t step);
void block_scratch_layout(struct block_scratch *scratch, struct workspace *workspace,
    const struct spec *spec, size_t T);

/* From state->x to state->out. */
void block_forward(const struct spec *spec, int layer,
    const struct block_weights *weights, const struct block_batch *batch,
    const struct block_state *state);

/* d[T,C] is d loss / d out, and becomes d loss / d x; gradients are added to.  The state
 * must have been kept, and is used up. */
void block_backward(const struct spec *spec, int layer,
    const struct block_weights *weights, const struct block_gradients *gradients,
    const struct block_batch *batch, const struct block_state *state,
    const struct block_scratch *scratch, float *d);

/* Floats that a token takes in all blocks that are kept, and in the scratch. */
size_t block_floats(const struct spec *spec);

#endif
