/*
 * candidates - the vectors that the rows of a batch choose among, of all ranks (ranks.h), and what the loss says to them.
 *
 * Where there is one rank they are the batch's own, in their place.
 */
#ifndef TRAIN_CANDIDATES_H
#define TRAIN_CANDIDATES_H

#include "train/loss.h"

struct candidates {
	size_t rows, negatives; /* of all ranks */
	size_t first;		/* of the rows, this rank's first */
	/* nn memory: queries [rows, width], if the batch is bidirectional; documents [rows, width] and after them
	 * negatives [negatives, width]; and their gradients */
	const float *queries, *documents;
	float *dqueries, *ddocuments;
	struct loss_keys keys[LOSS_KEYS]; /* of all, host memory */
	bool keyed;			  /* the batch has keys */
	/* of several ranks */
	float *vectors, *gradient;
	int64_t *host_keys, *nn_keys;
	size_t vectors_size, gradient_size, keys_size, host_keys_room;
};

/* Gather those of a batch, whose vectors are normalised.  The gradients of others are zero. */
void candidates_gather(struct candidates *candidates, float *gradient,
    const float *vectors, const struct loss_batch *batch);

/* Add to the batch's gradient what all ranks say to its vectors. */
void candidates_return(
    struct candidates *candidates, float *gradient, const struct loss_batch *batch);
void candidates_free(struct candidates *candidates);

#endif
