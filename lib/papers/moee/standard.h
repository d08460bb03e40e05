/*
 * standard - standardises vectors per dimension, over all of them or over consecutive batches, as MoEE's released code does:
 *	(x - mean) / (deviation + 1e-8), deviation with n - 1,
 * computed in double.  A batch of one vector becomes zeros.
 *
 * Memory does not grow with the vectors: means and deviations of batches are in a temporary file (spool.h).
 */
#ifndef PAPERS_MOEE_STANDARD_H
#define PAPERS_MOEE_STANDARD_H

#include <stdint.h>

struct standard;

/* batch 0: one batch of all vectors. */
struct standard *standard_new(int width, int64_t batch);

/* Adds the next vectors x [rows, width]. */
void standard_add(struct standard *standard, const float *x, int64_t rows);

/* Call it after the last standard_add. */
void standard_finish(struct standard *standard);

/* to [rows, width] from x.  With batches, x must be the added vectors in the same order; dies naming `stream` if there are more. */
void standard_apply(struct standard *standard, float *to, const float *x, int64_t rows,
    const char *stream);

/* The next standard_apply starts at the first vector again. */
void standard_rewind(struct standard *standard);

/* Hash of all means and deviations; chains with `start` as rng_hash does. */
uint64_t standard_hash(const struct standard *standard, uint64_t start);
void standard_free(struct standard *standard);

#endif
