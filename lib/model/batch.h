/*
 * batch - packed batches: sequences of token ids one after another, no padding.
 *
 * Work is grouped by a token budget, not by a number of texts; input order is kept.
 */
#ifndef BATCH_H
#define BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct batch {
	int64_t sequences, tokens, longest;
	const int32_t *ids;	/* [tokens], host memory, borrowed */
	int32_t *starts;	/* [sequences + 1] */
	size_t room, skip_room; /* of starts and skip */
	int32_t *skip,
	    *skips; /* [sequences] prompt tokens that pooling leaves out, or NULL */
	int expert; /* task expert of every sequence in it; -1: the dense weights */
};

/*
 * Cut lists first..last-1 of a column of ids (offsets as in stream.h) into one batch of at
 * most `budget` tokens, at least one list; returns the first list that is not in it.
 * batch->starts is reused between calls; batch_free releases it.
 */
int64_t batch_cut(struct batch *batch, const int32_t *ids, const int64_t *offsets,
    int64_t first, int64_t last, int64_t budget);

/* Leave the first `tokens` tokens of every sequence, but the very first, out of the pooling
 * (include_prompt = false); 0: none.  After batch_cut, for each batch. */
void batch_skip(struct batch *batch, int64_t tokens);
void batch_free(struct batch *batch);

#endif
