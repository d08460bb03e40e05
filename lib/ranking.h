/*
 * ranking - the measures of ranked lists, as trec_eval defines them, at cut-offs
 * 1, 3, 5, 10, 20, 100 and 1000; means over queries.
 *
 *	ndcg	gain / log2(rank + 1) summed to k, over the same of all judged in the best order
 *	map	precision at each relevant rank up to k, over ALL relevant
 *	recall	relevant up to k, over all relevant;  precision: over k
 *	mrr	1 / rank of the first relevant up to k
 * Relevant: grade 1 and above.  A query without relevant documents counts as 0.  Means of all
 * but mrr are rounded to 5 decimals, as MTEB does.
 */
#ifndef RANKING_H
#define RANKING_H

#include <stdbool.h>
#include <stdint.h>

#include "score.h"

struct ranking;

struct ranking *ranking_new(bool exponential);

/* One query: grades of what was found, best first, and of all that was judged (reordered). */
void ranking_add(struct ranking *ranking, const int64_t *found, int64_t count,
    int64_t *judged, int64_t judgements);

/* ndcg_at_1 ... mrr_at_1000 */
void ranking_report(const struct ranking *ranking, struct report *report);
void ranking_free(struct ranking *ranking);

#endif
