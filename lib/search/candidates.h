/*
 * candidates - rescoring of given candidate documents of each query, for reranking tasks with a corpus.
 */
#ifndef SEARCH_CANDIDATES_H
#define SEARCH_CANDIDATES_H

#include "base/strings.h"
#include "search/run.h"

struct candidate_lists;

/* Reads the candidates of `queries` (of the file `name`) from a run or mteb's JSON Lines.  Warns of queries
 * without candidates; dies if no query has any. */
struct candidate_lists *candidates_read(
    const char *path, const struct strings *queries, const char *name);

/* Scores a document with the queries that it is a candidate of, by score(context, query). */
typedef double candidates_score(const void *context, int64_t query);
void candidates_compare(struct candidate_lists *candidates, const char *id, size_t length,
    int64_t document, candidates_score *score, const void *context);

/* Writes the best `depth` of each query to the run and frees the lists.  Warns of candidates that are not in the
 * corpus. */
void candidates_finish(
    struct candidate_lists *candidates, struct run *run, int64_t depth);

#endif
