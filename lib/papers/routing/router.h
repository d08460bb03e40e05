/*
 * router - the scores of queries with each gate of a library (pilot_library.h), and the best gate.
 *
 * A gate's score is the mean (the paper, "Routing Mechanism") or the maximum (its released code) over its vectors of their dot product, or
 * cosine, with the query, or their mean weighted by the vectors' sizes (not in the paper); for a classifier its decision value.
 * Computed in double, rounded to float32; the first of equal gates is best.
 */
#ifndef PAPERS_ROUTING_ROUTER_H
#define PAPERS_ROUTING_ROUTER_H

#include <stdbool.h>

#include "papers/routing/pilot_library.h"
#include "search/similarity.h"

enum rule { RULE_MEAN, RULE_MAX, RULE_WEIGHTED };

struct router_options {
	enum similarity similarity; /* dot or cosine; dot for classifiers */
	enum rule rule;
};

/* The defaults: dot products; the mean, or the maximum for ROUTER_DATASET. */
struct router_options router_usual(const struct pilot_library *library);

struct routing;

/* Borrows the library. */
struct routing *router_new(
    const struct pilot_library *library, const struct router_options *options);

/* x [rows,width], of unit length for cosines; scores [rows,gates]; best [rows] gate numbers. */
void router_route(const struct routing *router, const float *x, int64_t rows,
    double *scores, int32_t *best);

/* Dies if a score overflows f32, naming the vector: numbers[rows], from 0; NULL: 0, 1, ... */
void router_demand_finite(const struct routing *router, const struct reader *reader,
    const double *scores, int64_t rows, const int64_t *numbers);
void router_free(struct routing *router);

#endif
