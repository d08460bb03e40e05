/*
 * score_sts - semantic textual similarity: how well the similarity of two texts follows
 * people's judgement.  Main score: Spearman's correlation of the cosine.
 *
 * Reads what paired(.h) reads, the numbers from "score".  Both protocols are alike here.
 *
 *	pearson, spearman			of the model's own similarity
 *	{cosine,manhattan,euclidean}_{pearson,spearman}
 */
#ifndef SCORE_STS_H
#define SCORE_STS_H

#include "score/score.h"

void score_sts(
    struct report *report, struct reader *reader, const struct score_options *options);

#endif
