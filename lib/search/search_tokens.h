/*
 * search_tokens - exact late interaction (MaxSim): the queries in memory, the documents streamed, each a list of vectors of tokens.
 *
 *	score = sum over the query's vectors of the largest dot product with a vector of the document
 *
 * A GEMM in float32 (nn.h: CPU or GPU) makes the products of a group of queries and some documents.  If a document may
 * be among the best `depth`, the CPU recomputes in double those products that may be the largest.  So the score
 * depends on the two texts' vectors only, not on groups, threads or kernels, and equal documents tie exactly.  A text
 * without vectors scores 0.
 *
 * Memory: the queries, their hits, and for each thread the products of 256 vectors of queries and 512 of documents, or of one
 * text that has more.
 */
#ifndef SEARCH_SEARCH_TOKENS_H
#define SEARCH_SEARCH_TOKENS_H

#include <stdbool.h>
#include <stdint.h>

#include "search/search.h"
#include "search/vector_lists.h"

/* As search_new; search_exclude, search_hits and search_finish serve all.  mean: scores are divided by the number of the
 * query's vectors. */
struct search *search_tokens_new(const struct vector_lists *queries, int width, bool mean,
    int64_t depth, float threshold, search_order *order, const void *context);

/* Searches the next documents, whose vectors are at most `norm` long. */
void search_tokens_add(
    struct search *search, const struct vector_lists *documents, double norm);

/* The score of the last of the documents for a query, the same number.  Not for several threads. */
float search_tokens_score(struct search *search, int64_t query,
    const struct vector_lists *documents, double norm);

/* Frees what search_finish does not know. */
struct token_search;
void token_search_free(struct token_search *tokens);

#endif
