/*
 * search - exact nearest neighbours by dot product: the queries in memory, the documents streamed.
 *
 * A GEMM in float32 (nn.h: CPU or GPU) scores tiles of queries x documents; documents that may be among the best `depth`
 * are rescored on the CPU in double and rounded to float32.  So the score of a pair depends on its two vectors only,
 * not on tile, thread or kernel, and equal documents tie exactly.  A NaN product counts as -1, as in mteb.
 *
 * Memory: search_memory, independent of the number of documents.
 */
#ifndef SEARCH_SEARCH_H
#define SEARCH_SEARCH_H

#include <stddef.h>
#include <stdint.h>

#include "search/top_hits.h"

struct search;

/* Documents are numbered in the order of search_add.  queries [count, width] and context are borrowed until search_finish.  Drops documents that score below
 * `threshold`. */
struct search *search_new(const float *queries, int64_t count, int width, int64_t depth,
    float threshold, search_order *order, const void *context);

/* Documents that order equally are passages of one, which its best passage ranks.  Call before search_add. */
void search_passages(struct search *search);

/* Host memory in bytes for hits and work space, without the queries. */
size_t search_memory(int64_t count, int64_t depth);

/* Excludes a document, not yet added, from the hits of a query; at most one per query, with all of its passages. */
void search_exclude(struct search *search, int64_t query, uint32_t document);

/* Searches the next documents [count, width]; their lengths are at most `norm`. */
void search_add(
    struct search *search, const float *documents, int64_t count, double norm);

/* The hits of a query, best first. */
struct hits {
	struct hit *at;
	int64_t count; /* at most `depth` */
};

/* The current candidates of a query, possibly more than `depth`, unordered. */
struct hits search_hits(const struct search *search, int64_t query);

/* Writes the best hits of each query to hits [count] and frees the search.  The hits lie in the returned memory, which
 * the caller frees. */
struct hit *search_finish(struct search *search, struct hits *hits);

#endif
