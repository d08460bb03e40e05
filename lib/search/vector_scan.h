/*
 * vector_scan - the nearest rows of an index for a few queries, by the small forms of its vectors (codes.h).
 *
 * Without `rescore` all codes are read, and the rows that may be among the best are compared exactly: the result is that
 * of search.h.  With it all bits are read, and the best rescore x depth rows by them are compared exactly: the result is
 * approximate.  Neither depends on the number of threads.  With `probe` only the cells nearest to a query are read.
 */
#ifndef SEARCH_VECTOR_SCAN_H
#define SEARCH_VECTOR_SCAN_H

#include <stdint.h>

#include "search/search.h"
#include "search/vector_index.h"

struct vector_search_options {
	int64_t depth;
	float threshold;
	const uint32_t *
	    excluded; /* [count], a row for each query, left out with all rows of its document; UINT32_MAX: none */
	int64_t rescore; /* of a scan; 0: exact */
	int64_t probe;	 /* of a scan: cells, at most those of the index; 0: all rows */
	int64_t beam;	 /* of vector_walk.h: at least depth */
};

/* Writes the best rows of queries [count, width] to hits [count], which lie in the returned memory; the caller frees it. */
struct hit *vector_scan(const struct vector_index *index, const float *queries,
    int64_t count, const struct vector_search_options *options, struct hits *hits);

/* Compares vectors of the index, by their places, exactly with a query; puts all but the row `excluded` into top. */
void vector_rescore(const struct vector_index *index, const float *query,
    uint32_t excluded, const struct hit_ranking *ranking, struct top_hits *top,
    const uint32_t *places, int64_t count);

#endif
