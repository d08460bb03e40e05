/*
 * lm - language modelling on batches of texts: what mlm.c and clm.c share.
 */
#ifndef TRAIN_LM_H
#define TRAIN_LM_H

#include "train/corpus.h"
#include "train/objective.h"

struct lm {
	struct objective objective;
	struct corpus *corpus, *dev;  /* NULL: no held-out texts */
	struct batch batch;	      /* the part of a batch of texts in work */
	int32_t *positions, *targets; /* of predicted tokens: rising position; id */
	size_t positions_capacity, targets_capacity;
	/* Fills positions and targets, which have room for every token of the batch; returns the number of predicted tokens. */
	int64_t (*choose)(
	    struct lm *lm, const struct corpus_batch *texts, int64_t number);
};

/* The functions of struct objective_type that both share. */
#define LM_FUNCTIONS                                                                     \
	.close = lm_close, .total = lm_total, .learn = lm_learn, .dev = lm_dev,          \
	.position = lm_position, .resume = lm_resume
/* lm_open sets `choose`; texts of fewer than `shortest` tokens are left out. */
void lm_open(struct lm *lm, const char *path, int64_t shortest,
    int64_t (*choose)(struct lm *lm, const struct corpus_batch *texts, int64_t number));
void lm_close(struct objective *objective);
/* The settings that both have; each adds its own. */
void lm_settings(const struct objective_options *options, struct tree *settings);
int64_t lm_total(struct objective *objective);
bool lm_learn(struct objective *objective, int64_t number, struct batch_report *report,
    const struct model_whole *whole);
void lm_dev(struct objective *objective, struct dev_report *report);
struct tree *lm_position(const struct objective *objective);
void lm_resume(struct objective *objective, const struct tree *position);

#endif
