/*
 * loss_mask - which candidates are in the denominator of a row of InfoNCE (loss.h).
 *
 * A row has one list of candidates for its query, and a second one for its document if terms of documents are added.
 */
#ifndef TRAIN_LOSS_MASK_H
#define TRAIN_LOSS_MASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "train/loss.h"

/* The candidates' rows of all ranks: each side begins at its own index, SIZE_MAX if it is not among the candidates. */
struct loss_layout {
	size_t queries, documents, negatives, count;
};

struct loss_mask {
	struct loss_layout layout;
	bool back; /* rows are documents, which choose their query */
	size_t rows, negatives;
	const struct loss_keys *keys; /* [LOSS_KEYS]; NULL: no text is another's equal */
	const int64_t *owners;	      /* [negatives] row of each negative */
	int terms;
	bool own_only;
};

/* The number of lists of candidates that a row has. */
size_t loss_mask_lists(const struct loss_mask *mask);

/* False: all candidates are in the denominator. */
bool loss_mask_needed(const struct loss_mask *mask);

/* The index, in a row's first list, of the candidate that is right. */
size_t loss_mask_target(const struct loss_mask *mask, size_t row);

/* in[lists * count]: 1 for a candidate in the denominator of row `row` of all ranks, else 0. */
void loss_mask_row(uint8_t *in, const struct loss_mask *mask, size_t row);

/* Sets the candidate that is right to 1, in both lists. */
void loss_mask_keep(uint8_t *in, const struct loss_mask *mask, size_t row);

#endif
