/*
 * paired - objectives on batches of pairs, through the gradient cache: what infonce.c and scored.c share.
 *
 * An objective sets `begin`, and `end` if it has one, in its open, after paired_open.
 */
#ifndef TRAIN_PAIRED_H
#define TRAIN_PAIRED_H

#include "train/contrast.h"
#include "train/gradient_cache.h"
#include "train/held_out.h"
#include "train/objective.h"

struct paired {
	struct objective objective;
	struct gradient_cache *cache;
	struct held_out *held_out; /* NULL: none */
	size_t width;		   /* of the vectors that `begin` is given */
	float *gradient;	   /* nn memory [sequences, width]: d loss / d vectors */
	float *guide;		   /* nn memory, of paired_guide */
	size_t gradient_size, guide_size;

	/*
	 * Computes the gradient of a batch whose embeddings are `vectors`, which it may normalise, and sets loss and correct unless `end`
	 * does.  report NULL: the pairs are held out, each rank has all of them, and only their loss is computed.
	 */
	void (*begin)(struct paired *pairs, const struct contrast_batch *batch,
	    float *vectors, struct batch_report *report);
	/* Waits for loss and correct; NULL: `begin` has set them. */
	void (*end)(struct paired *pairs);
	double loss,
	    correct; /* this rank's share, also of the number of rows that are right */

	struct matryoshka *matryoshka; /* NULL: none */
};

void paired_open(struct objective *objective, const char *path);

/* Adds temperature, similarity, balance and Matryoshka widths to the settings of a checkpoint. */
void paired_settings(const struct objective_options *options, struct tree *settings);
void paired_close(struct objective *objective);

/* The vectors of a batch's guide or teacher, of length 1, in nn memory until the next call.  Never NULL, not even where a rank has
 * no texts. */
const float *paired_guide(struct paired *pairs, const struct contrast_batch *batch);

/* Dies, naming the record, if a score of the batch is not in 0..1. */
void paired_demand_labels(const struct paired *pairs, const struct contrast_batch *batch);

/* The functions of struct objective_type that all of them share. */
#define PAIRED_FUNCTIONS                                                                 \
	.total = paired_total, .learn = paired_learn, .position = paired_position,       \
	.resume = paired_resume
int64_t paired_total(struct objective *objective);
bool paired_learn(struct objective *objective, int64_t number,
    struct batch_report *report, const struct model_whole *whole);
void paired_dev(struct objective *objective, struct dev_report *report);
struct tree *paired_position(const struct objective *objective);
void paired_resume(struct objective *objective, const struct tree *position);

#endif
