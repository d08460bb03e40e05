/*
 * answers - the head of a language model that answers a question about a pair, such as Qwen3-Reranker: the logit of the token of
 * the one answer less that of the other, at the last token.
 *
 * It is a layer of one output, whose weights are the difference of two rows of the output matrix, or one row.  The tokens are
 * those of the module LogitScore in modules.json; without modules.json those of a named template, else "yes" and "no".
 */
#ifndef MODEL_ANSWERS_H
#define MODEL_ANSWERS_H

#include <stdbool.h>
#include <stdint.h>

#include "folder/safetensors.h"
#include "model/spec.h"
#include "model/weights.h"

#define ANSWERS_MODULE "LogitScore"

struct answers {
	bool is;
	int32_t ids[2];		  /* for the document, against it; -1: none */
	float *row;		  /* [width] */
	struct safetensor tensor; /* the same as a tensor [1, width] of the file */
};

/* Sets the ids.  template: a name in share/rerankers.yaml, or NULL.  Dies if the tokenizer lacks a token. */
void answers_read(struct answers *answers, const char *dir, const char *template);

/* Sets row and tensor. */
void answers_make(struct answers *answers, struct weights *weights,
    const struct spec *spec, const struct safetensors *file);
void answers_free(struct answers *answers);

#endif
