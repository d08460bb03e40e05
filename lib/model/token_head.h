/*
 * token_head - vectors of tokens from hidden states: the modules of a head (head.h), applied to each token.
 */
#ifndef MODEL_TOKEN_HEAD_H
#define MODEL_TOKEN_HEAD_H

#include <stddef.h>

#include "folder/late_interaction.h"
#include "folder/safetensors.h"
#include "model/head.h"

/* The name of a projection in the model's own file. */
#define TOKEN_HEAD_PROJECTION "linear"

/* Adds the modules of a late-interaction model that its folder does not list: the projection in the model's own file, and
 * Normalize. */
void token_head_add(struct head *head, const struct late_interaction *late);

/* The sizes of a projection in the model's own file, which the folder need not say. */
void token_head_size(struct head *head, int width, const struct safetensors *file);

/* Arrays that grow as needed; zeroed: none. */
struct token_head {
	float *rows[2]; /* [T, width] of two modules by turns */
	size_t room[2];
};

/* Vectors [T, head_width of one pooling] of the hidden states x[T,C], nn memory both; valid until the next call, or x itself. */
const float *token_head_forward(
    struct token_head *made, const struct head *head, const float *x, size_t T, size_t C);
void token_head_free(struct token_head *made);

#endif
