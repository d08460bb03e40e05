/*
 * corpus_search - search a stream of documents for each query of another stream.
 *
 * Vectors that are not finite have similarity -1, as in the reference; of rows with one id the
 * first counts; both are warned of.  Documents pass by in blocks that keep every core busy.
 */
#ifndef CORPUS_SEARCH_H
#define CORPUS_SEARCH_H

#include <stdint.h>

#include "base/strings.h"
#include "score/run.h"
#include "score/score.h"

/* The best `depth` documents a query, queries in the order of options->files[0]; documents are those
 * of options->files[1], or each query's options->candidates.  wanted: search for these queries only;
 * NULL: for all. */
struct run *corpus_search(
    const struct score_options *options, int64_t depth, const struct strings *wanted);

#endif
