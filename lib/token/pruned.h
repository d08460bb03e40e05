/*
 * pruned - makes the tokenizer of static embeddings from that of a transformer, as model2vec 0.10 does.
 *
 * Removes added tokens except the unknown and padding tokens, tokens that start with [unusedN], and the special tokens
 * around a text.  The remaining ids are renumbered in order.  A byte-level pre-tokeniser adds a blank before each
 * text.
 */
#ifndef TOKEN_PRUNED_H
#define TOKEN_PRUNED_H

#include <stddef.h>
#include <stdint.h>

#include "text/tree.h"

struct pruned {
	struct tree *tokenizer; /* contents of tokenizer.json */
	int32_t *ids;		/* [count]: the old id of each new id */
	size_t count;
};

/* dir: a model folder.  most: truncation length in ids.  Dies if a file is missing or has no vocabulary. */
struct pruned *pruned_read(const char *dir, size_t most);
void pruned_free(struct pruned *pruned);

#endif
