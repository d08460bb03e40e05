/*
 * block_internal - what the files block*.c share; nobody else includes it.
 */
#ifndef MODEL_BLOCK_INTERNAL_H
#define MODEL_BLOCK_INTERNAL_H

#include "model/block.h"

/* Columns under a specification: letters as in nn.h; Q = H D, KV = K D, G = Q + 2 KV, I of
 * the layer's dense MLP. */
struct sizes {
	size_t C, H, K, D, Q, KV, G, I;
};

struct sizes block_sizes(const struct spec *spec, int layer);

#endif
