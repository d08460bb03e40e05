/*
 * batch - packed batches: sequences of token ids one after another, no padding.
 *
 * A batch has a budget of tokens, not of texts, and one task expert; sequences of different adapters (linear.h) share a batch.
 */
#ifndef MODEL_BATCH_H
#define MODEL_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text/tree.h"

struct sequence {
	const int32_t *ids; /* [length], host memory, borrowed */
	int32_t length;
	int32_t skip; /* prompt tokens that pooling leaves out */
	int32_t
	    second; /* place of the first token of a pair's second text, whose type is 1; 0: all types are 0 */
	int32_t attended; /* tokens that attention sees, the first ones; 0: all */
	int expert;	  /* task expert; -1: the dense weights */
	int adapter;	  /* -1: none; not read of a model without adapters */
	bool frozen;	  /* nothing learns from it */
	const float
	    *vector; /* its embedding if it is known, host memory; NULL: it is computed */
	int side;    /* balance.h */
	uint64_t draw; /* seed of its dropout; 0: none */
};

/* The skip of sequences of the column "X.ids": the attribute prompt_tokens{X} of their record; 0 without it or if it is negative,
 * at most INT32_MAX. */
int32_t batch_prompt_tokens(const struct tree *attributes, const char *name);

struct batch {
	int64_t sequences, tokens;
	const int32_t *ids; /* [tokens], host memory, borrowed or packed */
	int32_t *starts;    /* [sequences + 1] */
	int32_t *skip;	    /* [sequences]; NULL: all 0 */
	int32_t *second;    /* [sequences]; NULL: all 0 */
	int32_t *attended;  /* [sequences], of nn_sequences; NULL: all tokens */
	int32_t *sides;	    /* [sequences]; NULL: all 0 */
	int32_t *adapters;  /* [sequences]; NULL: all -1 */
	uint64_t *draws;    /* [sequences]; NULL: all 0 */
	int expert;	    /* of every sequence in it */
	bool
	    empty; /* sequences without tokens are allowed: their embedding is not computed */
	/* memory of ids; of skip, second, attended and sides; the room of all */
	int32_t *packed, *places;
	size_t starts_room, packed_room, places_room, adapters_room, draws_room;
};

/*
 * Cut lists first..last-1 of a column of ids (offsets as in stream.h) into one batch of at most `budget` tokens, at least one
 * list; returns the first list after it.  The batch keeps its memory between calls; batch_free releases it.
 */
int64_t batch_cut(struct batch *batch, const int32_t *ids, const int64_t *offsets,
    int64_t first, int64_t last, int64_t budget);

/* Sort indices of sequences so that those which can share a batch stand together: the frozen first, then by expert, then by
 * adapter, then in ascending order. */
void batch_sort(int64_t *order, int64_t count, const struct sequence *sequences);

/* The end of the batch that begins with sequence order[first]: as frozen and of the same expert, at most `budget` tokens, at
 * least one sequence. */
int64_t batch_end(const int64_t *order, int64_t first, int64_t count,
    const struct sequence *sequences, int64_t budget);

/* Pack sequences order[0..count-1], as batch_end has them, into the batch. */
void batch_pack(struct batch *batch, const int64_t *order, int64_t count,
    const struct sequence *sequences);

/* Tokens of the longest sequence. */
int32_t batch_longest(const struct batch *batch);

void batch_free(struct batch *batch);

#endif
