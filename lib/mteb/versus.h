/*
 * versus - models against the first of them: by data set, by type, over all; and what of it may
 * be chance (significance.h).
 *
 * Two tables for each pair, of the data sets that both have been scored on: every data set with
 * both scores and the difference; for each type, and for all, the number of sets, both means, the
 * difference, Welch's t and p, the paired t and p, the bootstrap's interval.  Scores times 100.
 */
#ifndef VERSUS_H
#define VERSUS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "mteb/benchmark.h"

struct versus_options {
	bool markdown;
	int64_t resamples;
	uint32_t seed;
};

/* Folders of results, two at least. */
void versus_print(const struct benchmark *benchmark, char *const *folders, int count,
    const struct versus_options *options, FILE *out);

#endif
