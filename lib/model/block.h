/*
 * block - one transformer block, as a specification says.
 *
 * norms after the sums (BERT):		norms before the branches (ModernBERT, decoders):
 *	y = norm1(x + attention(x))		y = x + attention(norm1(x))
 *	z = norm2(y + mlp(y))			z = y + mlp(norm2(y))
 *
 * attention(u) = out(softmax(q k' scale) v), q and k normed and rotated as the model has it.
 * mlp(u) = down(up(u) act(gate(u))), or down(act(up(u))); or token experts (mixture.h), alone or beside such an MLP.
 * In training there may be dropout of attention's weights and output, of the input of `down`, and of the MLP's output (dropout.h).
 * With spec.branch_norms the outputs of attention and MLP are normed before they are added (Gemma 3).
 * Per-layer embeddings (layer_embedding.h) are added last.
 *
 * block_infer overwrites one struct block_buffers, which serves all blocks.  block_forward fills a struct block_activations of
 * the block, which block_backward reads.  Both compute the same values.
 *
 * Letters as in nn.h; G = (H + 2 K) D, the columns of q, k and v side by side; I inner channels of the dense MLP.  All arrays
 * are f32 in memory of the kernels.
 */
#ifndef MODEL_BLOCK_H
#define MODEL_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/dropout.h"
#include "model/linear.h"
#include "model/mixture.h"
#include "model/spec.h"
#include "model/workspace.h"

/* The parameters; at NULL: the model has none such. */
struct block_weights {
	struct nn_matrix at[BLOCK_PARAMETERS];		   /* norms and biases are f32 */
	const struct nn_matrix (*mixture)[MLP_PARAMETERS]; /* [mixture.count] */
	/* LoRA pairs beside them */
	struct linear_pairs pairs[BLOCK_PARAMETERS];
	const struct linear_pairs (*mixture_pairs)[MLP_PARAMETERS];
};
/* Their gradients, which are added to; NULL: not wanted. */
struct block_gradients {
	float *at[BLOCK_PARAMETERS];
	float *(*mixture)[MLP_PARAMETERS];
};

/* Rotary frequencies: inverse[D/2] for all sequences (stride 0), or a row for each sequence, `stride` apart. */
struct block_rotary {
	const float *inverse;
	size_t stride;
};

/* The batch, as all blocks of a pass take it. */
struct block_batch {
	struct nn_sequences sequences;
	struct block_rotary rotary[SPEC_ROTARIES];
	const float *bias; /* of scores (nn_attention); NULL: none */
	/* disentangled attention: q' and k' of all blocks (model_struct.h), rows of nn_relative; NULL: none */
	const float *relative;
	const int32_t *relative_rows;
	float *dbias; /* nn_attention_back adds to it; NULL: not wanted */
	struct mixture_balance balance;
	struct linear_batch adapters;
	struct batch_dropout dropout;
};

/* One token of each sequence; inference may compute the last block's output for these tokens alone (pooled.h). */
struct block_pooled {
	int32_t *tokens; /* [N], counted from the sequence's first; NULL: all rows */
	int32_t *rows;	 /* [N], of x[T,C] */
	int32_t *starts; /* [N + 1]: 0, 1, 2, ... */
	struct block_batch batch; /* N sequences of one token */
	float *x, *attended;	  /* [N,C], [N,H D] */
};

/* Arrays of attention, and of an MLP for some rows. */
struct attention_buffers {
	float *raw; /* [T,G], q, k and v as projected */
	float *qkv; /* [T,G], q and k normed and rotated, and v if it is normed */
	float *stats_q,
	    *stats_k;	 /* [T,H,2], [T,K,2], or [T,2], of the norms of q and k */
	float *stats_v;	 /* [T,K,2], of the norm of v; NULL: it has none */
	float *attended; /* [T,H D] */
	float *lse;	 /* [T,H], log of the sum of exponentials */
};
struct mlp_buffers {
	float *up, *gate; /* [rows,I]; gate NULL in a plain MLP */
	float *inner;	  /* [rows,I], input of down */
};

/* Arrays of per-layer embeddings (layer_embedding.h), P channels; NULL: there are none. */
struct layer_embedding_buffers {
	const float *embedded;	 /* [T,C], what enters the first block */
	float *in, *stats_in;	 /* [T,P] without its factor; [T,2], of its norm */
	float *u, *gate, *inner; /* [T,P] each; inner: input of out */
	float *out, *stats_out;	 /* [T,C]; [T,2], of its norm */
};

