/*
 * summarization - whether machine-made summaries that are more alike to human ones were
 * judged better.  Main score: cosine_spearman.
 *
 * Reads "human_summaries.emb" and "machine_summaries.emb" (lists of vectors) and "relevance" (a
 * list of numbers, one a machine summary).  A machine summary's score is its greatest similarity
 * to a human one; scores and relevance are correlated text by text, and the mean taken:
 *
 *	pearson, spearman	of the model's own similarity
 *	{cosine,dot}_{pearson,spearman}
 *
 * v1: of (correlation + its two-sided p) / 2, which is what mteb's SummEval reports to this day
 * (a known fault, kept to be comparable); v2: of the correlation, as SummEvalSummarization.v2.
 * Texts of which all relevances, all cosines or all dot products are equal are left out.
 */
#ifndef SUMMARIZATION_H
#define SUMMARIZATION_H

#include "score/report.h"

void score_summarization(
    struct report *report, struct reader *reader, const struct score_options *options);

#endif
