/*
 * rows_to_encode - selects the rows of a data set that must be encoded; the others would not change scores.
 *
 * Both functions write JSON Lines and die on rows without an id or a label.
 */
#ifndef MTEB_ROWS_TO_ENCODE_H
#define MTEB_ROWS_TO_ENCODE_H

#include <stdint.h>
#include <stdio.h>

/* Writes the queries with judgements, because the queries of a BEIR folder are those of all splits. */
void rows_to_encode_queries(const char *qrels, const char *queries, FILE *out);

/*
 * Writes a training file with only the texts that classification trains on: `samples` rows of a label in each experiment.
 * Ten samples of 8 per label are some hundred rows of Amazon's 3.6 million reviews.  Other rows keep their position and
 * label, so that the sample stays the same, and get "." as text: an empty text would have no token with a tokenizer without
 * special tokens.  The file is read twice and must be regular.  Returns the number of texts kept.
 */
int64_t rows_to_encode_training(
    const char *path, int samples, int experiments, FILE *out);

#endif
