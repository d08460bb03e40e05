/*
 * classification - how well a linear classifier on the embeddings tells the labels.
 * Main score: accuracy.
 *
 * Reads two streams, train and test, each with "FIELD.emb" and a label (text or number).
 * MTEB's protocol: ten experiments; each draws the reference's sample of the training rows (8 a
 * label; numpy's shuffle from seed 42, the permutations composing), fits a logistic
 * regression and predicts the whole test stream; the scores are means over experiments.
 * Memory: where the training stream is a file, it is read twice, for the labels and for the
 * rows that are trained on, and only those are kept; else all of it is.  The test stream passes by,
 * leaving 4 bytes a row and experiment.
 */
#ifndef CLASSIFICATION_H
#define CLASSIFICATION_H

#include <stdbool.h>
#include <stdint.h>

#include "score/report.h"

struct classification_options {
	const char *train, *test; /* paths */
	const char *field;	  /* NULL: the only column of embeddings */
	const char *label;	  /* NULL: "label" */
	int experiments, samples; /* samples per label */
	uint32_t seed;
	enum protocol protocol;
	bool any_model; /* not both streams of one model */
	bool reference; /* stop the regression where scikit-learn does */
};

void score_classification(
    struct report *report, const struct classification_options *options);

#endif
