/*
 * tune - the quickest of several algorithms with the same bits.
 */
#ifndef NN_CUDA_TUNE_H
#define NN_CUDA_TUNE_H

#include <functional>

#include "nn/cuda/device.h"

/* True if MOTES_CUDA_TUNE=1. */
bool tuning_wanted(void);

/* Rows of `bytes` bytes, `stride` bytes apart; all are even. */
struct tuned_result {
	size_t rows, stride, bytes;
};

/* Queues a candidate's computation of the result at `to`.  Returns false if it cannot. */
typedef std::function<bool(int candidate, void *to)> tuned_run;

/* Times in milliseconds: the candidate's, and that of candidate 0; less than 0 if that cannot run. */
struct tuned {
	int candidate;
	float time, first;
};

/* Tries `count` candidates: the quickest of those whose result has the bits of candidate 0's. */
struct tuned tune(int count, const struct tuned_result *result, const tuned_run &run);

#endif
