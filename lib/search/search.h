/*
 * search - exact nearest neighbours by dot product, documents streamed past the queries.
 *
 * Candidates come from products of floats (nn.h: the processor's or a device's), tile by tile; whatever may belong to the
 * best `depth` is scored again by the processor, in double, and narrowed to float32.  So the score of a pair
 * depends on its two vectors only, not on tile, thread or kernel, and equal documents
 * tie exactly.  A NaN product counts as -1, as in MTEB.
 *
 * Memory: what search_memory says, however many documents pass.
 */
#ifndef SEARCH_SEARCH_H
#define SEARCH_SEARCH_H

#include <stddef.h>
#include <stdint.h>

struct search;

struct hit {
	float score;
	uint32_t document; /* number in order of arrival, from 0 */
};

/* Order of two documents with equal scores: positive when a ranks before b. */
typedef int search_order(const void *context, uint32_t a, uint32_t b);

/* queries [count, width] and context are borrowed until search_finish; what scores below `threshold`
 * is no hit. */
struct search *search_new(const float *queries, int64_t count, int width, int64_t depth,
    float threshold, search_order *order, const void *context);

/* Bytes of the host's for hits and for what is in flight, the queries themselves not among them. */
size_t search_memory(int64_t count, int64_t depth);

/* This document, which did not pass yet, is no hit of the query; one a query. */
void search_exclude(struct search *search, int64_t query, uint32_t document);

/* The next documents [count, width], none of them longer than `norm`. */
void search_add(
    struct search *search, const float *documents, int64_t count, double norm);

/* Of one query, best first. */
struct hits {
	struct hit *at;
	int64_t count; /* at most `depth` */
};

/* What may be among the best of a query by now, more than `depth`, in no order. */
struct hits search_hits(const struct search *search, int64_t query);

/* The best of each query, `hits` [count], in memory that is returned, the caller's.  Frees. */
struct hit *search_finish(struct search *search, struct hits *hits);

#endif
