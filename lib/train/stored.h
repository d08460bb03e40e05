/*
 * stored - embeddings that were computed before, found again by their tokens: a stream as encode(1) makes it with
 * --keep, whose columns X.ids have an X.emb beside them, of every such X.
 */
#ifndef TRAIN_STORED_H
#define TRAIN_STORED_H

#include <stdint.h>

#include "model/model.h"

struct stored;

/* All of them are held in memory.  Dies when the stream is of another model or tokenizer, has no such columns, other
 * widths, or values that are not finite. */
struct stored *stored_open(const char *path, const struct model *model);

/* The embedding of these tokens, [model_width], host memory; NULL: it is not there.  Borrowed. */
const float *stored_find(const struct stored *stored, const int32_t *ids, int64_t length);
void stored_free(struct stored *stored); /* or NULL */

#endif
