/*
 * stored - embeddings that were computed before, found again by their tokens: a stream as encode(1) makes it with
 * --keep, whose columns X.ids have an X.emb beside them, of every such X.
 */
#ifndef TRAIN_PRECOMPUTED_H
#define TRAIN_PRECOMPUTED_H

#include <stdint.h>

#include "model/model.h"

struct precomputed;

/* All of them are held in memory.  Dies when the stream is of another model or tokenizer, has no such columns, other
 * widths, or values that are not finite. */
struct precomputed *precomputed_open(const char *path, const struct model *model);

/* The embedding of these tokens, [model_width], host memory; NULL: it is not there.  Borrowed. */
const float *precomputed_find(
    const struct precomputed *precomputed, const int32_t *ids, int64_t length);
void precomputed_free(struct precomputed *precomputed); /* or NULL */

#endif
