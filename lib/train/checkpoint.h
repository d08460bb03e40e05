/*
 * checkpoint - the state of a training run in one file, from which it goes on to the same bits.
 *
 * A safetensors file: "values", "exp_avg", "exp_avg_sq" (f32, all parameters as the model lays
 * them out), "counts" (i64, updates of each parameter), "state" (u8: a JSON object: step, position
 * in the data, settings).  It is written beside its target, flushed and renamed: whatever happens,
 * the last complete one is there.  Several ranks (ranks.h) write their parts of it beside each other, and any number
 * of ranks goes on from it.  Writing it takes no memory to speak of: a run that fits does not
 * end at its first checkpoint.
 */
#ifndef TRAIN_CHECKPOINT_H
#define TRAIN_CHECKPOINT_H

#include "model/model.h"
#include "text/tree.h"
#include "train/optim.h"

void checkpoint_write(
    const char *path, struct model *model, struct optim *optim, const struct tree *state);

/* The state of the checkpoint at path, or NULL when there is none.  Restores nothing yet. */
struct tree *checkpoint_state(const char *path);

/* Restore parameters and moments; dies when the file is not of such a model. */
void checkpoint_restore(const char *path, struct model *model, struct optim *optim);

#endif
