/*
 * objective - what a training step learns: InfoNCE on pairs (infonce.c), scores of pairs (scored.c), a teacher's vectors (distil.c),
 * a cross-encoder's scores (cross.c), or tokens of texts, masked (mlm.c) or next ones (clm.c).
 *
 * An objective is a file that defines a `struct objective_type`, and a row of `objectives` in objective.c.  The trainer knows
 * only the functions of that struct.
 */
#ifndef TRAIN_OBJECTIVE_H
#define TRAIN_OBJECTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/balance.h"
#include "model/model.h"
#include "text/tree.h"
#include "train/contrast.h"

struct objective_options {
	const struct objective_type *type;
	struct contrast_options contrast; /* expert and epochs hold for all types */
	bool bidirectional;
	bool dot; /* dot products, not cosines */
	int project; /* distil: the teacher's width, to which embeddings are projected; 0: none */
	const char *matryoshka; /* widths (matryoshka.h); NULL: none */
	double margin;		/* of contrastive and online */
	double positive;	/* bce: weight of positive pairs */
	double balance; /* weight of the load-balancing loss (balance.h); 0: none */
	double
	    false_negatives; /* InfoNCE: loss_batch.beyond; infinite: none, or 0 with a guide */
	const char *denominator; /* InfoNCE: loss_batch.terms, "qq,dq,dd"; NULL: none */
	bool own_negatives;	 /* InfoNCE: loss_batch.own_only */
	double reze;		 /* InfoNCE: weight of relation_loss.h; 0: none */
	int64_t tokens;	      /* per forward and backward pass: bounds the activations */
	int64_t batch_tokens; /* MLM and CLM: per batch of texts */
	double mask_share;    /* MLM: share of the tokens to predict */
	const char *dev;      /* file of held-out pairs or texts; NULL: none */
	const char
	    *dev_corpus; /* file of documents beside the held-out ones; NULL: no search */
	uint64_t seed;
};

/* The common part of every objective; the objective's own struct begins with it. */
struct objective {
	const struct objective_type *type;
	struct objective_options options;
	struct model *model;	 /* borrowed */
	struct balance *balance; /* NULL: none */
	/* Set by `open`: the stream's name, for messages; what its header says (stream_about); pairs, or NULL if it has texts. */
	const char *stream;
	struct tree *about;
	struct contrast *contrast;
};

/* The result of a batch, over all ranks.  Strings are borrowed until the next batch. */
struct batch_report {
	double loss;	  /* mean over its examples */
	double balance;	  /* load-balancing loss, unweighted */
	double reze;	  /* loss of relations, unweighted */
	double correct;	  /* number of examples, with shares of ties */
	int64_t examples; /* queries or predicted tokens */
	int64_t tokens, epoch;
	int64_t record;		    /* number in the stream; 0: a batch is no record */
	const char *task, *dataset; /* "" if the stream has none */
};

/* The measures of the held-out data. */
struct dev_report {
	double loss; /* mean over pairs or predicted tokens */
	double
	    accuracy; /* share of the pairs, or tokens, whose right answer scored highest */
	double ndcg, recall; /* with dev_corpus: nDCG@10, recall@1 */
	double spearman;     /* of similarities and scores */
	double precision;    /* average precision of pairs by a cross-encoder's scores */
	double best;	     /* the best step has the greatest */
};

struct objective_type {
	const char *name;    /* --objective */
	size_t size;	     /* bytes of the objective's own struct */
	double rate;	     /* default --lr */
	double balance;	     /* default --balance with token experts; -1: config.json's */
	bool predicts;	     /* tokens: a head that only predicts them learns */
	bool classifies;     /* the model is a cross-encoder (model_training) */
	const char *applies; /* the options of train(1) that only some objectives have */

	/* Opens the stream; dies if it does not fit the objective or the model. */
	void (*open)(struct objective *objective, const char *path);
	void (*close)(struct objective *objective);
	/* Adds the options that decide the weights to the settings of a checkpoint (settings.h). */
	void (*settings)(const struct objective_options *options, struct tree *settings);
	/* Number of batches of the whole run; -1: not known. */
	int64_t (*total)(struct objective *objective);

	/*
	 * Takes the next batch and adds its gradient to the model's; `number` counts batches from 0 and seeds random draws.
	 * Returns false at the end of the data, or when another rank has left.  With several ranks (ranks.h) the gradient is
	 * this rank's share; the shares of all ranks sum to the gradient of the batch.  whole: as in model_backward, for a batch
	 * of pairs; NULL: none.
	 */
	bool (*learn)(struct objective *objective, int64_t number,
	    struct batch_report *report, const struct model_whole *whole);

	/* which of them `dev` sets; ranks: nDCG@10, also without a corpus, and average precision, NaN where they are not defined */
	bool dev_accuracy, dev_spearman, dev_ranks;
	/* Measures the held-out data, which are not learned; masks are the same each time. */
	void (*dev)(struct objective *objective, struct dev_report *report);

	/* The position in the data, as an object for a checkpoint; and back to it.  resume dies if the data differ from the
	 * checkpoint's. */
	struct tree *(*position)(const struct objective *objective);
	void (*resume)(struct objective *objective, const struct tree *position);
};

extern const struct objective_type objective_infonce, objective_mlm, objective_clm,
    objective_cosent, objective_angle, objective_mse, objective_contrastive,
    objective_online, objective_margin_mse, objective_kl, objective_bce,
    objective_listnet, objective_distil, objective_triplet;
extern const struct objective_type *const objectives[]; /* ends with NULL */

/* Dies naming --objective if there is none of that name. */
const struct objective_type *objective_called(const char *name);

/* A negative `balance` becomes the reference's: the type's, config.json's or, with an adapter, 0.  Dies if it is above 0 and the model
 * has no token experts. */
void objective_choose_balance(
    struct objective_options *options, const struct model *model, bool adapter);

struct objective *objective_open(
    const char *path, struct model *model, const struct objective_options *options);
void objective_close(struct objective *objective);

/* Reads the next batch while the device computes, if it is there already; invalidates the last report's strings. */
void objective_prepare(struct objective *objective);

/* leave tells the other ranks that this one stops; false: they are not waiting for a batch.  left: has another rank stopped? */
bool objective_leave(struct objective *objective); /* true with one rank */
bool objective_left(const struct objective *objective);

/* For objectives: ends the count of the load-balancing loss, over all ranks, and returns it unweighted; sums a report over the
 * ranks; a hash as checkpoints have it. */
double objective_balance(struct objective *objective);
void objective_sum_report(struct batch_report *report);
struct tree *objective_hash(uint64_t hash);
uint64_t objective_hash_in(const struct tree *position, const char *key);

#endif
