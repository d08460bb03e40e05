/*
 * ranking - the measures of ranked lists, as trec_eval defines them, at cut-offs, which are
 * 1, 3, 5, 10, 20, 100 and 1000 unless others are chosen; means over queries.
 *
 *	ndcg	gain / log2(rank + 1) summed to k, over the same of all judged in the best order
 *	map	precision at each relevant rank up to k, over ALL relevant
 *	recall	relevant up to k, over all relevant;  precision: over k
 *	mrr	1 / rank of the first relevant up to k
 *	nauc_*	of each of them, by abstention(.h)
 *	hit_rate, accuracy	v2 only: any relevant up to k; accuracy is recall_at_1, where 1 is a cut-off
 * Relevant: grade 1 and above.  A query without relevant documents counts as 0.  Means of all
 * but mrr are rounded to 5 decimals, as MTEB does.
 */
#ifndef SCORE_MEASURE_RANKING_H
#define SCORE_MEASURE_RANKING_H

#include <stdbool.h>
#include <stdint.h>

#include "score/per_query.h"
#include "score/report.h"

struct ranking;

/* Cut-offs in any order; none: MTEB's. */
enum { RANKING_CUTS = 32 };
struct cuts {
	int64_t at[RANKING_CUTS];
	int count;
};

/* The cut-off of the main score is always among them. */
struct ranking *ranking_new(
    enum protocol protocol, bool exponential, const struct cuts *cuts, int64_t main_cut);

/* One query: grades and similarities of what was found, best first, and the grades of all that
 * was judged (reordered). */
void ranking_add(struct ranking *ranking, const int64_t *found, const float *similarity,
    int64_t count, int64_t *judged, int64_t judgements);
int64_t ranking_queries(const struct ranking *ranking);
int64_t ranking_irrelevant(
    const struct ranking *ranking); /* queries without relevant ones */

/* PREFIXndcg_at_1 ...; but for nAUC the values of each query, unless `per_query` is NULL. */
void ranking_report(const struct ranking *ranking, struct report *report,
    struct per_query *per_query, const char *prefix);
void ranking_free(struct ranking *ranking);

/*
 * Average precision as scikit-learn has it: the sum over distinct scores, descending, of the
 * gain in recall times the precision; equal scores enter together.  NaN when nothing is relevant.
 */
double ranking_average_precision(const double *score, const bool *relevant, int64_t n);

#endif
