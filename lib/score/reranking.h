/*
 * reranking - whether a query is more alike to its positive texts than to its negative
 * ones.  Main score: map (v1), map_at_1000 (v2).
 *
 * Reads "query.emb" (a vector a row, or a list of several queries), "positive.emb" and
 * "negative.emb" (lists).  Rows without a positive or without a negative text are left out.
 *
 * v1: a text's score is its greatest similarity to any of the queries; map is the mean average
 * precision, equal scores together, mrr the mean 1 / rank of the first positive among the
 * first 10, equal scores in the order of the row, positives first; nAUC_map_*, nAUC_mrr_*.
 * v2: the measures of ranking(.h), the candidates of a row being its corpus; equal scores rank
 * negatives first, as the ids that mteb makes for them have it.  Of several queries in a row each
 * counts for itself, and max_over_subqueries_* are of the greatest similarity to any; then
 * the main score is max_over_subqueries_map_at_1000.
 */
#ifndef RERANKING_H
#define RERANKING_H

#include "score/report.h"

void score_reranking(
    struct report *report, struct reader *reader, const struct score_options *options);

#endif
