/*
 * objective - what a training step learns: InfoNCE on pairs, or tokens of texts, masked or next ones.
 *
 * All are hidden behind one face, so that the trainer knows only batches: take one,
 * learn from it (add its gradient to the model's), say where the run stands, go there again.
 */
#ifndef TRAIN_OBJECTIVE_H
#define TRAIN_OBJECTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/model.h"
#include "text/tree.h"
#include "train/contrast.h"

enum objective_kind {
	OBJECTIVE_INFONCE,
	OBJECTIVE_MLM, /* masked tokens (mlm.h) */
	OBJECTIVE_CLM  /* the next token (clm.h) */
};

struct objective_options {
	enum objective_kind kind;
	struct contrast_options contrast; /* expert and epochs hold for all kinds */
	bool bidirectional;
	double
	    balance; /* weight of the load-balancing loss (balance.h); 0: none; not of MLM */
	double reze;	      /* InfoNCE: weight of relation_loss.h; 0: none */
	int64_t tokens;	      /* forward and backward at a time: bounds the activations */
	int64_t batch_tokens; /* of a batch of texts */
	double mask_share;    /* MLM */
	const char *dev;      /* MLM and CLM: a file of texts held out; NULL: none */
	uint64_t seed;
};

struct objective;

/* Opens the stream; dies when it does not fit the objective or the model. */
struct objective *objective_open(
    const char *path, struct model *model, const struct objective_options *options);
void objective_close(struct objective *objective);

/* Batches in all; -1: not known. */
int64_t objective_total(struct objective *objective);

/* What a batch taught, of all ranks together.  Strings are borrowed until the next batch. */
struct batch_report {
	double loss;	  /* mean over its examples */
	double balance;	  /* load-balancing loss, without its weight */
	double reze;	  /* loss of relations, without its weight */
	double correct;	  /* of the examples, with shares of ties */
	int64_t examples; /* queries or predicted tokens */
	int64_t tokens, epoch;
	int64_t record;		    /* of the stream; 0: batches are cut anew */
	const char *task, *dataset; /* "" where the stream does not say */
};

/*
 * Take the next batch, add its gradient to the model's; `number` counts batches from 0 and seeds
 * what is random.  False at the end of the data, or where another rank has left.
 *
 * With several ranks (ranks.h) the gradient is this rank's share, whose sum over the ranks is that of the whole batch.
 * whole: told, as model_backward has it, what of it is whole, in a batch of pairs; NULL: nobody.
 */
bool objective_learn(struct objective *objective, int64_t number,
    struct batch_report *report, const struct model_whole *whole);

/* A batch was learned from, and another will be: where a device is still at work on it, read that one, if it is there.  What
 * the last report borrows is then gone. */
void objective_prepare(struct objective *objective);

/* This rank takes no further part: told to the others; false: they do not wait for a batch.  And whether another has
 * said so. */
bool objective_leave(struct objective *objective);
bool objective_left(const struct objective *objective);

/* The mean loss of what is predicted in the texts held out, none of which is learned; masks are the same each time. */
double objective_dev(struct objective *objective);

/* Where the data stand, as an object for a checkpoint; and to that place again.  Dies when the
 * data are not those of the checkpoint. */
struct tree *objective_place(const struct objective *objective);
void objective_resume(struct objective *objective, const struct tree *place);
const char *objective_name(
    const struct objective *objective); /* of the stream, for messages */

#endif
