/*
 * agreement - a table of the agreement of each two clusterings of the same rows (partition_agreement).
 *
 * MoEE (Li and Zhou 2024, "Your Mixture-of-Experts LLM is Secretly an Embedding Model for Free"), section 3.2 and Table 1: k-means
 * of routing weights and of hidden states.
 */
#ifndef PAPERS_MOEE_AGREEMENT_H
#define PAPERS_MOEE_AGREEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "geometry/clusterings.h"

struct agreement_options {
	struct clusterings_options columns;
	uint64_t seed;
	int runs; /* of k-means, each with another seed; 0: 5 */
	bool json;
};

/*
 * Prints a line for each two clusterings: a, b, rows, runs, clusters_a, clusters_b (not empty), ami, nmi, jaccard, matched,
 * identical, as means over the runs; and their standard deviations (n - 1).
 *
 * Run r, from 0, of clustering c of C uses seed + r C + c: a stream given twice shows the agreement of k-means with itself.
 */
void agreement_print(
    const char *const *paths, int count, const struct agreement_options *options);

#endif
