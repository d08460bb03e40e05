/*
 * hits - prints the results of a search to standard output, as text or JSON.
 */
#ifndef MTS_HITS_H
#define MTS_HITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/output.h"
#include "search/run.h"

/* Prints a query and one line per hit, cut to `width` columns (0: not cut). */
void hits_print(const struct run *run, int64_t query, int width);

/* Prints {"id", "text", "hits"} on a line. */
void hits_print_json(const struct run *run, int64_t query);

/* For the run of a stream against itself: prints each pair of rows of which one is a hit of the other, once, best
 * first; as two lines, or as {"score", "pair"}.  Memory: 24 bytes per hit. */
void hits_print_pairs(const struct run *run, bool json, int width);

/* Prints all queries of a run, or with `self` its pairs, and flushes.  first: nothing was printed before.  Cut to a terminal's
 * width.  Dies naming the output if that fails. */
void hits_print_run(
    const struct run *run, bool json, bool self, bool first, const struct output *output);

#endif
