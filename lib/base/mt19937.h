/*
 * mt19937 - the Mersenne Twister of numpy and Python, draw for draw.
 *
 * MTEB samples with numpy's legacy RandomState and Python's random.Random, both seeded with 42.  These functions
 * consume the 32-bit stream exactly as they do, so sampled indices are the same.
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

double mt19937_uniform(
    struct mt19937 *mt); /* [0, 1), 53 bits of two draws, in numpy and Python */

/* numpy: randint(0, limit, count). */
void mt19937_integers(struct mt19937 *mt, int64_t limit, int64_t *to, int64_t count);

/* numpy: shuffle(items), in place; permutation(n) is the shuffle of 0..n-1, and
 * choice(n, r, replace=False) its first r entries. */
void mt19937_shuffle(struct mt19937 *mt, int64_t *items, int64_t count);

/* numpy: choice(limit, count, p=uniform): searchsorted(cdf, draw, "right"), one double a draw, where cdf is the
 * cumulative sum of 1/limit divided by its last entry. */
void mt19937_choices(struct mt19937 *mt, int64_t limit, int64_t *to, int64_t count);

/* Python: Random.choices(range(limit), k=count) and Random.sample(range(limit), count). */
void mt19937_python_choices(
    struct mt19937 *mt, int64_t limit, int64_t *to, int64_t count);
void mt19937_python_sample(struct mt19937 *mt, int64_t limit, int64_t *to, int64_t count);

/*
 * The training rows of each experiment of MTEB's classification.  An experiment seeds the generator, shuffles the order
 * that the experiment before left, and takes a row if its label has fewer than `most` rows so far.
 */
struct mt19937_sample {
	int64_t *rows; /* [size], in the order taken; owned */
	int64_t size;
};

/* Returns [experiments], to be freed with their rows.  label [n]: 0 to classes - 1. */
struct mt19937_sample *mt19937_undersample(const int32_t *label, int64_t n,
    int32_t classes, int most, int experiments, uint32_t seed);

#endif
