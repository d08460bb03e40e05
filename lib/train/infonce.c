/*
 * InfoNCE on batches of pairs, through the gradient cache.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "nn/nn.h"
#include "ranks/ranks.h"
#include "train/gradient_cache.h"
#include "train/held_out.h"
#include "train/loss.h"
#include "train/objective.h"
#include "train/relation_loss.h"

struct infonce {
	struct objective objective;
	struct contrast *contrast;
	struct gradient_cache *cache;
	struct loss *loss;
	struct relation_loss *relations; /* NULL: none */
	struct held_out *held_out;	 /* NULL: none */
	float *gradient;		 /* nn memory */
	size_t gradient_size;
};

static struct infonce *
own(const struct objective *objective)
{
	return (struct infonce *)objective;
}

static void
open_pairs(struct objective *objective, const char *path)
{
	struct infonce *infonce = own(objective);
	struct objective_options *o = &objective->options;

	o->contrast.targets = o->reze > 0;
	infonce->contrast = contrast_open(path, objective->model, &o->contrast);
	infonce->cache = gradient_cache_new(objective->model, o->tokens);
	infonce->loss = loss_new();
	if (o->reze > 0)
		infonce->relations = relation_loss_new();
	if (o->dev)
		infonce->held_out = held_out_open(objective);
}

static void
close_pairs(struct objective *objective)
{
	struct infonce *infonce = own(objective);

	contrast_close(infonce->contrast);
	gradient_cache_free(infonce->cache);
	loss_free(infonce->loss);
	if (infonce->relations)
		relation_loss_free(infonce->relations);
	if (infonce->held_out)
		held_out_close(infonce->held_out);
	nn_free(infonce->gradient, infonce->gradient_size);
}

static const char *
stream_of(const struct objective *objective)
{
	return contrast_name(own(objective)->contrast);
}

static struct tree *
about(const struct objective *objective)
{
	return contrast_about(own(objective)->contrast);
}

static void
add_settings(const struct objective_options *o, struct tree *settings)
{
	tree_set(settings, "temperature", tree_of_real(o->contrast.temperature));
	tree_set(settings, "bidirectional", tree_of_boolean(o->bidirectional));
	if (o->dot)
		tree_set(settings, "similarity", tree_of_string("dot"));
	tree_set(settings, "balance", tree_of_real(o->balance));
	if (o->reze > 0)
		tree_set(settings, "reze", tree_of_real(o->reze));
	tree_set(
	    settings, "no-mask-duplicates", tree_of_boolean(o->contrast.keep_duplicates));
}

static int64_t
total(struct objective *objective)
{
	return contrast_total(own(objective)->contrast);
}

/* A rank sums the gradients of every task expert that some rank's sequences use. */
static void
agree_on_experts(struct model *model, const struct contrast_batch *pairs, int64_t count)
{
	size_t ranks = (size_t)ranks_count();
	uint64_t used = 0, *all;

	if (ranks == 1 || !model_spec(model)->experts)
		return;
	all = mem_new(ranks, sizeof *all);
	for (int64_t i = 0; i < count; i++)
		if (!pairs->sequences[i].frozen && pairs->sequences[i].expert >= 0)
			used |= (uint64_t)1 << pairs->sequences[i].expert;
	ranks_gather(all, &used, sizeof used);
	for (size_t r = 0; r < ranks; r++)
		used |= all[r];
	for (int expert = 0; expert < SPEC_EXPERTS; expert++)
		if (used >> expert & 1)
			model_reach(model, expert, false);
	free(all);
}

/* The batch for the loss, and room for its gradient.  parts: of the ranks; NULL: this one's alone. */
static struct loss_batch
make_batch(struct infonce *infonce, const struct contrast_batch *pairs,
    const struct loss_parts *parts)
{
	const struct objective *objective = &infonce->objective;
	size_t width = (size_t)model_width(objective->model);

	infonce->gradient = nn_reserve(infonce->gradient, &infonce->gradient_size,
	    (size_t)(2 * pairs->rows + pairs->negatives), width * sizeof(float));
	return (struct loss_batch){
		.rows = (size_t)pairs->rows,
		.negatives = (size_t)pairs->negatives,
		.width = width,
		.temperature = (float)pairs->temperature,
		.bidirectional = objective->options.bidirectional,
		.dot = objective->options.dot,
		.keys = pairs->keys,
		.parts = parts,
	};
}

