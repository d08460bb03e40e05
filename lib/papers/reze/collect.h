/*
 * collect - statistics of relations from several streams: of pairs, or of statistics of their parts.
 *
 * Dies where streams are of several models (unless `any_model`), or of other columns or widths.  `*first` is the first
 * stream, read, for its name and history; to be closed.
 */
#ifndef PAPERS_REZE_COLLECT_H
#define PAPERS_REZE_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include "papers/reze/relations.h"
#include "papers/reze/shrinkage_settings.h"
#include "papers/reze/statistics.h"
#include "stream/stream.h"

/* Sums of the pairs; "-" is standard input.  Dies where there are none. */
struct statistics *collect_pairs(const char *const *paths, int count,
    const struct relation_names *names, bool any_model, struct reader **first);

/* Sums of statistics; `settings` becomes what they were made with, where the options do not say
 * otherwise.  Dies when those differ. */
struct statistics *collect_statistics(const char *const *paths, int count,
    const struct shrinkage_options *options, bool any_model,
    struct shrinkage_settings *settings, struct reader **first);

/* The number of each loaded row's source, [count]; one that is not known is added, or dies unless `fresh`.
 * To be freed. */
int *collect_sources(
    struct statistics *statistics, struct relations *relations, bool fresh);

/* Dies, unless both are of one model, as far as they know. */
void collect_check_model(
    const char *stream, const char *model, const char *other, const char *other_model);

#endif
