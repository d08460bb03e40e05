/*
 * standardizer - standardises vectors per dimension, over all of them or over consecutive batches, as MoEE's released code does:
 *	(x - mean) / (deviation + 1e-8), deviation with n - 1,
 * computed in double.  A batch of one vector becomes zeros.
 *
 * Memory does not grow with the vectors: means and deviations of batches are in a temporary file (spool.h).
 */
#ifndef PAPERS_MOEE_STANDARDIZER_H
#define PAPERS_MOEE_STANDARDIZER_H

#include <stdint.h>

struct standardizer;

/* batch 0: one batch of all vectors. */
struct standardizer *standardizer_new(int width, int64_t batch);

/* Adds the next vectors x [rows, width]. */
void standardizer_add(struct standardizer *standard, const float *x, int64_t rows);

/* Call it after the last standardizer_add. */
void standardizer_finish(struct standardizer *standard);

/* to [rows, width] from x.  With batches, x must be the added vectors in the same order; dies naming `stream` if there are more. */
void standardizer_apply(struct standardizer *standard, float *to, const float *x,
    int64_t rows, const char *stream);

/* The next standardizer_apply starts at the first vector again. */
void standardizer_rewind(struct standardizer *standard);

/* Hash of all means and deviations; chains with `start` as rng_hash does. */
uint64_t standardizer_hash(const struct standardizer *standard, uint64_t start);
void standardizer_free(struct standardizer *standard);

#endif
