/*
 * dropout - in training, numbers become 0 with a probability, and the others are divided by the share that stays: of the embeddings,
 * of attention's weights, and of what attention and MLP add, wherever the reference of the family has it (spec.dropout).
 *
 * Which numbers become 0 depends on the seed, the draw of their sequence (batch.h), their place in it, and the block: the same
 * sequence loses the same ones in every pass, whatever stands beside it.  Sequences without a draw lose none.
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

/* From now on a model has dropout: at the rates of config.json, or at `rate` wherever the reference has dropout, if rate is not
 * below 0.  Dies if it is not known of the family, or the kernels are a device's. */
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
