/*
 * set_comparison - two systems' scores of one data set, query by query: for tests over sets (model_comparison.h).
 *
 * Reads the tables of 'mteb-score --per-query' beside both results.  The difference of a mean over queries has Student's standard
 * error; those of sts and pairclassification that of the bootstrap over pairs (pair_metrics.h).
 */
#ifndef MTEB_SET_COMPARISON_H
#define MTEB_SET_COMPARISON_H

#include <stdbool.h>
#include <stdint.h>

#include "mteb/results.h"

struct set_comparison {
	int64_t queries; /* in both tables */
	double value[2]; /* scores over these queries, as fractions */
	double error;	 /* standard error of value[1] - value[0]; NaN: a single query */
	double *
	    draws; /* [resamples], to be freed: the difference of queries drawn with replacement; NaN: undefined */
};

/* False if one of the results has no such table, or a table of another score, which is warned of. */
bool set_comparison_read(struct set_comparison *comparison,
    const struct task_result *const results[2], int64_t resamples, uint32_t seed);

#endif
