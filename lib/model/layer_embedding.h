/*
 * layer_embedding - per-layer embeddings (EmbeddingGemma 2): what a block adds last, of the embeddings e that enter the first block.
 *
 *	y = f (x + norm(o))	o = out(act(g) u)	g = gate(x), u = norm(v), v = in(e) / sqrt(C)
 *
 * f is the block's factor, which is no parameter that learns.  On processors only.
 */
#ifndef MODEL_LAYER_EMBEDDING_H
#define MODEL_LAYER_EMBEDDING_H

#include "model/block_internal.h"

/* y[T,C] of x[T,C], tokens first .. first + T - 1 of the batch; b's arrays begin at the first of them.  y may be x where b->stats_in
 * is NULL. */
void layer_embedding_forward(const struct block *block,
    const struct layer_embedding_buffers *b, float *y, const float *x, size_t first,
    size_t T);

/* d[T,C], d loss / d y, becomes d loss / d x; scratch->dembedded is added to. */
void layer_embedding_back(const struct block *block,
    const struct block_gradients *gradients, const struct layer_embedding_buffers *b,
    const struct block_scratch *scratch, float *d, const float *x, size_t T);

#endif
