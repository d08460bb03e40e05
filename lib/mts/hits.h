/*
 * hits - prints the results of a search to standard output, as text or JSON.
 */
#ifndef MTS_HITS_H
#define MTS_HITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/output.h"
#include "search/run.h"

/* Prints all queries of a run and flushes.  self: prints the pairs of a stream searched for its own rows.  first: nothing
 * was printed before.  Lines are cut to a terminal's width.  Dies naming the output if that fails. */
void hits_print_run(
    const struct run *run, bool json, bool self, bool first, const struct output *output);

#endif
