/*
 * candidates - the vectors of all ranks (ranks.h) that the rows of a batch choose among, and their gradients.
 *
 * With one rank they are the batch's own arrays, not copies.
 */
#ifndef TRAIN_CANDIDATES_H
#define TRAIN_CANDIDATES_H

#include "train/loss.h"

struct candidates {
	size_t rows, negatives; /* of all ranks */
	size_t first;		/* this rank's first row */
	/* nn memory: queries [rows, width] of a bidirectional batch; documents [rows, width], then negatives
	 * [negatives, width]; and their gradients */
	const float *queries, *documents;
	float *dqueries, *ddocuments;
	struct loss_keys keys[LOSS_KEYS]; /* of all ranks, host memory */
	bool keyed;			  /* the batch has keys */
	/* buffers, with several ranks only */
	float *vectors, *gradient;
	int64_t *host_keys, *nn_keys;
	size_t vectors_size, gradient_size, keys_size, host_keys_room;
};

/* Gathers the normalised vectors of a batch.  Sets the gradients of the gathered copies to zero. */
void candidates_gather(struct candidates *candidates, float *gradient,
    const float *vectors, const struct loss_batch *batch);

/* Adds the gradients that all ranks have for this rank's vectors to the batch's gradient. */
void candidates_return(
    struct candidates *candidates, float *gradient, const struct loss_batch *batch);
void candidates_free(struct candidates *candidates);

#endif
