/*
 * precomputed - embeddings of texts, found by the texts' tokens.  They come from a stream of `encode --keep`: every pair of
 * columns X.ids and X.emb.
 */
#ifndef TRAIN_PRECOMPUTED_H
#define TRAIN_PRECOMPUTED_H

#include <stdint.h>

#include "model/model.h"

struct precomputed;

/* Reads all embeddings into memory.  Dies if the stream is of another model or tokenizer, has no such columns, another width, or
 * values that are not finite. */
struct precomputed *precomputed_open(const char *path, const struct model *model);

/* A hash of all texts and their embeddings; another order is another hash. */
uint64_t precomputed_hash(const struct precomputed *precomputed);

/* The embedding of these tokens, f32 [model_width], host memory, borrowed; NULL: not found. */
const float *precomputed_find(
    const struct precomputed *precomputed, const int32_t *ids, int64_t length);
void precomputed_free(struct precomputed *precomputed); /* or NULL */

#endif
