/*
 * merge - merges the runs of a corpus' shards into the run of a search over the whole corpus.
 *
 * The result is exact: a score depends on its two vectors only, and a document among the best of all is among the
 * best of its shard.  Runs are TREC files (run.h) or the output of near --json, all of one kind.
 * Memory: the merged hits, cut to `depth`, and one run.
 */
#ifndef SEARCH_MERGE_H
#define SEARCH_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "search/run.h"

/*
 * Keeps the best `depth` of each query; 0: the depth in the runs' tags, or without tags the longest list.  Queries
 * are in the order of the first run.  Sets *json if the runs are JSON.
 *
 * Dies, naming the run, if it differs from the others in queries (a query may be absent where a search may find
 * nothing, as with a threshold), in the settings of the search, or repeats a document of a run before it.
 */
struct run *merge_runs(const char *const *paths, int count, int64_t depth, bool *json);

#endif
