/*
 * statistics_table - prints statistics of relations (REZE, section 3.1): a line per source, or per component, or both as JSON.
 *
 * Source: pairs; the number of factors that are not 1, their minimum and mean; the distance of its mean from the centre in the active
 * components, before and after shrinkage.
 * Component: eigenvalue; cumulative share of the variance; is it active; does it vary; centre, dispersion and band; the number of
 * sources that are shrunk in it, and their minimal factor.
 */
#ifndef PAPERS_REZE_STATISTICS_TABLE_H
#define PAPERS_REZE_STATISTICS_TABLE_H

#include "papers/reze/statistics.h"

enum statistics_view { VIEW_SOURCES, VIEW_COMPONENTS, VIEW_JSON };

void statistics_print(const struct statistics *statistics, enum statistics_view view);

#endif
