/*
 * fit - fits a library to training queries (RouterRetriever, Lee et al. 2025, algorithm 1).
 *
 * The best gate of a query has the greatest score.  `ties` decides between equal gates: the first, none (the query is left out), or
 * each, with an equal share of the query.
 */
#ifndef PAPERS_ROUTING_FIT_H
#define PAPERS_ROUTING_FIT_H

#include <stdbool.h>
#include <stdint.h>

#include "papers/routing/training_queries.h"
#include "papers/routing/pilot_library.h"

enum ties { TIES_FIRST, TIES_DROP, TIES_SPLIT };

struct fit_options {
	enum router router;
	enum ties ties;	  /* of pilots; classifiers leave ties out */
	int64_t clusters; /* pilots per data set and gate */
	int64_t least;	  /* pilots: queries of a group; smaller ones have no pilot */
	bool own; /* pilots: only of queries of the data set that has the gate's name */
	int64_t samples; /* queries per data set, for ROUTER_DATASET */
	uint64_t seed;
};

/*
 * PILOTS (algorithm 1): for each data set and gate the mean vector of the queries that the gate serves best; with several clusters
 * that of each cluster, found by k-means on the vectors.  `own` and `least` are not in the paper.
 * DATASET: `samples` queries of each data set, drawn at random.
 * EXPERTS: for each gate a logistic regression between the queries that it serves best and as many others, drawn at random.
 * HEAD: one logistic regression of all gates, on as many queries of each.  Both are solved to the optimum, C = 1.
 * Warns of gates without pilots.  Dies if there are none at all, or classifiers have one gate only.
 */
struct pilot_library *fit_library(
    const struct training_queries *queries, const struct fit_options *options);

/* fit_library for classifiers. */
void fit_classifiers(struct pilot_library *library,
    const struct training_queries *queries, const struct fit_options *options);

#endif
