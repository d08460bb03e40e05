/*
 * fit - a library from training queries.
 *
 * The best gate of a query is the one with the greatest score.  Of several equals, `ties` decides: the first of the
 * gates, none (the query is left out), or each, for its share of one query.
 */
#ifndef PAPERS_ROUTING_FIT_H
#define PAPERS_ROUTING_FIT_H

#include <stdint.h>

#include "papers/routing/instances.h"
#include "papers/routing/library.h"

enum ties { TIES_FIRST, TIES_DROP, TIES_SPLIT };
extern const char *const ties_names[]; /* ends with NULL */

struct fit_options {
	enum router router;
	enum ties ties;	  /* of pilots; classifiers leave ties out */
	int64_t clusters; /* of each group of pilots */
	int64_t samples;  /* of each data set, for ROUTER_DATASET */
	uint64_t seed;
};

/*
 * PILOTS (Lee et al. 2024, algorithm 1): of each data set and gate, the mean of the vectors of the queries that the gate
 * serves best; with several clusters that of each, found by k-means on the vectors alone.
 * DATASET: that many queries of each data set, drawn at random.
 * EXPERTS: for each gate logistic regression between the queries that it serves best and as many others, drawn of all.
 * HEAD: one logistic regression of all gates on as many queries of each.  Both are solved to the optimum, C = 1.
 * Gates that no query has best, and by classifiers that all have, are told in a warning.  Dies where nothing is left.
 */
struct library *fit_library(
    const struct instances *instances, const struct fit_options *options);

/* What fit_library does for classifiers. */
void fit_classifiers(struct library *library, const struct instances *instances,
    const struct fit_options *options);

#endif
