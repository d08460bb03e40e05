/*
 * block_bf16 - inference through the blocks with activations of bf16 (nn/bf16.h), where block.c has f32.
 *
 * The inputs and outputs of all GEMMs are bf16, and so are q, k and v.  With norms after the sums the hidden states are bf16 too, as in
 * a reference that computes in bf16.  With norms before, rounding errors of the sum would grow from block to block: it stays f32.
 */
#ifndef MODEL_BLOCK_BF16_H
#define MODEL_BLOCK_BF16_H

#include "model/block.h"
#include "nn/bf16.h"

/* Whether block `layer` can be computed so: all its matrices are packed as bf16, and rows are 16-byte aligned. */
bool block_bf16_fits(const struct nn_bf16 *kernels, const struct spec *spec, int layer,
    const struct block_weights *weights);

/* Block `layer`, after those before it.  The first reads buffers->x, f32, and the last overwrites it. */
void block_bf16_infer(const struct nn_bf16 *kernels, const struct spec *spec, int layer,
    const struct block_weights *weights, const struct block_batch *batch,
    const struct block_buffers *buffers);

#endif
