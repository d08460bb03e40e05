/*
 * score_sts - semantic textual similarity: how well the similarity of two texts follows
 * people's judgement.  Main score: Spearman's correlation of the cosine.
 *
 * Reads "FIRST.emb", "SECOND.emb" and "score".  With first NULL: "similarity" and "score", where
 * a program before has computed it, else sentence1 and sentence2.  Record by record; four
 * numbers a pair are kept.
 */
#ifndef SCORE_STS_H
#define SCORE_STS_H

#include "score.h"
#include "stream.h"

void score_sts(
    struct report *report, struct reader *reader, const char *first, const char *second);

#endif
