#include "base/mt19937.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"

enum { WORDS = 624, MIDDLE = 397 };

void
mt19937_seed_numpy(struct mt19937 *mt, uint32_t seed)
{
	mt->state[0] = seed;
	for (uint32_t i = 1; i < WORDS; i++) {
		uint32_t last = mt->state[i - 1];
		mt->state[i] = 1812433253u * (last ^ last >> 30) + i;
	}
	mt->next = WORDS;
}

void
mt19937_seed_python(struct mt19937 *mt, uint32_t seed)
{
	uint32_t *state = mt->state;
	int i = 1;

	mt19937_seed_numpy(mt, 19650218u);
	for (int k = 0; k < WORDS; k++) {
		state[i] =
		    (state[i] ^ (state[i - 1] ^ state[i - 1] >> 30) * 1664525u) + seed;
		if (++i == WORDS) {
			state[0] = state[WORDS - 1];
			i = 1;
		}
	}
	for (int k = 0; k < WORDS - 1; k++) {
		state[i] =
		    (state[i] ^ (state[i - 1] ^ state[i - 1] >> 30) * 1566083941u) -
		    (uint32_t)i;
		if (++i == WORDS) {
			state[0] = state[WORDS - 1];
			i = 1;
		}
	}
	state[0] = 0x80000000u;
}

static void
twist(uint32_t *state)
{
	for (int i = 0; i < WORDS; i++) {
		uint32_t bits =
		    (state[i] & 0x80000000u) | (state[(i + 1) % WORDS] & 0x7fffffffu);
		state[i] = state[(i + MIDDLE) % WORDS] ^ bits >> 1 ^
			   (bits & 1 ? 0x9908b0dfu : 0);
	}
}

static uint32_t
next(struct mt19937 *mt)
{
	if (mt->next >= WORDS) {
		twist(mt->state);
		mt->next = 0;
	}
	uint32_t bits = mt->state[mt->next++];
	bits ^= bits >> 11;
	bits ^= bits << 7 & 0x9d2c5680u;
	bits ^= bits << 15 & 0xefc60000u;
	return bits ^ bits >> 18;
}

double
mt19937_uniform(struct mt19937 *mt)
{
	uint32_t high = next(mt) >> 5, low = next(mt) >> 6;

	return (high * 67108864.0 + low) / 9007199254740992.0;
}

/* numpy's bounded draw: an integer in 0..most, by masked rejection; most = 0 consumes nothing. */
static uint32_t
bounded(struct mt19937 *mt, uint32_t most)
{
	uint32_t mask = most, value;

	if (most == 0)
		return 0;
	for (int shift = 1; shift < 32; shift *= 2)
		mask |= mask >> shift;
	do
		value = next(mt) & mask;
	while (value > most);
	return value;
}

void
mt19937_integers(struct mt19937 *mt, int64_t limit, int64_t *to, int64_t count)
{
	for (int64_t i = 0; i < count; i++)
		to[i] = bounded(mt, (uint32_t)(limit - 1));
}

void
mt19937_shuffle(struct mt19937 *mt, int64_t *items, int64_t count)
{
	for (int64_t i = count - 1; i > 0; i--) {
		int64_t j = bounded(mt, (uint32_t)i), item = items[i];
		items[i] = items[j];
		items[j] = item;
	}
}

void
mt19937_choices(struct mt19937 *mt, int64_t limit, int64_t *to, int64_t count)
{
	/* the running sum rounds, so the table is built as numpy builds it */
	double *cumulative = mem_new((size_t)limit, sizeof *cumulative), sum = 0;

	for (int64_t i = 0; i < limit; i++)
		cumulative[i] = sum += 1.0 / (double)limit;
	for (int64_t i = 0; i < limit; i++)
		cumulative[i] /= sum;
	for (int64_t i = 0; i < count; i++) {
		double value = mt19937_uniform(mt);
		int64_t low = 0, high = limit;
		while (low < high) {
			int64_t middle = low + (high - low) / 2;
			if (value < cumulative[middle])
				high = middle;
			else
				low = middle + 1;
		}
		to[i] = low;
	}
	free(cumulative);
}

void
mt19937_python_choices(struct mt19937 *mt, int64_t limit, int64_t *to, int64_t count)
{
	for (int64_t i = 0; i < count; i++)
		to[i] = (int64_t)floor(mt19937_uniform(mt) * (double)limit);
}

/* Random._randbelow: as many bits as the limit has, rejected when not below it. */
static int64_t
below(struct mt19937 *mt, int64_t limit)
{
	int bits = 0;
	int64_t value;

	while (limit >> bits)
		bits++;
	do
		value = next(mt) >> (32 - bits);
	while (value >= limit);
	return value;
}

void
mt19937_python_sample(struct mt19937 *mt, int64_t limit, int64_t *to, int64_t count)
{
	double pool_up_to = 21;

	if (count > 5)
		pool_up_to += pow(4, ceil(log((double)count * 3) / log(4)));
	if ((double)limit <= pool_up_to) {
		int64_t *pool = mem_new((size_t)limit, sizeof *pool);
		for (int64_t i = 0; i < limit; i++)
			pool[i] = i;
		for (int64_t i = 0; i < count; i++) {
			int64_t j = below(mt, limit - i);
			to[i] = pool[j];
			pool[j] = pool[limit - i - 1];
		}
		free(pool);
		return;
	}
	bool *taken = mem_zero((size_t)limit, sizeof *taken);
	for (int64_t i = 0; i < count; i++) {
		do
			to[i] = below(mt, limit);
		while (taken[to[i]]);
		taken[to[i]] = true;
	}
	free(taken);
}

static struct mt19937_sample
undersample_one(const int32_t *label, int64_t *order, int64_t n, int32_t classes,
    int most, uint32_t seed)
{
	int *counts = mem_zero((size_t)classes, sizeof *counts);
	struct mt19937_sample sample = { 0 };
	struct mt19937 mt;
	size_t capacity = 0;

	mt19937_seed_numpy(&mt, seed);
	mt19937_shuffle(&mt, order, n);
	for (int64_t i = 0; i < n; i++) {
		if (counts[label[order[i]]] == most)
			continue;
		counts[label[order[i]]]++;
		sample.rows = mem_grow(
		    sample.rows, &capacity, (size_t)sample.size + 1, sizeof *sample.rows);
		sample.rows[sample.size++] = order[i];
	}
	free(counts);
	return sample;
}

struct mt19937_sample *
mt19937_undersample(const int32_t *label, int64_t n, int32_t classes, int most,
    int experiments, uint32_t seed)
{
	struct mt19937_sample *samples = mem_new((size_t)experiments, sizeof *samples);
	int64_t *order = mem_new((size_t)n, sizeof *order);

	for (int64_t i = 0; i < n; i++)
		order[i] = i;
	for (int i = 0; i < experiments; i++)
		samples[i] = undersample_one(label, order, n, classes, most, seed);
	free(order);
	return samples;
}
