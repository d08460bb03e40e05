/*
 * block_internal - what the files block*.c share; nobody else includes it.
 */
#ifndef BLOCK_INTERNAL_H
#define BLOCK_INTERNAL_H

#include "model/block.h"

/* Columns under a specification: letters as in nn.h; Q = H D, KV = K D, G = Q + 2 KV, I of
 * the layer's dense MLP. */
struct sizes {
	size_t C, H, K, D, Q, KV, G, I;
};
struct sizes block_sizes(const struct spec *spec, int layer);

/* A norm's weight or a bias. */
static inline const float *
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

/* branch[T,C] = out(attention(entry)) */
void block_attend(const struct block *block, float *branch);

/* From the gradient d[T,C] of the branch to that of the entry: dx[T,C] = (or += when add);
 * dx may be d when it adds. */
void block_attend_back(const struct block *block, const struct block_gradients *gradients,
    const struct block_scratch *scratch, float *dx, bool add, const float *d);

/* branch[T,C] = mlp(middle) for rows first .. first + T - 1. */
void block_mlp(const struct block *block, float *branch, size_t first, size_t T);

/* As block_attend_back, of all rows; dx is added to. */
void block_mlp_back(const struct block *block, const struct block_gradients *gradients,
    const struct block_scratch *scratch, float *dx, const float *d);

/* state->mixed = the token experts of middle, all rows; dx is not d. */
void block_mixture(const struct block *block);
void block_mixture_back(const struct block *block,
    const struct block_gradients *gradients, const struct block_scratch *scratch,
    float *dx, const float *d);

#endif
