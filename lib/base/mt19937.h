/*
 * mt19937 - the Mersenne Twister as the reference implementations draw from it.
 *
 * MTEB's samples come from numpy's legacy RandomState and from Python's random.Random, both
 * seeded with 42.  These functions consume the 32-bit stream exactly as those do, so
 * the sampled indices are the same; tests hold them to known vectors.
 */
#ifndef BASE_MT19937_H
#define BASE_MT19937_H

#include <stdint.h>

struct mt19937 {
	uint32_t state[624];
	int next;
};

/* numpy.random.RandomState(seed): Knuth's recurrence over one integer. */
void mt19937_seed_numpy(struct mt19937 *mt, uint32_t seed);

/* random.Random(seed): init_by_array of the one-word key. */
void mt19937_seed_python(struct mt19937 *mt, uint32_t seed);

uint32_t mt19937_next(struct mt19937 *mt);
double mt19937_uniform(
    struct mt19937 *mt); /* [0, 1), 53 bits of two draws; both libraries */

/* numpy's bounded draw: 0..most inclusive, by masked rejection; most = 0 draws nothing. */
uint32_t mt19937_bounded(struct mt19937 *mt, uint32_t most);

/* randint(0, limit, count) */
void mt19937_integers(struct mt19937 *mt, int64_t limit, int64_t *to, int64_t count);

/* shuffle(items), in place; permutation(n) is the shuffle of 0..n-1, and
 * choice(n, r, replace=False) its first r entries. */
void mt19937_shuffle(struct mt19937 *mt, int64_t *items, int64_t count);

/* choice(limit, count, p=uniform): a right-sided search of one double per draw in the
 * cumulative sum of 1/limit, taken over its last entry. */
void mt19937_choices(struct mt19937 *mt, int64_t limit, int64_t *to, int64_t count);

/* Python: Random.choices(range(limit), k=count) and Random.sample(range(limit), count). */
void mt19937_python_choices(
    struct mt19937 *mt, int64_t limit, int64_t *to, int64_t count);
void mt19937_python_sample(struct mt19937 *mt, int64_t limit, int64_t *to, int64_t count);

/*
 * The training rows that MTEB's classification draws, experiment by experiment.  Each shuffles
 * the rows by numpy's generator, seeded anew, going on from the order before, and walks them,
 * taking each whose label has not enough yet.
 */
struct mt19937_sample {
	int64_t *rows; /* in the order of the walk; owned */
	int64_t size;
};

/* [experiments], to be freed with their rows; label [n] counts from 0 to classes - 1. */
struct mt19937_sample *mt19937_undersample(const int32_t *label, int64_t n,
    int32_t classes, int most, int experiments, uint32_t seed);

#endif
