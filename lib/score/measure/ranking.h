/*
 * ranking - the measures of ranked lists as trec_eval (pytrec_eval) defines them, at cut-offs k, by default
 * 1, 3, 5, 10, 20, 100 and 1000; means over queries.
 *
 *	ndcg	DCG / ideal DCG;  DCG = sum of gain / log2(rank + 1) to rank k
 *	map	sum of the precisions at relevant ranks up to k / number of ALL relevant documents
 *	recall	relevant hits up to k / all relevant;  precision: relevant hits up to k / k
 *	mrr	1 / rank of the first relevant document up to k, else 0
 *	nauc_*	nAUC of each of these (abstention.h)
 *	hit_rate, accuracy	v2 only: 1 if any hit up to k is relevant; accuracy: recall_at_1, if 1 is a cut-off
 * A document is relevant from grade 1.  A query without relevant documents counts as 0.  Means are rounded
 * to 5 decimals except mrr's, as in mteb.
 */
#ifndef SCORE_MEASURE_RANKING_H
#define SCORE_MEASURE_RANKING_H

#include <stdbool.h>
#include <stdint.h>

#include "score/per_query.h"
#include "score/report.h"

struct ranking;

/* The grade of a document that is not judged. */
#define RANKING_UNJUDGED INT64_MIN

/* A query: the grades of its hits, best first, and of its judged documents, the greatest first; `level`: the least relevant
 * grade; `relevant`: the number of judged documents from it on. */
struct graded_list {
	const int64_t *found, *judged;
	int64_t count, judgements;
	int64_t level, relevant;
	bool exponential; /* gain 2^grade - 1 */
};

/* Sorts `judged` [judgements] in place. */
struct graded_list ranking_list(const int64_t *found, int64_t count, int64_t *judged,
    int64_t judgements, int64_t level, bool exponential);

/* The measures of the first k hits.  A grade below 1 gains nothing in nDCG, whatever the level. */
enum ranking_measure {
	RANKING_NDCG,
	RANKING_MAP,
	RANKING_RECALL,
	RANKING_PRECISION,
	RANKING_MRR,
	RANKING_HIT_RATE,
	RANKING_MEASURES
};
void ranking_measure(
    double values[RANKING_MEASURES], const struct graded_list *list, int64_t k);

/* Cut-offs in any order; count 0: the default. */
enum { RANKING_CUTS = 32 };
struct cuts {
	int64_t at[RANKING_CUTS];
	int count;
};

/* Adds main_cut, the cut-off of the main score, to the cut-offs. */
struct ranking *ranking_new(
    enum protocol protocol, bool exponential, const struct cuts *cuts, int64_t main_cut);

/* Adds a query: grades and similarities of its hits [count], best first (RANKING_UNJUDGED: not judged), and the grades of its judged documents
 * [judgements], which are sorted in place. */
void ranking_add(struct ranking *ranking, const int64_t *found, const float *similarity,
    int64_t count, int64_t *judged, int64_t judgements);
int64_t ranking_queries(const struct ranking *ranking);
int64_t ranking_irrelevant(
    const struct ranking *ranking); /* queries without a relevant document */

/* Reports PREFIXndcg_at_1 ...; adds the values of each query (not nAUC) to `per_query` unless NULL. */
void ranking_report(const struct ranking *ranking, struct report *report,
    struct per_query *per_query, const char *prefix);
void ranking_free(struct ranking *ranking);

/*
 * scikit-learn's average precision: the sum over distinct scores, descending, of (R_n - R_{n-1}) P_n; equal scores
 * enter together.  NaN without a relevant row.
 */
double ranking_average_precision(const double *score, const bool *relevant, int64_t n);

#endif
