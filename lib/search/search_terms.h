/*
 * search_terms - exact search by weights of terms: the queries in memory, the documents streamed in blocks, each block an inverted
 * list: of each term the documents that have it.
 *
 * The score of a pair is the sum, in double and in the order of the terms, of products of weights, rounded to float32: it depends
 * on the two texts only.  A document without a term of the query has the score 0 and counts as any other.
 */
#ifndef SEARCH_SEARCH_TERMS_H
#define SEARCH_SEARCH_TERMS_H

#include "search/search.h"
#include "search/term_lists.h"

/* As search_new; search_exclude, search_hits and search_finish serve both. */
struct search *search_terms_new(const struct term_rows *queries, int64_t depth,
    float threshold, search_order *order, const void *context);

/* Searches the next documents. */
void search_terms_add(struct search *search, const struct term_rows *documents);

#endif
