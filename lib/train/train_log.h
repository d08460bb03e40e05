/*
 * train_log - OUT.log.tsv: a header line, and a line for each step of training.
 *
 * The columns are those of train(1), Files.  The first rank (ranks.h) writes the file; the others write to /dev/null.  All functions
 * die if the file cannot be written.
 */
#ifndef TRAIN_TRAIN_LOG_H
#define TRAIN_TRAIN_LOG_H

#include <stdint.h>

#include "train/development.h"
#include "train/trainer.h"

struct train_log;

struct step_report {
	double loss, balance, reze, rate, norm, correct;
	int64_t batches, examples, tokens, epoch, record;
	char *task, *dataset; /* "mixed" where accumulated batches differ */
};

/*
 * A new log; or, if bytes > 0 and the file is there, the log of a checkpoint that has seen so many bytes: it is cut to them, and keeps
 * its columns, whatever --timing says.  Options and development are borrowed.
 */
struct train_log *train_log_open(const struct trainer_options *options,
    const struct development *development, int64_t bytes);

/* Line of a step that has the measures of the held-out data alone: of step 0, or of the last one (development_print). */
void train_log_dev(struct train_log *log, int64_t step);
void train_log_step(struct train_log *log, int64_t step, const struct step_report *report,
    double seconds);

/* The length of the file. */
int64_t train_log_bytes(const struct train_log *log);

/* Puts the file on the disk. */
void train_log_close(struct train_log *log);

#endif
