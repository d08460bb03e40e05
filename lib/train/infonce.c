/*
 * InfoNCE on batches of pairs, through the gradient cache.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "ranks/ranks.h"
#include "train/loss.h"
#include "train/paired.h"
#include "train/relation_loss.h"

struct infonce {
	struct paired pairs;
	struct loss *loss;
	struct relation_loss *relations; /* NULL: none */
	int terms;			 /* loss_batch.terms */
};

/* The gradient is ready, but the loss is still on its way from the device. */
static void
begin(struct paired *pairs, const struct contrast_batch *batch, float *vectors,
    struct batch_report *report)
{
	struct infonce *infonce = (struct infonce *)pairs;
	const struct objective_options *o = &pairs->objective.options;
	bool learns = report;
	bool guided = learns && o->contrast.guide;
	bool owners = o->own_negatives || infonce->terms & LOSS_DD;
	float beyond =
	    guided && isinf(o->false_negatives) ? 0 : (float)o->false_negatives;
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
		.terms = infonce->terms,
		.own_only = o->own_negatives,
		.owners = owners ? batch->negative_rows : NULL,
		.guide = guided ? paired_guide(pairs, batch) : NULL,
		.guide_width = batch->guide_width,
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

static void
end(struct paired *pairs)
{
	pairs->loss = loss_infonce_end(((struct infonce *)pairs)->loss, &pairs->correct);
}

/* "qq,dd" as loss_batch.terms; dies on a name that is none. */
static int
terms_of(const char *text)
{
	static const char *const names[] = { "qq", "dq", "dd" };
	int terms = 0;

	for (bool more = text; more;) {
		size_t length = strcspn(text, ","), i = 0;
		while (i < 3 && (length != 2 || strncmp(text, names[i], 2)))
			i++;
		if (i == 3)
			die_usage("--denominator: '%.*s' is not qq, dq or dd",
			    (int)length, text);
		terms |= 1 << i;
		more = text[length] == ',';
		text += length + more;
	}
	return terms;
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
	infonce->terms = terms_of(objective->options.denominator);
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
	if (o->denominator)
		tree_set(settings, "denominator", tree_of_string(o->denominator));
	if (o->own_negatives)
		tree_set(settings, "own-negatives", tree_of_boolean(true));
	if (o->contrast.guide)
		tree_set(settings, "guide", tree_of_boolean(true));
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
		   "false-negatives denominator own-negatives guide lora "
		   "freeze-documents documents dev-corpus matryoshka",
	.open = open_infonce,
	.close = close_infonce,
	.settings = add_settings,
	.dev_accuracy = true,
	.dev = paired_dev,
	PAIRED_FUNCTIONS,
};
