/*
 * router - the scores of queries with each gate of a library, and the gates that are best.
 *
 * A gate's score is the mean (RouterRetriever as in the paper) or the greatest (its released code) over its vectors of
 * their dot product, or cosine, with the query; of a classifier the decision value, whose greatest is that of the
 * probability.  Computed in double, rounded to float32; of equals the first gate of the library is best.
 */
#ifndef PAPERS_ROUTING_ROUTER_H
#define PAPERS_ROUTING_ROUTER_H

#include <stdbool.h>

#include "papers/routing/library.h"
#include "search/similarity.h"

enum rule { RULE_MEAN, RULE_MAX };
extern const char *const rule_names[]; /* ends with NULL */

struct router_options {
	enum similarity similarity; /* dot or cosine; of classifiers dot */
	enum rule rule;
};

/* How a library is used where nobody says: dot products, and the mean, of queries of data sets the greatest. */
struct router_options router_usual(const struct library *library);

struct routing;

/* Borrows the library. */
struct routing *router_new(
    const struct library *library, const struct router_options *options);

/* x [rows,width], for cosines units; scores [rows, gates]; best [rows]. */
void router_route(const struct routing *router, const float *x, int64_t rows,
    double *scores, int32_t *best);

/* Dies where a score is beyond f32, naming it: the rows are the reader's vectors numbers[rows], from 0; NULL: 0, 1, ... */
void router_demand_finite(const struct routing *router, const struct reader *reader,
    const double *scores, int64_t rows, const int64_t *numbers);
void router_free(struct routing *router);

#endif
