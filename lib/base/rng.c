#include "base/rng.h"

#include <math.h>

static uint64_t
mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static uint64_t
rotate(uint64_t x, int by)
{
	return (x << by) | (x >> (64 - by));
}

struct rng
rng_seed(uint64_t seed, uint64_t stream)
{
	struct rng rng;
	uint64_t x = mix(seed + 0x9e3779b97f4a7c15u) ^ mix(stream + 0x632be59bd9b4e019u);

	for (int i = 0; i < 4; i++)
		rng.state[i] = mix(x += 0x9e3779b97f4a7c15u);
	return rng;
}

uint64_t
rng_next(struct rng *rng)
{
	uint64_t *s = rng->state;
	uint64_t result = rotate(s[0] + s[3], 23) + s[0], t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate(s[3], 45);
	return result;
}

uint64_t
rng_below(struct rng *rng, uint64_t limit)
{
	uint64_t floor = -limit % limit, x; /* 2^64 mod limit */

	do
		x = rng_next(rng);
	while (x < floor);
	return x % limit;
}

double
rng_uniform(struct rng *rng)
{
	return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

double
rng_normal(struct rng *rng)
{
	/* Box-Muller, one value per call: no state beside `rng` */
	double radius = sqrt(-2 * log(1 - rng_uniform(rng)));

	return radius * cos(6.283185307179586 * rng_uniform(rng));
}

uint64_t
rng_permute(uint64_t key, uint64_t index, uint64_t count)
{
	int bits = 2;

	while (bits < 64 && (count - 1) >> bits)
		bits += 2;
	int half = bits / 2;
	uint64_t mask = ((uint64_t)1 << half) - 1;
	do {
		uint64_t left = index >> half, right = index & mask;
		for (uint64_t round = 0; round < 6; round++) {
			uint64_t next =
			    left ^ (mix(key ^ mix(right + (round << 56))) & mask);
			left = right;
			right = next;
		}
		index = left << half | right;
	} while (index >= count);
	return index;
}

uint64_t
rng_hash(uint64_t start, const void *bytes, size_t count)
{
	const unsigned char *byte = bytes;
	uint64_t hash = start ^ 0xcbf29ce484222325u;

	for (size_t i = 0; i < count; i++)
		hash = (hash ^ byte[i]) * 0x100000001b3u;
	return mix(hash);
}
