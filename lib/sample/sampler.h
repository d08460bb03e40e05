/*
 * sampler - which examples are in which batch (MoTE section 3.2 and appendices A, D.2).
 *
 * Examples are shuffled in pools: a data set is a pool where batches are homogeneous, a task
 * where they are heterogeneous, everything where they are static.  The order of a pool in an
 * epoch is a computed permutation, so a pool's whole state is how many examples were taken.
 * A batch's task is drawn in proportion to the examples left (or uniformly among tasks that
 * have some), then a pool of the task likewise, with random numbers that depend on
 * seed and step only; the batch is the next examples of the pool.  An epoch ends when all
 * pools are empty.
 *
 * Weights: a data set of N examples and weight w gives round(w N) examples to an epoch, the
 * next ones of an endless sequence of permutations of it: with w = 1 each once, with
 * 1/2 one half now and the other half in the next epoch.  A weight is no chance: with chances the
 * data set that ends first ends the epoch, or is repeated unseen.  Tasks are drawn by what they
 * have left so that all end together (MoTE gives no rule); static batches are drawn from the union
 * of all tasks, as its appendix A reads.
 *
 * Because the order is computed and not a list, a batch follows from recipe, seed and step, and a
 * run resumes without reading what came before.
 */
#ifndef SAMPLE_SAMPLER_H
#define SAMPLE_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "sample/recipe.h"

struct example {
	int source;
	int64_t index; /* in the source's data set */
	int64_t pass;  /* how often the source was gone through before */
};

struct draw {
	int64_t step, epoch;
	int task, source; /* -1: the batch mixes several */
	int64_t rows;
	const struct example *examples;
};

/* Hashes of an example's query and document; see sampler_apart. */
typedef void sampler_keys(
    void *context, const struct example *example, uint64_t keys[SIDES]);

/* What one of several processes takes of each batch: all of them one after another, in the order of
 * their ranks, make it. */
struct slice {
	int64_t rank, ranks;
};

/* Its rows are slice_start .. slice_end-1; where they do not divide, the first ranks have one more. */
int64_t slice_start(const struct slice *slice, int64_t rows);
int64_t slice_end(const struct slice *slice, int64_t rows);

struct sampler;

/* counts[s]: the examples of source s.  Recipe and counts are borrowed.  in_order: nothing is
 * shuffled or weighted, sources come one after another, batches have one data set. */
struct sampler *sampler_new(
    const struct recipe *recipe, const int64_t *counts, bool in_order);

/*
 * From now on no batch has two equal queries or two equal documents: an example that would
 * bring one waits for a later batch of its pool.  Batches get smaller only where nothing
 * else is left in the pool.
 */
void sampler_apart(struct sampler *sampler, sampler_keys *keys, void *context);

/* Batches of an epoch (unless apart, which may need more). */
int64_t sampler_batches(const struct sampler *sampler);

/* The next batch, borrowed until the next call; NULL after the recipe's last epoch. */
const struct draw *sampler_next(struct sampler *sampler);

/* Pass over a batch, without looking at examples unless they are to be apart; false after the
 * last epoch. */
bool sampler_skip(struct sampler *sampler);

/* Of the examples in their order, from first to last-1. */
uint64_t sampler_checksum(const struct draw *draw, int64_t first, int64_t last);

/* A line of --plan for a slice of the batch: step, epoch, task, data sets with their rows, rows,
 * checksum. */
void sampler_print(
    const struct recipe *recipe, const struct draw *draw, const struct slice *slice);
void sampler_free(struct sampler *sampler);

#endif
