/*
 * optim - AdamW over a model's parameters: schedules, clipping, groups.
 *
 * Groups: parameter->decay says which parameters decay (biases and norms do not).  A parameter
 * whose gradient is zero throughout took no part in the step (a task expert without rows in the
 * batch, a token expert that no token chose, the masked-language-model head of a contrastive run)
 * and is left alone: no decay, no moments, no count.  Of experts that are stacked in one tensor each
 * is taken by itself.  So each parameter has its own step for the bias correction, as in
 * torch.optim.AdamW when a gradient is None.
 *
 * With several ranks (ranks.h) parameters that are whole at the same time and learn together (those of a block, or of an
 * expert there) form buckets, of which each rank has an equal part: it sums up the gradients of that part, keeps its
 * moments, updates it and shares it.  So a rank has 1/N of the moments (ZeRO 1), gradients go to their owner alone (ZeRO
 * 2), and parameters that no rank's step has reached cost nothing.
 */
#ifndef TRAIN_OPTIM_H
#define TRAIN_OPTIM_H

#include <stdbool.h>
#include <stdint.h>

#include "model/model.h"

enum schedule { SCHEDULE_CONSTANT, SCHEDULE_LINEAR, SCHEDULE_COSINE };

struct optim_options {
	double rate, beta1, beta2, epsilon, decay;
	double clip; /* greatest L2 norm of all gradients together; 0: none */
	enum schedule schedule;
	double
	    warmup; /* optimiser steps; below 1: that share of all steps, 700 at most */
	int64_t steps; /* in all; 0: not known, good for SCHEDULE_CONSTANT only */
	bool
	    update_unused; /* decay and count what took no part, as with flattened gradients */
};

/* False when no schedule is called so. */
bool optim_schedule(const char *name, enum schedule *schedule);
const char *optim_schedule_name(enum schedule schedule);

/*
 * Learning rate of a step, from 0.  Warm-up is linear from 0 (the very first step has rate 0),
 * then constant, or to 0 at the last step: linear, or half a cosine.  The formulas of
 * transformers' get_*_schedule_with_warmup.
 */
double optim_rate(const struct optim_options *options, int64_t step);

/* The steps of the warm-up, where the options give a share of all. */
double optim_warmup(const struct optim_options *options);

struct optim;

/* Borrows the model; the options are copied.  Moments start at zero. */
struct optim *optim_new(struct model *model, const struct optim_options *options);
void optim_free(struct optim *optim);

/* The gradients of a block (-1: what is in none) are whole on this rank: begin to sum those that were reached. */
void optim_begin(struct optim *optim, int layer);

/*
 * Update the parameters from the model's gradients x scale, clipped, at the rate of `step`;
 * then set the gradients to zero.  Returns the norm of gradients x scale before clipping; where
 * it is not finite nothing has been changed.
 */
double optim_step(struct optim *optim, int64_t step, double scale);

/* What a checkpoint keeps: each parameter's count of updates (host, optim_units entries: one for each matrix of a
 * stack), and this rank's parts of the moments: `count` elements (nn memory) that belong to the parameters from
 * `offset` on.  All parts of all ranks are model_size elements. */
size_t optim_units(const struct optim *optim);
int64_t *optim_counts(struct optim *optim);
struct optim_part {
	size_t offset, count;
	float *first, *second;
};
size_t optim_parts(const struct optim *optim);
struct optim_part optim_part(const struct optim *optim, size_t index);

#endif