/* Inference: memory that each block overwrites. */
struct block_buffers {
	float *x; /* [T,C] hidden states: input, then output; borrowed */
	float
	    *branch; /* [T,C] output of attention; with norms before also the normed x */
	struct attention_buffers attention; /* raw is qkv; stats_q, stats_k, lse NULL */
	size_t step;		/* rows of the MLP at a time: they stay in the cache */
	struct mlp_buffers mlp; /* [step,I]; inner is up */
	float *mlp_out;		/* [step,C] */
	struct mixture_state mixture;
	float *mixed;  /* [T,C] output of the token experts; NULL: there are none */
	float *router; /* [T,E] receives the router's logits; NULL: not wanted */
	/* per-layer embeddings: [T,C], what enters the first block; NULL: none */
	float *embedded;
	/* [step,.]; u and inner are in, out is mlp_out; without stats */
	struct layer_embedding_buffers layer;
	float *
	    energy; /* [T,E] receives the squared length of each neuron expert's part of `inner`; NULL: not wanted */
};

/* Training: what the backward pass of one block reads. */
struct block_activations {
	float *x; /* [T,C] input, borrowed */
	float *attention_in,
	    *stats1; /* [T,C] norm1 of x; x with norms after; [T,2], norm1's */
	struct attention_buffers attention; /* raw is qkv if q and k have no norm */
	float *attention_out,
	    *stats_attention_out; /* [T,C], [T,2] of its norm; without such it is sum1 */
	float *sum1;		  /* [T,C] x + attention */
	float *mlp_in, *stats2;	  /* [T,C] y, or norm2 of it; [T,2], norm2's */
	struct mlp_buffers mlp;	  /* [T,I] */
	struct mixture_state mixture;
	float *mixed; /* [T,C] of the token experts; mlp_out if there is no dense MLP */
	float *mlp_out,
	    *stats_mlp_out; /* [T,C], [T,2] of its norm; without such it is sum2 */
	/* [T,C] y + mlp; with norms before it is out, unless per-layer embeddings are added */
	float *sum2;
	struct layer_embedding_buffers layer;
	float *out; /* [T,C] */
};

/* Scratch of the backward pass, one for all blocks. */
struct block_scratch {
	float *dqkv;	  /* [T,G] */
	float *dattended; /* [T,H D] */
	float *dinner;	  /* [T,I] */
	float *dbranch;	  /* [T,C]; NULL with norms after and no token experts */
	float *dgiven;	  /* [T,C]; NULL without branch_norms and dropout */
	/* per-layer embeddings: [T,P] each; [T,C], of the embeddings, which all blocks add to */
	float *dlayer_inner, *dlayer_u, *dlayer_gate, *dembedded;
	struct mixture_scratch mixture;
};

/* Inference: buffers of T rows for every block, whose MLPs take `step` rows at a time; x[T,C] is the first block's input. */
void block_buffers_layout(struct block_buffers *buffers, struct workspace *workspace,
    const struct spec *spec, size_t T, float *x, size_t step);
/* pooled NULL: overwrites buffers->x; else fills pooled->x alone. */
void block_infer(const struct spec *spec, int layer, const struct block_weights *weights,
    const struct block_batch *batch, const struct block_buffers *buffers,
    const struct block_pooled *pooled);

/* Training, of block `layer`: from x to activations->out. */
void block_activations_layout(struct block_activations *activations,
    struct workspace *workspace, const struct spec *spec, int layer, size_t T, float *x);
void block_forward(const struct spec *spec, int layer,
    const struct block_weights *weights, const struct block_batch *batch,
    const struct block_activations *activations);

/* d[T,C] is d loss / d out, and becomes d loss / d x.  The activations are used up. */
void block_scratch_layout(struct block_scratch *scratch, struct workspace *workspace,
    const struct spec *spec, size_t T);
void block_backward(const struct spec *spec, int layer,
    const struct block_weights *weights, const struct block_gradients *gradients,
    const struct block_batch *batch, const struct block_activations *activations,
    const struct block_scratch *scratch, float *d);

/* Floats that a token takes in the activations of all blocks and the scratch. */
size_t block_floats(const struct spec *spec);

#endif
