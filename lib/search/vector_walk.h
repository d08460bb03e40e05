/*
 * vector_walk - the nearest rows of an index for queries, by its graphs: approximate.
 *
 * The graph of each part of the index finds the `beam` nearest rows by codes (graph.h); these are compared exactly.  If conditions
 * leave rows out, the beam is wider, so that about `beam` rows pass.
 */
#ifndef SEARCH_VECTOR_WALK_H
#define SEARCH_VECTOR_WALK_H

#include <stdint.h>

#include "search/vector_scan.h"

/* Writes the best rows of queries [count, width] to hits [count], which lie in the returned memory; the caller frees it.  Dies if a
 * link is damaged. */
struct hit *vector_walk(const struct vector_index *index, const float *queries,
    int64_t count, const struct vector_search_options *options, struct hits *hits);

#endif
