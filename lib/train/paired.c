#include "train/paired.h"

#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "nn/nn.h"
#include "ranks/ranks.h"
#include "train/matryoshka.h"

static struct paired *
own(const struct objective *objective)
{
	return (struct paired *)objective;
}

void
paired_open(struct objective *objective, const char *path)
{
	struct paired *pairs = own(objective);
	struct objective_options *o = &objective->options;

	objective->contrast = contrast_open(path, objective->model, &o->contrast);
	objective->stream = contrast_name(objective->contrast);
	objective->about = contrast_about(objective->contrast);
	pairs->cache = gradient_cache_new(objective->model, o->tokens);
	if (o->matryoshka)
		pairs->matryoshka =
		    matryoshka_new(o->matryoshka, (size_t)model_width(objective->model));
	if (o->dev)
		pairs->held_out = held_out_open(objective);
}

void
paired_close(struct objective *objective)
{
	struct paired *pairs = own(objective);

	contrast_close(objective->contrast);
	gradient_cache_free(pairs->cache);
	if (pairs->held_out)
		held_out_close(pairs->held_out);
	matryoshka_free(pairs->matryoshka);
	nn_free(pairs->gradient, pairs->gradient_size);
	nn_free(pairs->guide, pairs->guide_size);
}

void
paired_settings(const struct objective_options *o, struct tree *settings)
{
	tree_set(settings, "temperature", tree_of_real(o->contrast.temperature));
	if (o->dot)
		tree_set(settings, "similarity", tree_of_string("dot"));
	tree_set(settings, "balance", tree_of_real(o->balance));
	if (o->project)
		tree_set(settings, "project", tree_of_integer(o->project));
	if (o->matryoshka)
		tree_set(settings, "matryoshka", tree_of_string(o->matryoshka));
}

const float *
paired_guide(struct paired *pairs, const struct contrast_batch *batch)
{
	size_t count = (size_t)batch->count, width = batch->guide_width;

	pairs->guide = nn_reserve(
	    pairs->guide, &pairs->guide_size, count + 1, width * sizeof *pairs->guide);
	nn_upload(pairs->guide, batch->guide, count * width * sizeof *pairs->guide);
	nn_normalize(pairs->guide, NULL, pairs->guide, count, width);
	return pairs->guide;
}

void
paired_demand_labels(const struct paired *pairs, const struct contrast_batch *batch)
{
	for (int64_t i = 0; i < batch->rows + batch->negatives; i++)
		if (!(batch->scores[i] >= 0 && batch->scores[i] <= 1))
			die("%s: record %lld: the label %g is not in 0..1, as %s has them",
			    batch->stream, (long long)batch->record, batch->scores[i],
			    pairs->objective.type->name);
}

int64_t
paired_total(struct objective *objective)
{
	return contrast_total(objective->contrast);
}

/* A rank sums the gradients of every task expert that some rank's sequences use. */
static void
agree_on_experts(struct model *model, const struct contrast_batch *batch, int64_t count)
{
	size_t ranks = (size_t)ranks_count();
	uint64_t used = 0, *all;

	if (ranks == 1 || !model_spec(model)->experts)
		return;
	all = mem_new(ranks, sizeof *all);
	for (int64_t i = 0; i < count; i++)
		if (!batch->sequences[i].frozen && batch->sequences[i].expert >= 0)
			used |= (uint64_t)1 << batch->sequences[i].expert;
	ranks_gather(all, &used, sizeof used);
	for (size_t r = 0; r < ranks; r++)
		used |= all[r];
	for (int expert = 0; expert < SPEC_EXPERTS; expert++)
		if (used >> expert & 1)
			model_reach(model, expert, false);
	free(all);
}

/* Makes room for the gradient of a batch; returns its number of vectors. */
static int64_t
reserve(struct paired *pairs, const struct contrast_batch *batch)
{
	int64_t count = batch->count;

	pairs->width = (size_t)model_width(pairs->objective.model);
	pairs->gradient = nn_reserve(pairs->gradient, &pairs->gradient_size,
	    (size_t)count, pairs->width * sizeof(float));
	return count;
}

