/*
 * agreement - how two clusterings of the same rows agree (partition_agreement), for each two of them: a table.
 *
 * Your Mixture-of-Experts LLM is Secretly an Embedding Model for Free (Li and Zhou 2024), section 3.2 and Table 1: k-means
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
	int runs; /* of k-means, each clustering from a seed of its own; 0: 5 */
	bool json;
};

/*
 * To standard output, a line for each two clusterings: a, b, rows, runs, clusters_a, clusters_b (those that are not
 * empty), ami, nmi, jaccard, matched, identical, the means over the runs; and their standard deviations (n - 1).
 *
 * Run r, from 0, of clustering c of C has the seed seed + r C + c: a stream beside itself shows what chance leaves.
 */
void agreement_print(
    const char *const *paths, int count, const struct agreement_options *options);

#endif
