/*
 * candidates - search among given documents only: what a reranking task with a corpus adds.
 */
#ifndef SEARCH_CANDIDATES_H
#define SEARCH_CANDIDATES_H

#include "base/strings.h"
#include "search/run.h"

struct candidates;

/* From a run, or MTEB's lines of JSON; those of `queries`, which are of the file `name`.  Warns of
 * queries without any; dies when there are none at all. */
struct candidates *candidates_read(
    const char *path, const struct strings *queries, const char *name);

/* Compare a document with the queries [count, width] that it is a candidate of. */
void candidates_compare(struct candidates *candidates, const char *id, size_t length,
    int64_t document, const float *vector, const float *queries, int width);

/* Make what was found the run's hits, the best `depth` of each query; warns of candidates that were
 * no document.  Frees. */
void candidates_finish(struct candidates *candidates, struct run *run, int64_t depth);

#endif
