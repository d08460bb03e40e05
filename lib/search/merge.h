/*
 * merge - what searches over the shards of a corpus found, as one search over all of it finds it.
 *
 * A score depends on its two vectors alone, and each shard's best hold whatever of it is among the best
 * of all, so nothing is lost.  Runs are TREC's columns (run.h) or the lines of near --json, all of one kind.
 * Memory: the hits of all so far, cut to `depth` each, and one run.
 */
#ifndef SEARCH_MERGE_H
#define SEARCH_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "search/run.h"

/*
 * The best `depth` of each query; 0: as many as the runs say that they have, or the longest list where they do
 * not say.  Queries are in the order of the first run.  `json`: whether they were lines of JSON.
 *
 * Dies, naming the run, where its queries are others (one that may have no hits in a shard, of a threshold
 * for one, may lack), where it was searched in another way, or has a document of one before it.
 */
struct run *merge_runs(const char *const *paths, int count, int64_t depth, bool *json);

#endif
