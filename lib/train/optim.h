/*
 * optim - AdamW over a model's parameters: schedules, clipping, groups.
 *
 * parameter->decay says which parameters decay (biases and norms do not).  A parameter whose gradient is all zero took no part in
 * the step (a task expert without rows in the batch, a token expert that no token chose, the masked-language-model head of a
 * contrastive run) and stays: no decay, no moments, no count.  Each expert of a stacked tensor counts as a parameter.  So each
 * parameter has its own step for the bias correction, as in torch.optim.AdamW when a gradient is None.
 *
 * With several ranks (ranks.h) parameters whose gradients are complete at the same time (those of a block, or of an expert there)
 * form buckets.  Each rank owns an equal part of a bucket: it sums that part's gradients, keeps its moments, updates it and
 * shares it.  So a rank has 1/N of the moments (ZeRO 1), gradients go to their owner alone (ZeRO 2), and parameters that no rank's
 * step reached cost nothing.
 */
#ifndef TRAIN_OPTIM_H
#define TRAIN_OPTIM_H

#include <stdbool.h>
#include <stdint.h>

#include "model/model.h"

enum schedule { SCHEDULE_CONSTANT, SCHEDULE_LINEAR, SCHEDULE_COSINE, SCHEDULE_WSD };

struct optim_options {
	double rate, beta1, beta2, epsilon, decay;
	double clip; /* maximal L2 norm of all gradients together; 0: none */
	enum schedule schedule;
	double
	    warmup; /* optimiser steps; below 1: share of all steps, 700 at most; below 0, which the trainer replaces: not given */
	int64_t steps;	    /* in all; 0: not known, for SCHEDULE_CONSTANT only */
	bool update_unused; /* decay and count parameters that took no part */
	const char *const *
	    rates; /* "GLOB,...=X": parameters with another peak rate (parameter_rates.h); NULL: none */
};

#define WARMUP_USUAL 0.05 /* share of the steps, if their number is known */
#define WSD_DECAY 0.1	  /* share of the steps in which SCHEDULE_WSD falls */

/* "constant", "linear", "cosine" or "wsd". */
const char *optim_schedule_name(enum schedule schedule);

/*
 * Learning rate of a step, counted from 0.  Warm-up is linear from 0 (step 0 has rate 0); then the rate is constant, or falls to 0
 * at the last step, linearly or by half a cosine: transformers' get_*_schedule_with_warmup; or it falls linearly in the last WSD_DECAY of the steps.
 */
double optim_rate(const struct optim_options *options, int64_t step);

/* The number of warm-up steps. */
double optim_warmup(const struct optim_options *options);

struct optim;

/* Borrows the model; the options are copied.  Moments start at zero. */
struct optim *optim_new(struct model *model, const struct optim_options *options);
void optim_free(struct optim *optim);

/* Starts to sum the gradients of a block (-1: parameters outside blocks) over the ranks; this rank's are complete. */
void optim_begin(struct optim *optim, int layer);

/*
 * Updates the parameters from the model's gradients x scale, clipped, at the rate of `step`, and sets the gradients to zero.
 * Returns the norm of gradients x scale before clipping; if it is not finite, nothing is changed.
 */
double optim_step(struct optim *optim, int64_t step, double scale);

/* The state for a checkpoint: updates of each parameter, [optim_units] in host memory (a unit is a parameter, or a matrix of a stack);
 * and this rank's parts of the moments: [count] floats in nn memory, of the model's elements from `offset` on.  The parts of all
 * ranks together are model_size elements. */
size_t optim_units(const struct optim *optim);
int64_t *optim_counts(struct optim *optim);
struct optim_part {
	size_t offset, count;
	float *first, *second;
};
size_t optim_parts(const struct optim *optim);
struct optim_part optim_part(const struct optim *optim, size_t index);

/* Gives all ranks the weights of each rank's parts. */
void optim_share(const struct optim *optim);

#endif
