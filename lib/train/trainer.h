/*
 * trainer - the loop: batches to gradients, gradients to steps, steps to a log and checkpoints.
 *
 * Beside the model folder OUT that a run makes lie
 *	OUT.log.tsv	one line a step; no clock in it, so equal runs write equal bytes
 *	OUT.checkpoint	the state to go on from; removed once OUT is complete
 *	OUT.lock	while it runs: another run of the same OUT dies (lock.h)
 * A run that finds OUT.checkpoint of the same settings goes on from it to the same weights, to the
 * bit; other settings are refused, unless the run is told to start anew.  SIGINT and SIGTERM make a
 * run write OUT.checkpoint after the step at hand and exit with 128 + the signal's number.
 */
#ifndef TRAIN_TRAINER_H
#define TRAIN_TRAINER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/model.h"
#include "train/objective.h"
#include "train/optim.h"

struct trainer_options {
	const char *out;
	struct optim_options optim;	    /* .steps 0: as many as the data give */
	struct objective_options objective; /* .tokens 0: what takes `memory` */
	size_t memory;	      /* bytes of activations; 0: nn_activation_bytes */
	int64_t accumulate;   /* batches to one step */
	int64_t save_every;   /* steps between checkpoints; 0: none */
	bool restart;	      /* ignore a checkpoint */
	bool timing;	      /* log seconds and tokens per second as well */
	enum dtype dtype;     /* of the saved weights */
	enum dtype precision; /* of products, as model_round was asked for; f32 or bf16 */
	const char
	    *lora; /* how the model was adapted, for the checkpoint; NULL: it is not */
};

/* Train on the stream at `path` ("-": standard input) and save to options->out.  Dies on a loss or
 * gradient that is not finite, naming step, task and record; the last checkpoint stays. */
void trainer_run(
    struct model *model, const char *path, const struct trainer_options *options);

#endif
