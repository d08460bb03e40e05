#include "train/objective.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/balance.h"
#include "model/experts.h"
#include "nn/nn.h"
#include "ranks/ranks.h"
#include "token/tokenizer.h"
#include "train/clm.h"
#include "train/corpus.h"
#include "train/gradient_cache.h"
#include "train/loss.h"
#include "train/mlm.h"
#include "train/relation_loss.h"

enum { SPECIALS = 5 };

struct objective {
	struct objective_options options;
	struct model *model;
	struct balance *balance; /* NULL: none */
	/* InfoNCE */
	struct contrast *contrast;
	struct gradient_cache *cache;
	struct loss *loss;
	struct relation_loss *relations; /* NULL: none */
	float *gradient;		 /* nn memory */
	size_t gradient_size;
	/* MLM and CLM */
	struct corpus *corpus, *dev; /* NULL: nothing is held out */
	struct batch batch;	     /* a piece of those of the corpus */
	struct mlm_options mask;
	int32_t special[SPECIALS], *positions, *targets;
	size_t positions_capacity, targets_capacity;
};

/* Ids of the tokens that masking needs to know, under BERT's or RoBERTa's names. */
static void
find_specials(struct objective *objective)
{
	static const char *const names[SPECIALS][2] = { { "[MASK]", "<mask>" },
		{ "[CLS]", "<s>" }, { "[SEP]", "</s>" }, { "[PAD]", "<pad>" },
		{ "[UNK]", "<unk>" } };
	struct mlm_options *mask = &objective->mask;
	struct tokenizer *tokenizer = tokenizer_open(model_dir(objective->model));

	for (int i = 0; i < SPECIALS; i++) {
		int id = tokenizer_id(tokenizer, names[i][0]);
		if (id < 0)
			id = tokenizer_id(tokenizer, names[i][1]);
		if (i == 0 && id < 0)
			die("%s: its tokenizer has no mask token",
			    model_dir(objective->model));
		if (id >= 0)
			objective->special[mask->specials++] = id;
	}
	mask->mask = objective->special[0];
	mask->special = objective->special;
	mask->vocabulary = tokenizer_size(tokenizer);
	if (mask->vocabulary > model_spec(objective->model)->vocabulary)
		mask->vocabulary = model_spec(objective->model)->vocabulary;
	mask->share = objective->options.mask_share;
	mask->seed = objective->options.seed;
	tokenizer_close(tokenizer);
}

/* Dies unless the model is of the kind that the objective trains, with a head. */
static void
demand_head(const struct model *model, bool next)
{
	const char *dir = model_dir(model);
	bool causal = model_spec(model)->causal;

	if (next && !causal)
		die("%s: is no causal language model: its tokens see those that they are to predict; --objective mlm is for such a model",
		    dir);
	if (!next && causal)
		die("%s: is a causal language model; --objective clm is for such a model",
		    dir);
	if (model_predicts(model))
		return;
	if (next)
		die("%s: has no 'lm_head.weight' to predict tokens with, and config.json does not say \"tie_word_embeddings\": true; a model made by train --from-scratch --objective clm has one",
		    dir);
	die("%s: has no masked-language-model head to train; a model made by train --from-scratch --objective mlm has one",
	    dir);
}

/* The task expert of every batch of texts; -1: the model has none. */
static int
expert_of_texts(const struct model *model, const char *name)
{
	if (!model_spec(model)->experts && !name)
		return -1;
	if (!name)
		die_usage(
		    "the model has task experts: say which one learns, with --expert");
	int expert = model_expert(model, name);
	if (expert == EXPERT_BY_TEXT)
		die_usage("--expert: a batch of %s has one expert; name it, not '%s'",
		    model_spec(model)->causal ? "causal language modelling"
					      : "masked language modelling",
		    name);
	if (expert < 0)
		die("--expert: the model has no task expert \"%s\"", name);
	return expert;
}

static void
open_texts(struct objective *objective, const char *path)
{
	const struct objective_options *o = &objective->options;
	bool next = o->kind == OBJECTIVE_CLM;
	int64_t shortest = next ? CLM_SHORTEST : 1;
	const char *dir = model_dir(objective->model);

	demand_head(objective->model, next);
	objective->corpus = corpus_open(path, dir, shortest, o->contrast.epochs, o->seed);
	if (o->dev)
		objective->dev = corpus_open(o->dev, dir, shortest, 1, o->seed);
	if (o->dev && !corpus_batches(objective->dev, o->tokens))
		die("%s: there is nothing to predict in the texts held out",
		    corpus_name(objective->dev));
	objective->batch.expert = expert_of_texts(objective->model, o->contrast.expert);
	if (!next)
		find_specials(objective);
}

