/*
 * trainer - the training loop: batches to gradients, gradients to steps, steps to a log and checkpoints.
 *
 * A run makes the model folder OUT, and beside it
 *	OUT.log.tsv	a line per step; without --timing no times, so equal runs write equal bytes
 *	OUT.checkpoint	the state to resume from; removed once OUT is complete
 *	OUT.best	the best model so far, with held-out data; becomes OUT
 *	OUT.lock	while it runs: another run of the same OUT dies (lock.h)
 * A run that finds OUT.checkpoint resumes it and ends with the same bits as an uninterrupted one.  It dies if the settings differ
 * (settings.h), unless told to restart.  SIGINT and SIGTERM make a run finish its step, write OUT.checkpoint and exit with 128 +
 * the signal's number.
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
	struct optim_options optim;	    /* .steps 0: until the data end */
	struct objective_options objective; /* .tokens 0: as `memory` allows */
	size_t memory;	    /* bytes of activations; 0: nn_activation_bytes */
	int64_t accumulate; /* batches per step */
	int64_t save_every; /* steps between checkpoints; 0: none */
	int64_t
	    dev_every; /* steps between measurements of held-out data; 0: save_every */
	int64_t
	    patience; /* measurements in a row without a new best, after which the run ends; 0: any */
	bool last_step;	      /* the last step's model is written, not the best one's */
	bool restart;	      /* ignore a checkpoint */
	bool timing;	      /* log seconds and tokens per second as well */
	enum dtype dtype;     /* of the saved weights */
	enum dtype precision; /* of the linear layers, for the checkpoint: f32 or bf16 */
	double ema;	      /* decay of weight_average.h; 0: none */
	double dropout;	      /* --dropout (dropout_rates.h); 0: none */
	const char *lora;     /* --lora, for the checkpoint; NULL: no adapter */
	const char *const *freeze; /* --freeze, for the checkpoint; NULL: none */
};

/* Trains on the stream at `path` ("-": standard input) and saves to options->out.  Dies on a loss or gradient that is not finite,
 * naming step, task and record; the last checkpoint stays. */
void trainer_run(
    struct model *model, const char *path, const struct trainer_options *options);

#endif
