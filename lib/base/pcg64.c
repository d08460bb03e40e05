#include "base/pcg64.h"

__extension__ typedef unsigned __int128 wide;

static uint32_t
fold(uint32_t value)
{
	return value ^ value >> 16;
}

/* SeedSequence's hash of a word; `constant` changes with each call. */
static uint32_t
hash(uint32_t value, uint32_t *constant, uint32_t multiplier)
{
	value ^= *constant;
	*constant *= multiplier;
	return fold(value * *constant);
}

/* SeedSequence(seed).generate_state(4, uint64) */
static void
spread(uint32_t seed, uint64_t words[4])
{
	enum { POOL = 4 };
	uint32_t pool[POOL], constant = 0x43b0d7e5u;

	for (int i = 0; i < POOL; i++)
		pool[i] = hash(i ? 0 : seed, &constant, 0x931e8875u);
	for (int from = 0; from < POOL; from++)
		for (int to = 0; to < POOL; to++)
			if (from != to)
				pool[to] = fold(0xca01f9ddu * pool[to] -
						0x4973f715u * hash(pool[from], &constant,
								  0x931e8875u));
	constant = 0x8b51f9ddu;
	for (int i = 0; i < 4; i++) {
		uint64_t low = hash(pool[2 * i % POOL], &constant, 0x58f38dedu);
		uint64_t high = hash(pool[(2 * i + 1) % POOL], &constant, 0x58f38dedu);
		words[i] = high << 32 | low;
	}
}

static void
step(struct pcg64 *pcg)
{
	const wide multiplier = (wide)0x2360ed051fc65da4u << 64 | 0x4385df649fccf645u;

	pcg->state = pcg->state * multiplier + pcg->increment;
}

void
pcg64_seed(struct pcg64 *pcg, uint32_t seed)
{
	uint64_t words[4];

	spread(seed, words);
	*pcg = (struct pcg64){ .increment = ((wide)words[2] << 64 | words[3]) << 1 | 1 };
	step(pcg);
	pcg->state += (wide)words[0] << 64 | words[1];
	step(pcg);
}

/* 32 bits: the lower half of a draw of 64, then its upper half. */
static uint32_t
next(struct pcg64 *pcg)
{
	if (pcg->half) {
		pcg->half = false;
		return pcg->high;
	}
	step(pcg);
	uint64_t bits = (uint64_t)(pcg->state >> 64) ^ (uint64_t)pcg->state;
	unsigned turn = (unsigned)(pcg->state >> 122);
	bits = bits >> turn | bits << (-turn & 63);
	pcg->half = true;
	pcg->high = (uint32_t)(bits >> 32);
	return (uint32_t)bits;
}

/* An integer in 0..most by masked rejection; most = 0 consumes nothing. */
static int64_t
masked(struct pcg64 *pcg, uint32_t most)
{
	uint32_t mask = most, value;

	if (most == 0)
		return 0;
	for (int shift = 1; shift < 32; shift *= 2)
		mask |= mask >> shift;
	do
		value = next(pcg) & mask;
	while (value > most);
	return value;
}

/* The same by Lemire's method. */
static int64_t
bounded(struct pcg64 *pcg, uint32_t most)
{
	uint32_t limit = most + 1;

	if (most == 0)
		return 0;
	uint64_t product = (uint64_t)next(pcg) * limit;
	if ((uint32_t)product < limit) {
		uint32_t threshold = (UINT32_MAX - most) % limit;
		while ((uint32_t)product < threshold)
			product = (uint64_t)next(pcg) * limit;
	}
	return (int64_t)(product >> 32);
}

static void
swap(int64_t *items, int64_t i, int64_t j)
{
	int64_t item = items[i];

	items[i] = items[j];
	items[j] = item;
}

void
pcg64_shuffle(struct pcg64 *pcg, int64_t *items, int64_t count)
{
	for (int64_t i = count - 1; i > 0; i--)
		swap(items, i, masked(pcg, (uint32_t)i));
}

void
pcg64_choice(struct pcg64 *pcg, int64_t limit, int64_t *to, int64_t count)
{
	for (int64_t i = 0; i < count; i++) {
		int64_t most = limit - count + i, value = bounded(pcg, (uint32_t)most);
		for (int64_t j = 0; j < i; j++)
			if (to[j] == value)
				value = most; /* which none of them is */
		to[i] = value;
	}
	for (int64_t i = count - 1; i > 0; i--)
		swap(to, i, bounded(pcg, (uint32_t)i));
}