static void
open_pairs(struct objective *objective, const char *path)
{
	struct objective_options *o = &objective->options;

	o->contrast.targets = o->reze > 0;
	objective->contrast = contrast_open(path, objective->model, &o->contrast);
	objective->cache = gradient_cache_new(objective->model, o->tokens);
	objective->loss = loss_new();
	if (o->reze > 0)
		objective->relations = relation_loss_new();
}

struct objective *
objective_open(
    const char *path, struct model *model, const struct objective_options *options)
{
	struct objective *objective = mem_zero(1, sizeof *objective);

	objective->options = *options;
	objective->model = model;
	if (options->kind == OBJECTIVE_INFONCE)
		open_pairs(objective, path);
	else
		open_texts(objective, path);
	if (options->balance > 0)
		objective->balance = balance_new(model_spec(model));
	model_balance(model, objective->balance);
	return objective;
}

void
objective_close(struct objective *objective)
{
	if (objective->contrast) {
		contrast_close(objective->contrast);
		gradient_cache_free(objective->cache);
		loss_free(objective->loss);
		if (objective->relations)
			relation_loss_free(objective->relations);
	}
	if (objective->corpus)
		corpus_close(objective->corpus);
	if (objective->dev)
		corpus_close(objective->dev);
	model_balance(objective->model, NULL);
	balance_free(objective->balance);
	nn_free(objective->gradient, objective->gradient_size);
	batch_free(&objective->batch);
	free(objective->positions);
	free(objective->targets);
	free(objective);
}

int64_t
objective_total(struct objective *objective)
{
	return objective->contrast
		   ? contrast_total(objective->contrast)
		   : corpus_batches(objective->corpus, objective->options.batch_tokens);
}

/* Of the task experts that any rank's sequences go through, all ranks sum the gradients. */
static void
agree_on_experts(
    const struct objective *objective, const struct contrast_batch *pairs, int64_t count)
{
	size_t ranks = (size_t)ranks_count();
	uint64_t own = 0, *all;

	if (ranks == 1 || !model_spec(objective->model)->experts)
		return;
	all = mem_new(ranks, sizeof *all);
	for (int64_t i = 0; i < count; i++)
		if (!pairs->sequences[i].frozen && pairs->sequences[i].expert >= 0)
			own |= (uint64_t)1 << pairs->sequences[i].expert;
	ranks_gather(all, &own, sizeof own);
	for (size_t r = 0; r < ranks; r++)
		own |= all[r];
	for (int expert = 0; expert < SPEC_EXPERTS; expert++)
		if (own >> expert & 1)
			model_reach(objective->model, expert, false);
	free(all);
}

/* A report of this rank's rows as that of all. */
static void
add_reports(struct batch_report *report)
{
	double sums[] = { report->loss, report->reze, (double)report->examples,
		report->correct, (double)report->tokens };

	if (ranks_count() == 1)
		return;
	ranks_add(sums, sizeof sums / sizeof *sums);
	report->loss = sums[0];
	report->reze = sums[1];
	report->examples = (int64_t)sums[2];
	report->correct = sums[3];
	report->tokens = (int64_t)sums[4];
}

static double
end_balance(const struct objective *objective)
{
	size_t count;
	double *sums = balance_sums(objective->balance, &count);

	ranks_add(sums, count);
	return balance_end(objective->balance, objective->options.balance);
}

