/*
 * held_out - measures a model on pairs that it does not learn: the loss of their batches, and search.
 *
 * The loss is the mean over the rows of all batches, each batch with its own negatives, as in training.
 *
 * With a corpus each query of the pairs searches the documents of the pairs and of the corpus, exactly (search/search.h); the
 * documents that it is paired with are the relevant ones.  Equal tokens are one text.  Documents of equal similarity are in the
 * order of their hashes, so that equal embeddings have the score of chance.  The measures are those of mteb-score
 * (score/measure/ranking.h).
 *
 * With several ranks every rank measures all of it, and the first rank's values count.
 */
#ifndef TRAIN_HELD_OUT_H
#define TRAIN_HELD_OUT_H

#include "train/contrast.h"
#include "train/gradient_cache.h"
#include "train/objective.h"

/* The loss of a batch as `vectors` [sequences, width] have it, a mean over its rows; normalises them if the similarity is the
 * cosine.  *correct: the number of rows whose own document scored highest. */
typedef double held_out_loss(struct objective *objective,
    const struct contrast_batch *batch, float *vectors, double *correct);

struct held_out;

/* The files --dev and --dev-corpus of the objective's options. */
struct held_out *held_out_open(const struct objective *objective);
void held_out_close(struct held_out *held_out);

/* Borrows the cache, whose last embeddings are lost. */
void held_out_measure(struct held_out *held_out, struct objective *objective,
    struct gradient_cache *cache, held_out_loss *loss, struct dev_report *report);

#endif
