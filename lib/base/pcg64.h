/*
 * pcg64 - numpy.random.default_rng(seed), draw for draw: PCG XSL RR 128/64, seeded by numpy's SeedSequence.
 *
 * mteb 2 and `datasets` sample with it.  These functions consume the stream exactly as numpy's Generator, so sampled
 * indices are the same.
 */
#ifndef BASE_PCG64_H
#define BASE_PCG64_H

#include <stdbool.h>
#include <stdint.h>

struct pcg64 {
	__extension__ unsigned __int128 state, increment;
	uint32_t high; /* the second half of a draw of 64 bits */
	bool half;     /* `high` was not used yet */
};

void pcg64_seed(struct pcg64 *pcg, uint32_t seed);

/* shuffle(items), in place; permutation(n) is the shuffle of 0..n-1. */
void pcg64_shuffle(struct pcg64 *pcg, int64_t *items, int64_t count);

/* numpy's choice(limit, count, replace=False).  limit: at most 10000, for which numpy draws by Floyd's algorithm. */
void pcg64_choice(struct pcg64 *pcg, int64_t limit, int64_t *to, int64_t count);

#endif
