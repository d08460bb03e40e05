/*
 * sampler - draws the examples of each batch (MoTE, section 3.2 and appendices A, D.2).
 *
 * Examples are shuffled in pools: of a data set for homogeneous batches, of a task for heterogeneous ones, of everything for
 * static ones.  The order of a pool in an epoch is a computed permutation, so a pool's state is the number of examples taken.
 * A batch's task is drawn in proportion to the examples left (or uniformly among tasks that have some), then a pool of the task
 * likewise, with random numbers that depend on seed and step alone; the batch is the next examples of the pool.  An epoch ends
 * when all pools are empty.
 *
 * A data set of N examples and weight w gives round(w N) examples to an epoch, the next ones of an endless sequence of
 * permutations: with w = 1 each once, with w = 1/2 one half now and the other half in the next epoch.  Weights are not sampling
 * probabilities: with these, the first data set to end would end the epoch or be repeated.  Tasks are drawn by their examples
 * left, so that all end together (MoTE gives no rule); static batches are drawn from the union of all tasks (its appendix A).
 *
 * Since the order is computed, a batch follows from recipe, seed and step, and a run resumes without reading what came before.
 */
#ifndef SAMPLE_SAMPLER_H
#define SAMPLE_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "sample/recipe.h"

struct example {
	int source;
	int64_t index; /* in the source's data set */
	int64_t pass;  /* number of complete passes over the source before */
};

struct draw {
	int64_t step, epoch;
	int task, source; /* -1: the batch mixes several */
	int64_t rows;
	const struct example *examples;
};

/* Hashes of an example's query and document; see sampler_no_duplicates. */
typedef void sampler_keys(
    void *context, const struct example *example, uint64_t keys[SIDES]);

/* The rows of a batch that one of several processes takes: slice_start .. slice_end-1 in the order of ranks; the first ranks have
 * one more if they do not divide. */
struct rank_slice {
	int64_t rank, ranks;
};
int64_t slice_start(const struct rank_slice *slice, int64_t rows);
int64_t slice_end(const struct rank_slice *slice, int64_t rows);

struct sampler;

/* counts[sources]: examples of each source.  Recipe and counts are borrowed.  in_order: no shuffling and no weights; sources come one
 * after another, and a batch has one data set. */
struct sampler *sampler_new(
    const struct recipe *recipe, const int64_t *counts, bool in_order);

/*
 * From now on no batch has two equal queries or two equal documents (sentence-transformers' NoDuplicatesBatchSampler): a
 * duplicate is deferred to a later batch of its pool.  A batch is smaller only if the pool has nothing else left.
 */
void sampler_no_duplicates(struct sampler *sampler, sampler_keys *keys, void *context);

/* Batches of an epoch; without duplicates there may be more. */
int64_t sampler_batches(const struct sampler *sampler);

/* The next batch, borrowed until the next call; NULL after the recipe's last epoch. */
const struct draw *sampler_next(struct sampler *sampler);

/* Skips a batch, without reading examples unless duplicates are deferred; false after the last epoch. */
bool sampler_skip(struct sampler *sampler);

/* Hash of the examples first .. last-1, in their order. */
uint64_t sampler_checksum(const struct draw *draw, int64_t first, int64_t last);

/* Prints a line of --plan for a slice of the batch: step, epoch, task, data sets with their rows, rows, checksum. */
void sampler_print(
    const struct recipe *recipe, const struct draw *draw, const struct rank_slice *slice);
void sampler_free(struct sampler *sampler);

#endif
