/*
 * pruned - the tokenizer of a table of static embeddings, made of that of a transformer as model2vec 0.10 makes it.
 *
 * Without added tokens, but those for what is unknown and for padding; without tokens that begin with [unusedN]; without
 * what is put around a text.  The ids are numbered anew, in their order.  A byte-level pre-tokeniser puts a blank before
 * each text.
 */
#ifndef TOKEN_PRUNED_H
#define TOKEN_PRUNED_H

#include <stddef.h>
#include <stdint.h>

#include "text/tree.h"

struct pruned {
	struct tree *tokenizer; /* what is to be written as tokenizer.json */
	int32_t *ids;		/* [count]: what each had been */
	size_t count;
};

/* Of a model's folder.  most: ids to which a text is cut.  Dies naming the file that is missing or has no vocabulary. */
struct pruned *pruned_read(const char *dir, size_t most);
void pruned_free(struct pruned *pruned);

#endif
