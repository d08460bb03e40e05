/*
 * checkpoint - the state of a training run in one file; a resumed run computes the same bits.
 *
 * A safetensors file: "values", "exp_avg", "exp_avg_sq" (f32 [model_size], in the model's layout), "counts" (i64, updates of each
 * parameter), "ema" (f32 [model_size]) if there is an average of the weights (weight_average.h), "state" (u8: a JSON object: step, position in the data, settings).  Frozen weights are not in it.  It is written to
 * a temporary file, flushed and renamed, so the last complete checkpoint survives a crash.  Several ranks (ranks.h) write their
 * parts into one file, and any number of ranks can resume it.  Writing needs 1 MB of memory.
 */
#ifndef TRAIN_CHECKPOINT_H
#define TRAIN_CHECKPOINT_H

#include "model/model.h"
#include "text/tree.h"
#include "train/optim.h"
#include "train/weight_average.h"

/* The state that each step changes.  average may be NULL: the run has no moving average. */
struct checkpoint_arrays {
	struct model *model;
	struct optim *optim;
	struct weight_average *average;
};
void checkpoint_write(
    const char *path, const struct checkpoint_arrays *arrays, const struct tree *state);

/* Reads the state of the checkpoint at path alone; NULL if there is no checkpoint.  The caller frees it. */
struct tree *checkpoint_state(const char *path);

/* Restores them; dies if the file is of another model. */
void checkpoint_restore(const char *path, const struct checkpoint_arrays *arrays);

#endif