/* Waits for loss and correct. */
static void
end(struct paired *pairs)
{
	if (pairs->end)
		pairs->end(pairs);
}

/* Sets the sum of the losses of all widths.  The accuracy is that of the widest; the vectors are normalised in the end, as `begin`
 * would. */
static void
nested_loss(struct paired *pairs, const struct contrast_batch *batch, float *vectors,
    struct batch_report *report)
{
	struct matryoshka *m = pairs->matryoshka;
	float *gradient = pairs->gradient;
	size_t whole = (size_t)model_width(pairs->objective.model), widest = 0;
	size_t count = (size_t)batch->count;
	double loss = 0, correct = 0, weight;

	nn_zero(gradient, count * whole);
	for (size_t i = 0; (pairs->width = matryoshka_width(m, i, &weight)); i++) {
		float *cut = matryoshka_cut(m, i, vectors, count, &pairs->gradient);
		pairs->begin(pairs, batch, cut, report);
		end(pairs);
		loss += weight * pairs->loss;
		if (report)
			matryoshka_add(m, i, gradient);
		if (pairs->width > widest) {
			widest = pairs->width;
			correct = pairs->correct;
		}
	}
	pairs->gradient = gradient;
	if (!report)
		nn_normalize(vectors, NULL, vectors, count, whole);
	pairs->loss = loss;
	pairs->correct = correct;
}

bool
paired_learn(struct objective *objective, int64_t number, struct batch_report *report,
    const struct model_whole *whole)
{
	struct paired *pairs = own(objective);
	struct contrast_batch batch;

	(void)number;
	if (!contrast_next(objective->contrast, &batch))
		return false;
	int64_t count = reserve(pairs, &batch);
	*report = (struct batch_report){ .examples = batch.rows,
		.tokens = batch.tokens,
		.epoch = batch.epoch,
		.record = batch.record,
		.task = batch.task,
		.dataset = batch.dataset };
	if (objective->balance)
		balance_begin(objective->balance);
	float *vectors = gradient_cache_embed(pairs->cache, batch.sequences, count);
	if (objective->balance)
		report->balance = objective_balance(objective);
	if (pairs->matryoshka)
		nested_loss(pairs, &batch, vectors, report);
	else
		pairs->begin(pairs, &batch, vectors, report);
	agree_on_experts(objective->model, &batch, count);
	gradient_cache_backward(pairs->cache, pairs->gradient, whole);
	if (!pairs->matryoshka)
		end(pairs);
	report->loss = pairs->loss;
	report->correct = pairs->correct;
	if (!isfinite(report->loss))
		gradient_cache_demand_finite(pairs->cache);
	objective_sum_report(report);
	return true;
}

static double
held_out_batch(struct objective *objective, const struct contrast_batch *batch,
    float *vectors, double *correct)
{
	struct paired *pairs = own(objective);

	reserve(pairs, batch);
	if (pairs->matryoshka) {
		nested_loss(pairs, batch, vectors, NULL);
	} else {
		pairs->begin(pairs, batch, vectors, NULL);
		end(pairs);
	}
	*correct = pairs->correct;
	return pairs->loss;
}

void
paired_dev(struct objective *objective, struct dev_report *report)
{
	struct paired *pairs = own(objective);

	held_out_measure(
	    pairs->held_out, objective, pairs->cache, held_out_batch, report);
}

struct tree *
paired_position(const struct objective *objective)
{
	struct contrast_position at = contrast_position(objective->contrast);
	struct tree *tree = tree_object();

	tree_set(tree, "taken", tree_of_integer(at.taken));
	tree_set(tree, "step", tree_of_integer(at.step));
	tree_set(tree, "hash", objective_hash(at.hash));
	if (at.documents)
		tree_set(tree, "documents", objective_hash(at.documents));
	return tree;
}

void
paired_resume(struct objective *objective, const struct tree *position)
{
	struct contrast_position at = { tree_integer(position, "taken", 0),
		tree_integer(position, "step", -1), objective_hash_in(position, "hash"),
		objective_hash_in(position, "documents") };

	contrast_resume(objective->contrast, &at);
}
