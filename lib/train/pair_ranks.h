/*
 * pair_ranks - how a cross-encoder's scores rank held-out pairs: nDCG@10 over the pairs of a query, average precision over all.
 *
 * A pair's label is rounded to a grade; it is relevant from grade 1.  Of equal scores the lower grade stands first.
 */
#ifndef TRAIN_PAIR_RANKS_H
#define TRAIN_PAIR_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pair_ranks {
	struct ranked_pair {
		uint64_t query; /* equal for the pairs of a query; 0: not known */
		double score, label;
	} * pairs;
	size_t count, room;
};

void pair_ranks_add(struct pair_ranks *ranks, uint64_t query, double score, double label);

/* The mean over the queries with relevant and irrelevant pairs; NaN: there are none.  Sorts the pairs. */
double pair_ranks_ndcg(struct pair_ranks *ranks);
/* NaN without a relevant pair. */
double pair_ranks_precision(const struct pair_ranks *ranks);
void pair_ranks_free(struct pair_ranks *ranks);

#endif
