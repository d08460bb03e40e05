/*
 * rng - random numbers: xoshiro256++ (Blackman and Vigna 2018), seeded by splitmix64.  The state is four words, which a
 * checkpoint stores.  numpy's and Python's generator is in mt19937.h.
 */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

struct rng {
	uint64_t state[4];
};

/* Different `stream` numbers give independent sequences for one seed. */
struct rng rng_seed(uint64_t seed, uint64_t stream);
uint64_t rng_next(struct rng *rng);
uint64_t rng_below(struct rng *rng, uint64_t limit); /* 0..limit-1, unbiased */
double rng_uniform(struct rng *rng);		     /* [0, 1), 53 bits */
double rng_normal(struct rng *rng);		     /* mean 0, variance 1 */

/*
 * Position `index` of a pseudo-random permutation of 0..count-1 chosen by `key`:
 * a shuffle without memory (Feistel network with cycle walking).
 */
uint64_t rng_permute(uint64_t key, uint64_t index, uint64_t count);

/* A 64-bit hash of bytes (FNV-1a with a final mix).  start: 0, or the hash of the bytes before. */
uint64_t rng_hash(uint64_t start, const void *bytes, size_t count);

#endif
