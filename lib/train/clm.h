/*
 * clm - what causal language modelling predicts: each token but the first of its text, from those before it.
 *
 * A text's end is predicted where its tokens have one: where the tokenizer adds a token at the end of every text.
 */
#ifndef TRAIN_CLM_H
#define TRAIN_CLM_H

#include <stdint.h>

/* Texts that are shorter have nothing to predict. */
enum { CLM_SHORTEST = 2 };

/*
 * Of sequences one after another, starts[sequences + 1] as in corpus.h: positions and targets (room for all tokens
 * each) receive the position of the token before each predicted one, rising, and what is predicted there.  Returns how many.
 */
int64_t clm_targets(const int32_t *ids, const int64_t *starts, int64_t sequences,
    int32_t *positions, int32_t *targets);

#endif
