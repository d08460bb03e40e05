/*
 * bert - what BERT and its descendants share: learned positions, norms after the residual sums,
 * biases everywhere, a plain MLP.
 */
#ifndef MODEL_FAMILY_BERT_H
#define MODEL_FAMILY_BERT_H

#include "model/spec.h"

/* The tensors of a block, and those of the stem but for the head that predicts tokens. */
extern const char *const bert_block[BLOCK_PARAMETERS];
#define BERT_STEM                                                                        \
	[STEM_TOKENS] = "embeddings.word_embeddings",                                    \
	[STEM_POSITIONS] = "embeddings.position_embeddings",                             \
	[STEM_TYPES] = "embeddings.token_type_embeddings",                               \
	[STEM_NORM] = "embeddings.LayerNorm"

/* What their blocks are; spec->width, heads and layers are set before. */
void bert_shape(struct spec *spec, int inner);

/* All but the names, by a config.json in BERT's spelling, whose positions must be of this kind. */
void bert_configure(struct spec *spec, const struct tree *config, const char *positions);

#endif
