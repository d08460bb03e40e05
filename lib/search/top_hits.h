/*
 * top_hits - the best `depth` hits of one query, kept in an array that is cut back when it is full.
 *
 * A document may be several numbers that order equally, its passages: then its best one counts, the first of equal ones.
 */
#ifndef SEARCH_TOP_HITS_H
#define SEARCH_TOP_HITS_H

#include <stdbool.h>
#include <stdint.h>

struct hit {
	float score;
	uint32_t document; /* number from 0 */
};

/* Breaks a tie of two documents: positive if a ranks before b. */
typedef int search_order(const void *context, uint32_t a, uint32_t b);

struct hit_ranking {
	int64_t depth;
	search_order *order; /* NULL: the lower number first */
	const void *context;
	bool passages; /* numbers that order equally are one document; needs an order */
};

/* Whether number a is of the document of number b; false if b is UINT32_MAX, none. */
bool top_hits_same(const struct hit_ranking *ranking, uint32_t a, uint32_t b);

struct top_hits {
	struct hit *hits; /* [top_hits_room(depth)], unordered */
	int64_t count;
	float
	    least; /* score of the worst hit after the last cut; before it the threshold */
};

/* Hits per query between cuts: rare cuts keep the least score low, frequent ones cost time. */
int64_t top_hits_room(int64_t depth);

/* Adds a hit unless it scores below `least`; score is not NaN. */
void top_hits_put(
    struct top_hits *top, const struct hit_ranking *ranking, struct hit hit);

/* Cuts back to `depth` hits and sorts them, best first. */
void top_hits_sort(struct top_hits *top, const struct hit_ranking *ranking);

#endif
