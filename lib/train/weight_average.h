/*
 * weight_average - the exponential moving average of the weights in training (Polyak and Juditsky 1992), from the weights before the
 * first step on:
 *	average += (1 - decay) (weight - average)	after each step of the optimiser
 * It is torch.optim.swa_utils' get_ema_multi_avg_fn.  A weight that does not change keeps its bits.
 *
 * With several ranks (ranks.h) each has the average of the part of the weights that it updates (optim_part).
 */
#ifndef TRAIN_WEIGHT_AVERAGE_H
#define TRAIN_WEIGHT_AVERAGE_H

#include "model/model.h"
#include "train/optim.h"

struct weight_average;

/* NULL if decay is 0; all functions take NULL.  Model and optimiser are borrowed. */
struct weight_average *weight_average_new(
    struct model *model, const struct optim *optim, double decay);
void weight_average_free(struct weight_average *average);

/* After each step. */
void weight_average_step(struct weight_average *average);

/* The model's weights become their average, and with the next call what they were.  All ranks call it. */
void weight_average_swap(struct weight_average *average);

/* The average of part `index` of optim_part, in nn memory. */
float *weight_average_part(const struct weight_average *average, size_t index);

#endif