static bool
learn_infonce(struct objective *objective, struct batch_report *report,
    const struct model_whole *whole)
{
	size_t width = (size_t)model_width(objective->model);
	struct contrast_batch pairs;

	if (!contrast_next(objective->contrast, &pairs))
		return false;
	int64_t count = 2 * pairs.rows + pairs.negatives;
	objective->gradient = nn_reserve(objective->gradient, &objective->gradient_size,
	    (size_t)count, width * sizeof(float));
	struct loss_batch batch = {
		.rows = (size_t)pairs.rows,
		.negatives = (size_t)pairs.negatives,
		.width = width,
		.temperature = (float)pairs.temperature,
		.bidirectional = objective->options.bidirectional,
		.keys = pairs.keys,
		.parts = &pairs.parts,
	};
	double share = (double)pairs.rows / (double)pairs.parts.rows[ranks_count()];
	*report = (struct batch_report){ .examples = pairs.rows,
		.tokens = pairs.tokens,
		.epoch = pairs.epoch,
		.record = pairs.record,
		.task = pairs.task,
		.dataset = pairs.dataset };
	if (objective->balance)
		balance_begin(objective->balance);
	float *vectors = gradient_cache_embed(objective->cache, pairs.sequences, count);
	if (objective->balance)
		report->balance = end_balance(objective);
	if (objective->relations)
		report->reze = share * relation_loss_measure(objective->relations,
					   vectors, pairs.targets, batch.rows, width,
					   share * objective->options.reze);
	loss_infonce_begin(objective->loss, objective->gradient, vectors, &batch);
	if (objective->relations)
		relation_loss_add(objective->relations, objective->gradient);
	agree_on_experts(objective, &pairs, count);
	gradient_cache_backward(objective->cache, objective->gradient, whole);
	report->loss = loss_infonce_end(objective->loss, &report->correct);
	if (!isfinite(report->loss))
		gradient_cache_demand_finite(objective->cache);
	add_reports(report);
	return true;
}

/* Choose what is to be predicted in a batch of texts; how many tokens. */
static int64_t
choose_targets(
    struct objective *objective, const struct corpus_batch *corpus, int64_t number)
{
	int64_t tokens = corpus->starts[corpus->sequences];

	objective->positions = mem_grow(objective->positions,
	    &objective->positions_capacity, (size_t)tokens, sizeof *objective->positions);
	objective->targets = mem_grow(objective->targets, &objective->targets_capacity,
	    (size_t)tokens, sizeof *objective->targets);
	if (objective->options.kind == OBJECTIVE_CLM)
		return clm_targets(corpus->ids, corpus->starts, corpus->sequences,
		    objective->positions, objective->targets);
	return mlm_mask(corpus->ids, tokens, objective->positions, objective->targets,
	    &objective->mask, number);
}

/* The piece of a batch that begins with text `first`, before `past`, into objective->batch; the first text behind it. */
static int64_t
cut_piece(struct objective *objective, const struct corpus *from,
    const struct corpus_batch *corpus, int64_t first, int64_t past)
{
	struct batch *batch = &objective->batch;
	int64_t next = batch_cut(
	    batch, corpus->ids, corpus->starts, first, past, objective->options.tokens);
	char *why = model_refuses(objective->model, batch, first);

	if (why)
		die("%s: a batch was refused: %s", corpus_name(from), why);
	return next;
}

/* The texts of a batch that a rank learns: all ranks read all of them.  The first whose tokens are not of those before. */
static int64_t
first_of(const struct corpus_batch *corpus, int rank)
{
	int64_t tokens = corpus->starts[corpus->sequences], first = 0;

	while (first < corpus->sequences &&
	       corpus->starts[first] < tokens * rank / ranks_count())
		first++;
	return first;
}

/* Begin to count in the balance: all pieces but the first, which is counted when it is learned from. */
static void
count_rest(struct objective *objective, const struct corpus_batch *corpus, int64_t first,
    int64_t past)
{
	balance_begin(objective->balance);
	if (first < past)
		first = cut_piece(objective, objective->corpus, corpus, first, past);
	while (first < past) {
		first = cut_piece(objective, objective->corpus, corpus, first, past);
		model_predict(objective->model, &objective->batch, NULL, NULL, 0);
	}
}

/* Learn from the texts first..past-1, of whose batch so many tokens are predicted; of targets, those from `at` on. */
static void
learn_pieces(struct objective *objective, const struct corpus_batch *corpus,
    int64_t first, int64_t past, int64_t at, int64_t predicted,
    struct batch_report *report)
{
	struct batch *batch = &objective->batch;
	bool balanced = !objective->balance;

	while (first < past) {
		int64_t begin = corpus->starts[first], count = 0;
		double correct;
		int32_t *positions = objective->positions + at;
		first = cut_piece(objective, objective->corpus, corpus, first, past);
		while (at + count < predicted && positions[count] < begin + batch->tokens)
			positions[count++] -= (int32_t)begin;
		if (!count)
			continue;
		model_predict(
		    objective->model, batch, positions, objective->targets + at, count);
		/* the first piece has texts long enough to predict something, as all have */
		if (!balanced)
			report->balance = end_balance(objective);
		balanced = true;
		report->loss += model_predict_backward(objective->model, batch,
				    1 / (float)predicted, &correct) /
				(double)predicted;
		report->correct += correct;
		report->examples += count;
		at += count;
	}
	if (!balanced)
		report->balance = end_balance(objective);
}

