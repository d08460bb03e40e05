/*
 * block - one transformer block, forward and backward, as a specification says.
 *
 *	a = attention(x)  with rotary positions on q and k where the model has them
 *	y = norm1(x + out(a))
 *	z = norm2(y + down(up(y) act(gate(y))))		or down(act(up(y)))
 *
 * Letters as in nn.h; G = (H + 2 K) D, the columns of q, k and v side by side.
 * All arrays are in memory of the kernels.
 */
#ifndef BLOCK_H
#define BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spec.h"
#include "workspace.h"

/* NULL: the model has no such parameter; of gradients: it is not wanted. */
struct block_weights {
	struct nn_matrix at[BLOCK_PARAMETERS]; /* norms and biases are f32 */
};
struct block_gradients {
	float *at[BLOCK_PARAMETERS];
};

/* What the blocks of one pass share. */
struct block_batch {
	size_t T, N;
	const int32_t *starts; /* [N + 1] */
	const float *inverse;  /* [D/2] rotary frequencies, or NULL */
};

/* Activations of one block; laid out for the backward, or for a forward that forgets. */
struct block_state {
	float *x;		  /* [T,C] the input, borrowed */
	float *qkv;		  /* [T,G], rotated */
	float *attended;	  /* [T,H D] */
	float *lse;		  /* [T,H], or NULL */
	float *sum1, *stats1;	  /* [T,C], [T,2]; stats NULL when forgetting */
	float *norm1;		  /* [T,C]; forgetting: x */
	size_t step;		  /* rows of the MLP at a time; T when keeping */
	float *up, *gate, *inner; /* [step,I]; gate NULL in a plain MLP */
	float *sum2, *stats2;	  /* [step,C], [T,2] */
	float *out;		  /* [T,C]; forgetting: x */
};

/* Scratch of the backward, shared by all blocks. */
struct block_scratch {
	float *dqkv;	  /* [T,G] */
	float *dattended; /* [T,H D] */
	float *dinner;	  /* [T,I] */
};

void block_layout(struct block_state *state, struct workspace *workspace,
    const struct spec *spec, size_t T, float *x, bool keep);
void block_scratch_layout(struct block_scratch *scratch, struct workspace *workspace,
    const struct spec *spec, size_t T);

/* From state->x to state->out. */
void block_forward(const struct spec *spec, const struct block_weights *weights,
    const struct block_batch *batch, const struct block_state *state);

/* d[T,C] is d loss / d out, and becomes d loss / d x; gradients are added to.  The state
 * must have been kept, and is used up. */
void block_backward(const struct spec *spec, const struct block_weights *weights,
    const struct block_gradients *gradients, const struct block_batch *batch,
    const struct block_state *state, const struct block_scratch *scratch, float *d);

#endif
