/*
 * trec - the measures of trec_eval 9 over whole ranked lists, by its names (trec_eval -m all_trec), and rank-biased
 * precision.  A document is relevant from grade `level` (trec_eval -l).  R: relevant documents of a query.
 *
 *	num_q, num_ret, num_rel, num_rel_ret	sums: queries, hits, relevant documents, relevant hits
 *	map		sum of the precisions at relevant hits / R;  gm_map: exp of the mean of log max(map, 1e-5)
 *	Rprec		relevant hits among the first R / R;  recip_rank: 1 / rank of the first relevant hit
 *	bpref		sum over relevant hits of 1 - min(n, R) / min(N, R), / R;  n: hits before it that are judged not
 *			relevant, N: all documents judged not relevant
 *	infAP		average precision, estimated where hits are not judged (grade -1: beyond the judged sample)
 *	ndcg		DCG / ideal DCG of the whole list (ranking.h), whatever the level
 *	iprec_at_recall_X, 11pt_avg		interpolated precision at recall 0.00 to 1.00, and its mean
 *	set_P, set_recall, set_F, set_map	of the hits as a set;  set_map: set_P * set_recall
 *	P_K, recall_K, map_cut_K, ndcg_cut_K, success_K	at cut-offs K
 *	rbp_P		(1 - P) * sum of P^(rank - 1) over relevant hits;  P: 0.50, 0.80 and 0.95
 *
 * A query without relevant documents counts as 0.  Nothing is rounded.
 */
#ifndef SCORE_MEASURE_TREC_H
#define SCORE_MEASURE_TREC_H

#include <stdbool.h>
#include <stdint.h>

#include "score/measure/ranking.h"

struct trec;

/* Without cut-offs trec_eval's: 5 to 1000; success at 1, 5 and 10. */
struct trec *trec_new(int64_t level, bool exponential, const struct cuts *cuts);

/* Adds a query: the grades of its hits [count], best first (RANKING_UNJUDGED: not judged), and those of its judged
 * documents [judgements], which are sorted in place. */
void trec_add(struct trec *trec, const int64_t *found, int64_t count, int64_t *judged,
    int64_t judgements);

/* Reports the means, and adds the values of each query to `per_query` unless NULL. */
void trec_report(
    const struct trec *trec, struct report *report, struct per_query *per_query);
void trec_free(struct trec *trec);

#endif
