/*
 * dropout - in training, values become 0 with probability p, and the others are divided by 1 - p: of the embeddings, of
 * attention's weights, and of the outputs of attention and MLP, wherever the family's reference has dropout (spec.dropout).
 *
 * The seed, the draw of the sequence (batch.h), the place in it and the block decide which values become 0.  A sequence has the same
 * mask in every pass and in any batch.  A sequence without a draw has no dropout.
 */
#ifndef MODEL_DROPOUT_H
#define MODEL_DROPOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/spec.h"

/* Dropout of a batch, as its blocks take it. */
struct batch_dropout {
	uint64_t seed;
	const uint64_t *keys; /* [T], of each token (nn_dropout); NULL: none */
};

struct model;

/* Turns dropout on: at the rates of config.json if rate < 0, else at `rate` wherever the reference has dropout.  Dies if the
 * family's dropout is not known, or the kernels run on a device. */
void dropout_begin(struct model *model, double rate, uint64_t seed);

/* dropout_is: some rate of the model is above 0.  dropout_at: the batch has draws, and the rate at this place is above 0. */
bool dropout_is(const struct spec *spec);
bool dropout_at(
    const struct batch_dropout *dropout, const struct spec *spec, enum spec_drop place);

/* Dropout of x[T,C], rows of the tokens from `first` on, in block `layer` (-1: before the blocks); of a gradient: its backward. */
void dropout_rows(const struct batch_dropout *dropout, const struct spec *spec,
    enum spec_drop place, int layer, float *x, size_t first, size_t T, size_t C);

/* Dropout of attention's weights in block `layer`, as nn_attention takes it. */
struct nn_attention_dropout dropout_of_weights(
    const struct batch_dropout *dropout, const struct spec *spec, int layer);

#endif
