/*
 * token_terms - the weight of each token of a text by itself, from which terms.h makes the weights of the text's terms: the
 * greatest of its tokens that are the same.
 *
 * BGE-M3 (Chen et al. 2024): relu(w . h + b) of a token's last hidden state h, with sparse_linear.pt in the model's folder; the
 * tokens <s>, </s>, <pad> and <unk> are left out.
 * A table of weights (SparseStaticEmbedding, static_folder.h): the weight of the token, which may be below 0.
 */
#ifndef MODEL_TOKEN_TERMS_H
#define MODEL_TOKEN_TERMS_H

#include "model/model.h"

struct token_terms;

struct weighed_token {
	int32_t id;
	float weight;
};

/* For qsort: by id, then the greatest weight first. */
int weighed_token_by_id(const void *a, const void *b);

/* NULL: the model's folder has neither.  Dies where it has a part of either. */
struct token_terms *token_terms_open(struct model *model);

/* Weighs the tokens of a batch. */
void token_terms_weigh(struct token_terms *tokens, const struct model_seen *seen);

/* The terms of its tokens first..end-1: ids, ascending, and weights, which have room for as many; returns their number. */
int64_t token_terms_take(
    struct token_terms *tokens, size_t first, size_t end, int32_t *ids, float *weights);
void token_terms_free(struct token_terms *tokens);

#endif
