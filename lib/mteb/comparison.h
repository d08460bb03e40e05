/*
 * comparison - models against the first of them: by data set, by type, over all; and what of it may
 * be chance (significance.h).
 *
 * Two tables for each pair, of the data sets that both have been scored on: every data set with
 * both scores and the difference; for each type, and for all, the number of sets, both means, the
 * difference, Welch's t and p, the paired t and p, the bootstrap's interval.  Scores times 100.
 */
#ifndef MTEB_COMPARISON_H
#define MTEB_COMPARISON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "mteb/registry.h"

#define COMPARISON_LEVEL 0.95 /* of the intervals */

struct comparison_options {
	bool markdown;
	int64_t resamples; /* draws of the bootstrap, and of the randomisation test */
	uint32_t seed;
};

/* Folders of results, two at least. */
void comparison_print(const struct registry *registry, char *const *folders, int count,
    const struct comparison_options *options, FILE *out);

#endif
