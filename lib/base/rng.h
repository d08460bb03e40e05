/*
 * rng - random numbers: xoshiro256++ (Blackman and Vigna 2018), seeded by
 * splitmix64.  The whole state is four words, so a checkpoint can keep it.
 * The reference's generators (MT19937) are in mt19937.h.
 */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

struct rng {
	uint64_t state[4];
};

/* Streams of different `stream` numbers under one seed are independent. */
struct rng rng_seed(uint64_t seed, uint64_t stream);
uint64_t rng_next(struct rng *rng);
uint64_t rng_below(struct rng *rng, uint64_t limit); /* 0..limit-1, unbiased */
double rng_uniform(struct rng *rng);		     /* [0, 1), 53 bits */
double rng_normal(struct rng *rng);		     /* mean 0, variance 1 */

/*
 * Position `index` of a pseudo-random permutation of 0..count-1 chosen by `key`:
 * a shuffle that needs no list (Feistel network with cycle walking).
 */
uint64_t rng_permute(uint64_t key, uint64_t index, uint64_t count);

/* A 64-bit hash (FNV-1a with a final mix) of bytes; chain by passing the last. */
uint64_t rng_hash(uint64_t start, const void *bytes, size_t count);

#endif
