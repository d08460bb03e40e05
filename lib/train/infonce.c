/*
 * InfoNCE on batches of pairs, through the gradient cache.
 */
#include <math.h>
#include <stdlib.h>

#include "ranks/ranks.h"
#include "train/loss.h"
#include "train/paired.h"
#include "train/relation_loss.h"

struct infonce {
	struct paired pairs;
	struct loss *loss;
	struct relation_loss *relations; /* NULL: none */
};

/* The gradient is ready, but the loss is still on its way from the device. */
static void
begin(struct paired *pairs, const struct contrast_batch *batch, float *vectors,
    struct batch_report *report)
{
	struct infonce *infonce = (struct infonce *)pairs;
	const struct objective_options *o = &pairs->objective.options;
	bool learns = report;
	float beyond = (float)o->false_negatives;
	struct relation_loss *relations = learns ? infonce->relations : NULL;
	struct loss_batch loss = {
		.rows = (size_t)batch->rows,
		.negatives = (size_t)batch->negatives,
		.width = pairs->width,
		.temperature = (float)batch->temperature,
		.bidirectional = o->bidirectional,
		.dot = o->dot,
		.keys = batch->keys,
		.parts = learns ? &batch->parts : NULL,
		.beyond = learns && isfinite(beyond) ? &beyond : NULL,
	};

	if (relations) {
		double share =
		    (double)batch->rows / (double)batch->parts.rows[ranks_count()];
		report->reze =
		    share * relation_loss_measure(relations, vectors, batch->targets,
				loss.rows, loss.width, share * o->reze);
	}
	loss_infonce_begin(infonce->loss, pairs->gradient, vectors, &loss);
	if (relations)
		relation_loss_add(relations, pairs->gradient);
}

static double
end(struct paired *pairs, double *correct)
{
	return loss_infonce_end(((struct infonce *)pairs)->loss, correct);
}

static void
open_infonce(struct objective *objective, const char *path)
{
	struct infonce *infonce = (struct infonce *)objective;
	bool targets = objective->options.reze > 0;

	objective->options.contrast.targets = targets;
	objective->options.contrast.usual_temperature = 0.03; /* MoTE, appendix D */
	paired_open(objective, path);
	infonce->pairs.begin = begin;
	infonce->pairs.end = end;
	infonce->loss = loss_new();
	if (targets)
		infonce->relations = relation_loss_new();
}

static void
close_infonce(struct objective *objective)
{
	struct infonce *infonce = (struct infonce *)objective;

	paired_close(objective);
	loss_free(infonce->loss);
	if (infonce->relations)
		relation_loss_free(infonce->relations);
}

static void
add_settings(const struct objective_options *o, struct tree *settings)
{
	paired_settings(o, settings);
	tree_set(settings, "bidirectional", tree_of_boolean(o->bidirectional));
	if (isfinite(o->false_negatives))
		tree_set(settings, "false-negatives", tree_of_real(o->false_negatives));
	if (o->reze > 0)
		tree_set(settings, "reze", tree_of_real(o->reze));
	tree_set(
	    settings, "no-mask-duplicates", tree_of_boolean(o->contrast.keep_duplicates));
}

const struct objective_type objective_infonce = {
	.name = "infonce",
	.size = sizeof(struct infonce),
	.rate = 2e-5,
	.balance = 0.001,
	.applies = "temperature similarity bidirectional balance reze no-mask-duplicates "
		   "false-negatives lora "
		   "freeze-documents documents dev-corpus matryoshka",
	.open = open_infonce,
	.close = close_infonce,
	.stream = paired_stream,
	.about = paired_about,
	.settings = add_settings,
	.total = paired_total,
	.learn = paired_learn,
	.prepare = paired_prepare,
	.leave = paired_leave,
	.left = paired_left,
	.dev_accuracy = true,
	.dev = paired_dev,
	.position = paired_position,
	.resume = paired_resume,
};
