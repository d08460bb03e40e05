/*
 * score_classification - how well a linear classifier on the embeddings tells the labels.
 * Main score: accuracy.
 *
 * Reads two streams, train and test, each with "FIELD.emb" and a label (text or number).
 * MTEB's protocol: ten experiments; each draws the reference's sample of the training rows (8 a
 * label; numpy's shuffle from seed 42, the permutations composing), fits a logistic
 * regression and predicts the whole test stream; the scores are means over experiments.
 * Memory: the training embeddings; the test stream passes by.
 */
#ifndef SCORE_CLASSIFICATION_H
#define SCORE_CLASSIFICATION_H

#include "score.h"

struct classification_options {
	const char *train, *test; /* paths */
	const char *field;	  /* NULL: the only column of embeddings */
	const char *label;	  /* NULL: "label" */
	int experiments, samples; /* samples per label */
	uint32_t seed;
};

void score_classification(
    struct report *report, const struct classification_options *options);

#endif
