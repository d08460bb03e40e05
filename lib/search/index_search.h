/*
 * index_search - a search in an index (vector_index.h) instead of streams.
 */
#ifndef SEARCH_INDEX_SEARCH_H
#define SEARCH_INDEX_SEARCH_H

#include "search/corpus_search.h"
#include "search/vector_index.h"

/* The index that is the corpus of a search, opened; NULL if the corpus is streams.  Dies if it is an index beside streams, or
 * if an option does not apply to an index. */
struct vector_index *index_search_open(const struct search_options *options);

/* The number of cells to search that --probe says; 0: all.  A usage error if it is another text. */
int64_t index_search_probe(const char *text);

/* Dies unless the index can be searched for the queries' vectors by their similarity. */
void index_search_agree(const struct vector_index *index, const struct rows *queries,
    enum similarity similarity, const struct search_options *options);

/* The best rows of the run's queries [queries, width], whose lengths are at most `longest`, become the run's hits; with texts,
 * if those are wanted.  The run's documents are the hits; without ids all rows, named by their numbers. */
void index_search(const struct vector_index *index, const float *queries, double longest,
    const struct search_options *options, struct run *run);

#endif
