/*
 * statistics_table - statistics of relations as people read them: a line for each source, or for each
 * component, or both as JSON; to standard output.
 *
 * Of a source: its pairs, how many factors are not 1, the least and the mean of these, and how far its mean lies
 * from the middle of all in the active components, before and after its components are multiplied by them.
 * Of a component: its eigenvalue, the share of the variance that those up to it have, whether it is active
 * and varies, its middle, dispersion and band, how many sources are shrunk in it, and their least factor.
 */
#ifndef PAPERS_REZE_STATISTICS_TABLE_H
#define PAPERS_REZE_STATISTICS_TABLE_H

#include "papers/reze/statistics.h"

enum statistics_view { VIEW_SOURCES, VIEW_COMPONENTS, VIEW_JSON };

void statistics_print(const struct statistics *statistics, enum statistics_view view);

#endif