static bool
learn(struct objective *objective, int64_t number, struct batch_report *report,
    const struct model_whole *whole)
{
	struct infonce *infonce = own(objective);
	struct contrast_batch pairs;

	(void)number;
	if (!contrast_next(infonce->contrast, &pairs))
		return false;
	int64_t count = 2 * pairs.rows + pairs.negatives;
	struct loss_batch batch = make_batch(infonce, &pairs, &pairs.parts);
	double share = (double)pairs.rows / (double)pairs.parts.rows[ranks_count()];
	*report = (struct batch_report){ .examples = pairs.rows,
		.tokens = pairs.tokens,
		.epoch = pairs.epoch,
		.record = pairs.record,
		.task = pairs.task,
		.dataset = pairs.dataset };
	if (objective->balance)
		balance_begin(objective->balance);
	float *vectors = gradient_cache_embed(infonce->cache, pairs.sequences, count);
	if (objective->balance)
		report->balance = objective_balance(objective);
	if (infonce->relations)
		report->reze = share * relation_loss_measure(infonce->relations, vectors,
					   pairs.targets, batch.rows, batch.width,
					   share * objective->options.reze);
	loss_infonce_begin(infonce->loss, infonce->gradient, vectors, &batch);
	if (infonce->relations)
		relation_loss_add(infonce->relations, infonce->gradient);
	agree_on_experts(objective->model, &pairs, count);
	gradient_cache_backward(infonce->cache, infonce->gradient, whole);
	report->loss = loss_infonce_end(infonce->loss, &report->correct);
	if (!isfinite(report->loss))
		gradient_cache_demand_finite(infonce->cache);
	objective_sum_report(report);
	return true;
}

static void
prepare(struct objective *objective)
{
	contrast_prepare(own(objective)->contrast);
}

static bool
leave(struct objective *objective)
{
	return contrast_leave(own(objective)->contrast);
}

static bool
left(const struct objective *objective)
{
	return contrast_left(own(objective)->contrast);
}

static double
held_out_batch(struct objective *objective, const struct contrast_batch *pairs,
    float *vectors, double *correct)
{
	struct infonce *infonce = own(objective);
	struct loss_batch batch = make_batch(infonce, pairs, NULL);

	return loss_infonce(infonce->loss, infonce->gradient, vectors, &batch, correct);
}

static void
dev(struct objective *objective, struct dev_report *report)
{
	struct infonce *infonce = own(objective);

	held_out_measure(
	    infonce->held_out, objective, infonce->cache, held_out_batch, report);
}

static struct tree *
position(const struct objective *objective)
{
	struct contrast_position at = contrast_position(own(objective)->contrast);
	struct tree *tree = tree_object();

	tree_set(tree, "taken", tree_of_integer(at.taken));
	tree_set(tree, "step", tree_of_integer(at.step));
	tree_set(tree, "hash", objective_hash(at.hash));
	return tree;
}

static void
resume(struct objective *objective, const struct tree *position)
{
	struct contrast_position at = { tree_integer(position, "taken", 0),
		tree_integer(position, "step", -1), objective_hash_in(position) };

	contrast_resume(own(objective)->contrast, &at);
}

const struct objective_type objective_infonce = {
	.name = "infonce",
	.size = sizeof(struct infonce),
	.rate = 2e-5,
	.balance = 0.001,
	.applies =
	    "temperature similarity bidirectional balance reze no-mask-duplicates lora "
	    "freeze-documents documents dev-corpus",
	.open = open_pairs,
	.close = close_pairs,
	.stream = stream_of,
	.about = about,
	.settings = add_settings,
	.total = total,
	.learn = learn,
	.prepare = prepare,
	.leave = leave,
	.left = left,
	.dev_accuracy = true,
	.dev = dev,
	.position = position,
	.resume = resume,
};
