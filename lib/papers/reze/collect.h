/*
 * collect - statistics of relations (REZE, section 3.1) from several streams, of pairs or of partial statistics.
 *
 * Dies if the streams are of several models (unless `any_model`), or have other columns or widths.  *first receives the first
 * stream, read to its end, for its name and history; the caller closes it.
 */
#ifndef PAPERS_REZE_COLLECT_H
#define PAPERS_REZE_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include "papers/reze/relations.h"
#include "papers/reze/shrinkage_settings.h"
#include "papers/reze/statistics.h"
#include "stream/stream.h"

/* Sums of the pairs; "-" is standard input.  Dies if there are no pairs. */
struct statistics *collect_pairs(const char *const *paths, int count,
    const struct relation_names *names, bool any_model, struct reader **first);

/* Sums of statistics.  *settings receives the options, and for those that were not given the statistics' settings; dies if these
 * differ. */
struct statistics *collect_statistics(const char *const *paths, int count,
    const struct shrinkage_options *options, bool any_model,
    struct shrinkage_settings *settings, struct reader **first);

/* [count] the source number of each loaded row.  Adds an unknown source if `fresh`, else dies.  The caller frees it. */
int *collect_sources(
    struct statistics *statistics, struct relations *relations, bool fresh);

/* Dies if both models are known and differ. */
void collect_check_model(
    const char *stream, const char *model, const char *other, const char *other_model);

#endif
