/*
 * search_internal - the fields of struct search, which vectors (search.c), terms (search_terms.c) and vectors of tokens
 * (search_tokens.c) share.
 */
#ifndef SEARCH_SEARCH_INTERNAL_H
#define SEARCH_SEARCH_INTERNAL_H

#include <stdbool.h>

#include "search/search.h"

/* A query and its hits. */
struct query_hits {
	struct top_hits top;
	uint32_t excluded; /* document; UINT32_MAX: none */
	double norm;
};

struct tile;
struct token_search;
struct worker;

struct search {
	int64_t count, seen;
	struct hit_ranking ranking;
	struct hit *memory;
	struct query_hits *best;
	/* of vectors: */
	const float *queries, *queries_at; /* on the host; in memory of the kernels */
	bool queries_copied;
	int width;
	struct tile *tiles;
	int64_t tile_count;
	struct worker *workers; /* NULL: of terms */
	/* of terms: */
	const struct term_rows *terms;
	/* of tokens: */
	struct token_search *tokens;
};

/* A search for `count` queries without hits. */
struct search *search_begin(int64_t count, int64_t depth, float threshold,
    search_order *order, const void *context);

/* Takes the score of a document, NaN as -1. */
void search_take(
    const struct search *search, int64_t query, int64_t document, double exact);

/* Dies if documents get too many. */
void search_count(const struct search *search, int64_t documents);

#endif
