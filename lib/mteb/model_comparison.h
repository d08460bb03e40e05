/*
 * model_comparison - compares models with the first one by data set, by type and over all, with significance tests
 * (significance.h).
 *
 * Prints two tables for each pair of models, over the data sets that both have scores of: for each data set both
 * scores and the difference; for each type, and for all, the number of sets, both means, the difference, Welch's t
 * and p, the paired t and p, and the bootstrap interval.  Scores are times 100.
 *
 * Sets with the scores of each query in both results (set_comparison.h) have two tables more: for each set, type and all the
 * difference, its standard error, p and the bootstrap interval over queries, for sets also p by Holm's correction.
 */
#ifndef MTEB_MODEL_COMPARISON_H
#define MTEB_MODEL_COMPARISON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "mteb/registry.h"

struct comparison_options {
	bool markdown;
	int64_t resamples; /* draws of the bootstrap, and of the randomisation test */
	uint32_t seed;
};

/* Prints the line above the tables of two systems: "SECOND - FIRST", the detail, and what the intervals are of. */
void comparison_title(const struct comparison_options *options, const char *second,
    const char *first, const char *detail, FILE *out);

/* Reads at least two folders of results (results.h). */
void model_comparison_print(const struct registry *registry, char *const *folders,
    int count, const struct comparison_options *options, FILE *out);

#endif
