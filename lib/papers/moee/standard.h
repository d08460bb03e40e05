/*
 * standard - vectors of which each dimension has mean 0 and deviation 1, over all of them or over each
 * batch in the order in which they come:
 *	(x - mean) / (deviation + 1e-8), the deviation of n divided by n - 1,
 * computed in double.  A batch of one vector, which has no deviation, becomes zeros, as in MoEE's released code.
 *
 * Memory does not grow with the vectors; what is known of batches lies in a spool.
 */
#ifndef PAPERS_MOEE_STANDARD_H
#define PAPERS_MOEE_STANDARD_H

#include <stdint.h>

struct standard;

/* batch 0: all vectors are one. */
struct standard *standard_new(int width, int64_t batch);

/* x [rows, width]: the next of them. */
void standard_add(struct standard *standard, const float *x, int64_t rows);

/* No more will be added. */
void standard_finish(struct standard *standard);

/* to [rows, width] from x.  With batches: the vectors that were added, in the same order; dies naming `stream` when there
 * are more. */
void standard_apply(struct standard *standard, float *to, const float *x, int64_t rows,
    const char *stream);

/* The first vector is the next again. */
void standard_rewind(struct standard *standard);

/* Of all means and deviations; chains by `start`, as rng_hash does. */
uint64_t standard_hash(const struct standard *standard, uint64_t start);
void standard_free(struct standard *standard);

#endif
