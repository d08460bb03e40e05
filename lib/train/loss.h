/*
 * loss - InfoNCE with in-batch and hard negatives (van den Oord et al. 2018; MoTE section 2.1).
 *
 * With cosines or dot products s(a, b) and temperature t, of B queries q_i, documents d_j and N negatives n_k:
 *	loss = 1/B sum_i -log( e^(s(q_i, d_i)/t) / (sum_j e^(s(q_i, d_j)/t) + sum_k e^(s(q_i, n_k)/t)) )
 * The denominator includes the positive; every row sees the negatives of all rows.
 * bidirectional adds the mean over documents of the same with queries as candidates (the sum of
 * the two directions, not their mean, as contrastors has it).
 *
 * `terms` adds similarities to the denominator of row i (Li et al. 2023, GTE; sentence-transformers' directions in joint mode):
 *	LOSS_QQ		e^(s(q_i, q_j)/t) of all j but i
 *	LOSS_DQ		e^(s(d_i, q_j)/t) of all j
 *	LOSS_DD		e^(s(d_i, d_j)/t) of all j but i, and e^(s(d_i, n_k)/t) of the negatives of other rows
 * own_only leaves d_i and the negatives of row i.
 *
 * With several ranks (ranks.h) B and N count the rows of all ranks: candidates are gathered, each rank computes the losses of
 * its own rows, and the gradients of the candidates are summed on the ranks that they came from.
 *
 * Rows are taken in blocks, so memory is a few tens of megabytes and never B x (B + N).
 */
#ifndef TRAIN_LOSS_H
#define TRAIN_LOSS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Hashes of the texts, in host memory; equal keys are equal texts.  Row i leaves a candidate out of its denominator if it is no
 * negative: another row's document that equals the positive or the query, or whose query is the same; a negative that equals the
 * positive or the query.
 *
 * There are two kinds of keys, and texts with an equal key of either kind are equal: different strings may have the same tokens,
 * and texts that a recipe calls the same (of one label) may have different tokens.
 */
enum { LOSS_KEYS = 2 };
struct loss_keys {
	const int64_t *query, *document; /* [rows] */
	const int64_t *negatives; /* [negatives]; may be NULL when there are none */
};

/* Rank r has rows rows[r] to rows[r + 1] - 1 of the whole batch, and its negatives likewise; both [ranks + 1], from 0. */
struct loss_parts {
	const size_t *rows, *negatives;
};

enum { LOSS_QQ = 1, LOSS_DQ = 2, LOSS_DD = 4 };

struct loss_batch {
	size_t rows, negatives, width; /* this rank's */
	float temperature;
	bool bidirectional, dot;
	const struct loss_keys *keys; /* [LOSS_KEYS]; NULL: no text is another's equal */
	const struct loss_parts *parts; /* NULL: the candidates of this rank alone */
	/* Row i leaves out each candidate c with s(q_i, c) > s(q_i, d_i) + beyond, likely a false negative (Zhang et al. 2025,
	 * Qwen3 Embedding); NULL: none. */
	const float *beyond;
	int terms;     /* LOSS_QQ and so on; not with bidirectional or own_only */
	bool own_only; /* not with bidirectional */
	const int64_t *
	    owners; /* [negatives] row of each, of this rank; NULL: neither LOSS_DD nor own_only */
	/* Vectors of another model, of length 1, nn memory [2 rows + negatives, guide_width]: `beyond` compares their similarities
	 * (Solatorio 2024, GISTEmbed); NULL: the model's own. */
	const float *guide;
	size_t guide_width;
};

struct loss;

struct loss *loss_new(void);
void loss_free(struct loss *loss);

/*
 * vectors [2 rows + negatives, width], nn memory: queries, documents, negatives, of any length; without `dot` they are normalised in
 * place.  gradient, of the same shape, receives d loss / d vectors before normalisation.  It is ready before loss_infonce_end, so that
 * a device computes on while the host waits for the loss.
 */
void loss_infonce_begin(
    struct loss *loss, float *gradient, float *vectors, const struct loss_batch *batch);

/* This rank's share of the loss; the shares sum to the loss.  *correct counts this rank's queries whose own document scored highest,
 * with ties as nn_cross_entropy counts them. */
double loss_infonce_end(struct loss *loss, double *correct);

#endif
