/*
 * block_internal - shared by block.c (inference), block_train.c and layer_embedding.c alone.
 */
#ifndef MODEL_BLOCK_INTERNAL_H
#define MODEL_BLOCK_INTERNAL_H

#include "model/block.h"
#include "model/mlp.h"

/* Columns: letters as in nn.h; Q = H D, KV = K D, G = Q + 2 KV, of a short convolution Q = C, G = 3 C; I of the layer's dense
 * MLP. */
struct block_sizes {
	size_t C, H, K, D, Q, KV, G, I;
};
struct block_sizes block_sizes(const struct spec *spec, int layer);
struct block_sizes block_sizes_largest(const struct spec *spec); /* of all layers */

/* One block in one pass. */
struct block {
	const struct spec *spec;
	const struct spec_layer *layer;
	const struct block_weights *weights;
	const struct block_batch *batch;
	struct block_sizes n;
};
struct block block_of(const struct spec *spec, int layer,
    const struct block_weights *weights, const struct block_batch *batch);

/* A norm's weight, or a bias. */
const float *block_vector(const struct block *block, enum block_parameter which);

/* Layers; gradients NULL: none are wanted.  The projections to q, k and v, or to all of them at once: returns how many. */
struct linear block_linear(const struct block *block,
    const struct block_gradients *gradients, enum block_parameter which, size_t C,
    size_t O);
int block_projections(struct linear to[3], const struct block *block,
    const struct block_gradients *gradients);
struct mlp block_mlp(
    const struct block *block, const struct block_gradients *gradients, size_t first);
struct mixture_weights block_mixture(
    const struct block *block, const struct block_gradients *gradients);

/* All rows of the batch, as linear layers take them. */
struct linear_rows block_rows(const struct block *block);

/* Attention as the kernel takes it. */
struct nn_attention block_attention(const struct block *block);

/* Rotates q and k of qkv[T,G]; direction 1, or -1 for gradients. */
void block_rotate(const struct block *block, float *qkv, int direction);

/* The groups of columns of q or k, each normed by itself. */
struct norm_groups {
	size_t count, columns;
};
struct norm_groups block_norm_groups(const struct block *block, size_t heads);

/* The weight of a norm without one, which adds it to one (NN_RMSNORM_PLUS): that of v. */
extern const float block_no_weight[NN_MAX_HEAD];

/* v of attention, with row stride n.G. */
const float *block_values(
    const struct block *block, const struct attention_buffers *buffers);

/* attended[T,H D]: the heads of attention(in[T,C]); queries as in nn_attention. */
void block_attend(const struct block *block, const struct attention_buffers *buffers,
    const float *in, const int32_t *queries);
/* out[T,C]: the heads through attention's output layer. */
void block_attention_out(
    const struct block *block, const struct attention_buffers *buffers, float *out);

/* Dropout of T rows of width C, from token `first` of the batch on; or its backward. */
void block_drop(const struct block *block, enum spec_drop place, float *x, size_t first,
    size_t T, size_t C);

/* out[T,C] = mlp(in[T,C]) for tokens first .. first + T - 1, at which both begin. */
void block_feed(const struct block *block, const struct mlp_buffers *buffers,
    const struct mixture_state *mixture, float *out, const float *in, size_t first,
    size_t T);

/* y = norm(s), s = x + r; as nn_norm. */
void block_norm(const struct block *block, enum block_parameter which, float *y, float *s,
    float *stats, const float *x, const float *r, size_t T);

/*
 * From out[T,C], the output of attention, to `to`, the array that is added to x[T,C]:
 *	branch_norms	to = norm(out)
 *	residual_twice	to = norm(x + out); out = x + out unless it is `to`
 *	neither		nothing is done: `to` is `out`
 */
void block_norm_attention(const struct block *block, float *to, float *stats, float *out,
    const float *x, size_t T);

/* With branch_norms `to` = norm(out), the output of a branch.  Returns the array to add: to, or out. */
float *block_norm_branch(const struct block *block, enum block_parameter which, float *to,
    float *stats, float *out, size_t T);

#endif
