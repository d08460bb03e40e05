/*
 * terms - a text as weights of the vocabulary's tokens ("terms"), most of them 0, from its last hidden states: a sparse encoder.
 *
 * SPLADE (Formal et al. 2021), by the head that predicts tokens: the weight of term v is the maximum over the text's tokens t of
 * log(1 + relu(logits[t,v])), or their sum; log1p_relu takes the logarithm of one plus the weight once more.  Special tokens of
 * the text take part.
 *
 * A model that weighs each token of a text by itself has the terms of token_terms.h.
 *
 * Logits exist for some rows of the output matrix and some texts at a time, and are pooled at once: memory does not grow with
 * tokens times vocabulary.
 */
#ifndef MODEL_TERMS_H
#define MODEL_TERMS_H

#include <stddef.h>
#include <stdint.h>

#include "model/model.h"

struct terms;

/* Opens what the model in a folder weighs terms with.  most: terms of a text, those of the greatest weights; 0: as many as the
 * folder says.  kind: precision of the products, as of model_open_packed.  Dies if the folder has no such head, or a part of it. */
struct terms *terms_open(struct model *model, enum dtype kind, int64_t most);

/* The number of terms that there are: the vocabulary of the model. */
int64_t terms_vocabulary(const struct terms *terms);

/* The terms of the texts of a batch, by its last hidden states: calls `put` for each text, in order, with its ids, ascending,
 * and weights, none of them 0; both are borrowed until it returns. */
typedef void terms_put(
    void *context, size_t text, int64_t count, const int32_t *ids, const float *weights);
void terms_weigh(
    struct terms *terms, const struct model_seen *seen, terms_put *put, void *context);
void terms_free(struct terms *terms);

#endif
