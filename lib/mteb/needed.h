/*
 * needed - what of a data set has to be encoded: the rest costs time and changes no score.
 *
 * Both write JSON Lines, and die on rows that lack what they go by.
 */
#ifndef MTEB_NEEDED_H
#define MTEB_NEEDED_H

#include <stdint.h>
#include <stdio.h>

/* The queries that have judgements: a BEIR folder has those of all its splits. */
void needed_queries(const char *qrels, const char *queries, FILE *out);

/*
 * A training file with those texts alone that classification trains on: ten samples of 8 a label
 * are some hundred rows, Amazon's reviews are 3.6 million.  A row that no experiment draws keeps its
 * place and its label, so that the same are drawn again, and has a full stop for its text: an empty one is
 * no token to a tokenizer without special tokens, and nothing to embed.  The file is read twice: a
 * regular one.  Returns how many texts were left.
 */
int64_t needed_training(const char *path, int samples, FILE *out);

#endif
