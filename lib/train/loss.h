/*
 * loss - InfoNCE with in-batch and hard negatives (van den Oord et al. 2018; MoTE section 2.1).
 *
 * With cosines s(a, b) and temperature t, of B queries q_i, documents d_j and N negatives n_k:
 *	loss = 1/B sum_i -log( e^(s(q_i, d_i)/t) / (sum_j e^(s(q_i, d_j)/t) + sum_k e^(s(q_i, n_k)/t)) )
 * The denominator includes the positive; every row sees the negatives of all rows.
 * bidirectional adds the mean over documents of the same with queries as candidates (the sum of
 * the two directions, not their mean, as contrastors has it).
 *
 * With several ranks (ranks.h) B and N are those of all of them: candidates are gathered, each rank computes the losses
 * of its own rows, and what they say to the candidates is summed where those came from.
 *
 * Rows are taken in blocks, so that memory is a few tens of megabytes and never B x (B + N).
 */
#ifndef TRAIN_LOSS_H
#define TRAIN_LOSS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Hashes of the texts; equal keys are equal texts.  A candidate of row i is left out of its
 * denominator when it cannot be a negative: a document (not the row's own) equal to its positive
 * or to the query itself or answering the same query; a negative equal to either.  Host memory.
 *
 * There are two kinds of keys, and texts are equal that are equal by either of them: strings that differ may have the
 * same tokens, and what a recipe calls the same may have others.
 */
enum { LOSS_KEYS = 2 };
struct loss_keys {
	const int64_t *query, *document; /* [rows] */
	const int64_t *negatives; /* [negatives]; may be NULL when there are none */
};

/* Rank r has the rows from rows[r] to rows[r + 1] of the whole batch, and so its negatives; [ranks + 1], from 0. */
struct loss_parts {
	const size_t *rows, *negatives;
};

struct loss_batch {
	size_t rows, negatives, width; /* this rank's */
	float temperature;
	bool bidirectional;
	const struct loss_keys *keys;	/* [LOSS_KEYS]; NULL: nothing is left out */
	const struct loss_parts *parts; /* looked at where there are several ranks */
};

struct loss;

struct loss *loss_new(void);
void loss_free(struct loss *loss);

/*
 * vectors [2 rows + negatives, width], nn memory: queries, documents, negatives.  They need not be
 * of unit length: they are normalised in place.  gradient, of the same shape, receives
 * d loss / d vectors as they came.  Returns this rank's share of the loss, whose sum over the ranks is the loss;
 * *correct counts its queries whose own document scored highest, as nn_cross_entropy counts ties.
 */
double loss_infonce(struct loss *loss, float *gradient, float *vectors,
    const struct loss_batch *batch, double *correct);

/* The same in two halves: between them the gradient can be used, so that a device has work while the host learns what the
 * loss is. */
void loss_infonce_begin(
    struct loss *loss, float *gradient, float *vectors, const struct loss_batch *batch);
double loss_infonce_end(struct loss *loss, double *correct);

#endif
