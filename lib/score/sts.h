/*
 * sts - semantic textual similarity: how well the similarity of two texts follows
 * people's judgement.  Main score: Spearman's correlation of the cosine.
 *
 * Reads what text_pairs(.h) reads, the numbers from "score".  Both protocols are alike here.
 *
 *	pearson, spearman			of the model's own similarity
 *	{cosine,manhattan,euclidean}_{pearson,spearman}
 */
#ifndef STS_H
#define STS_H

#include "score/report.h"

void score_sts(
    struct report *report, struct reader *reader, const struct score_options *options);

#endif