static bool
learn_texts(struct objective *objective, int64_t number, struct batch_report *report)
{
	struct corpus_batch corpus;
	int64_t at = 0;

	if (!corpus_next(objective->corpus, objective->options.batch_tokens, &corpus))
		return false;
	int64_t predicted = choose_targets(objective, &corpus, number);
	int64_t first = first_of(&corpus, ranks_own());
	int64_t past = first_of(&corpus, ranks_own() + 1);
	while (at < predicted && objective->positions[at] < corpus.starts[first])
		at++;
	*report =
	    (struct batch_report){ .tokens = corpus.starts[past] - corpus.starts[first],
		    .epoch = corpus.epoch,
		    .task = "",
		    .dataset = "" };
	if (objective->balance)
		count_rest(objective, &corpus, first, past);
	learn_pieces(objective, &corpus, first, past, at, predicted, report);
	if (predicted && ranks_count() > 1)
		model_reach(objective->model, objective->batch.expert, true);
	add_reports(report);
	return true;
}

bool
objective_learn(struct objective *objective, int64_t number, struct batch_report *report,
    const struct model_whole *whole)
{
	return objective->contrast ? learn_infonce(objective, report, whole)
				   : learn_texts(objective, number, report);
}

void
objective_prepare(struct objective *objective)
{
	if (objective->contrast && nn_device())
		contrast_prepare(objective->contrast);
}

bool
objective_leave(struct objective *objective)
{
	if (ranks_count() == 1)
		return true;
	return objective->contrast && contrast_leave(objective->contrast);
}

bool
objective_left(const struct objective *objective)
{
	return objective->contrast && contrast_left(objective->contrast);
}

double
objective_dev(struct objective *objective)
{
	struct corpus *dev = objective->dev;
	struct corpus_batch texts;
	double sums[2] = { 0, 0 }; /* of losses; of tokens */

	corpus_skip(dev, 0);
	for (int64_t number = 0; corpus_next(dev, objective->options.tokens, &texts);
	     number++) {
		if (number % ranks_count() != ranks_own())
			continue;
		int64_t count = choose_targets(objective, &texts, number);
		/* of as many tokens: all of it */
		cut_piece(objective, dev, &texts, 0, texts.sequences);
		sums[0] += model_predict_loss(objective->model, &objective->batch,
		    objective->positions, objective->targets, count);
		sums[1] += (double)count;
	}
	ranks_add(sums, 2);
	return sums[0] / sums[1];
}

static struct tree *
tree_of_hash(uint64_t hash)
{
	char text[20];

	snprintf(text, sizeof text, "%016" PRIx64, hash);
	return tree_of_string(text);
}

struct tree *
objective_place(const struct objective *objective)
{
	struct tree *place = tree_object();

	if (objective->contrast) {
		struct contrast_place at = contrast_place(objective->contrast);
		tree_set(place, "taken", tree_of_integer(at.taken));
		tree_set(place, "step", tree_of_integer(at.step));
		tree_set(place, "hash", tree_of_hash(at.hash));
	} else {
		tree_set(
		    place, "taken", tree_of_integer(corpus_position(objective->corpus)));
		tree_set(place, "hash", tree_of_hash(corpus_hash(objective->corpus)));
	}
	return place;
}

void
objective_resume(struct objective *objective, const struct tree *place)
{
	uint64_t hash = strtoull(tree_string(place, "hash", "0"), NULL, 16);
	int64_t taken = tree_integer(place, "taken", 0);

	if (objective->contrast) {
		struct contrast_place at = { taken, tree_integer(place, "step", -1),
			hash };
		contrast_resume(objective->contrast, &at);
	} else if (!corpus_skip(objective->corpus, taken) ||
		   corpus_hash(objective->corpus) != hash) {
		die("%s: is not the text that the checkpoint was trained on; give the same, or --restart",
		    corpus_name(objective->corpus));
	}
}

const char *
objective_name(const struct objective *objective)
{
	return objective->contrast ? contrast_name(objective->contrast)
				   : corpus_name(objective->corpus);
}
