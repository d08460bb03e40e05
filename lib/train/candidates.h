/*
 * candidates - the vectors of all ranks (ranks.h) that the rows of a batch choose among, and their gradients.
 *
 * With one rank they are the batch's own arrays, not copies.
 */
#ifndef TRAIN_CANDIDATES_H
#define TRAIN_CANDIDATES_H

#include "train/loss.h"
#include "train/loss_mask.h"

struct candidates {
	size_t rows, negatives; /* of all ranks */
	size_t first;		/* this rank's first row */
	/* nn memory [count, width] and its gradient: documents, then negatives; queries before or behind them */
	const float *all;
	float *dall;
	struct loss_layout at;		  /* where each side begins */
	struct loss_keys keys[LOSS_KEYS]; /* of all ranks, host memory */
	bool keyed;			  /* the batch has keys */
	const int64_t
	    *owners; /* [negatives] row of all ranks; NULL if the batch has none */
	/* buffers, with several ranks only */
	float *vectors, *gradient;
	int64_t *host_keys, *nn_keys, *host_owners, *nn_owners;
	size_t vectors_size, gradient_size, keys_size, host_keys_room, owners_size,
	    host_owners_room;
};

/* Gathers the normalised vectors of a batch that learns, or of its guide.  Sets the gradients of the gathered copies to zero if it
 * learns, also in a rank whose part is empty and whose `gradient` is NULL. */
void candidates_gather(struct candidates *candidates, float *gradient,
    const float *vectors, const struct loss_batch *batch, bool learn);

/* Adds the gradients that all ranks have for this rank's vectors to the batch's gradient. */
void candidates_return(
    struct candidates *candidates, float *gradient, const struct loss_batch *batch);
void candidates_free(struct candidates *candidates);

#endif
