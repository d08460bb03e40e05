#include "train/lm.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "encode/text_batch.h"
#include "model/experts.h"
#include "ranks/ranks.h"

static struct lm *
own(const struct objective *objective)
{
	return (struct lm *)objective;
}

/* The task expert of every batch; -1: the model has none. */
static int
expert_of_texts(const struct model *model, const char *name)
{
	if (!model_spec(model)->experts && !name)
		return -1;
	if (!name)
		die_usage(
		    "the model has task experts: say which one learns, with --expert");
	int expert = text_batch_option(model, name);
	if (expert == EXPERT_BY_TEXT)
		die_usage("--expert: a batch of %s has one expert; name it, not '%s'",
		    model_spec(model)->causal ? "causal language modelling"
					      : "masked language modelling",
		    name);
	return expert;
}

_Noreturn static void
refuse_dev(const struct lm *lm)
{
	die("%s: there is nothing to predict in the texts held out",
	    corpus_name(lm->dev));
}

void
lm_open(struct lm *lm, const char *path, int64_t shortest,
    int64_t (*choose)(struct lm *lm, const struct corpus_batch *texts, int64_t number))
{
	const struct objective_options *o = &lm->objective.options;
	const char *dir = model_dir(lm->objective.model);

	lm->choose = choose;
	lm->corpus = corpus_open(path, dir, shortest, o->contrast.epochs, o->seed);
	lm->objective.stream = corpus_name(lm->corpus);
	lm->objective.about = corpus_about(lm->corpus);
	if (o->dev)
		lm->dev = corpus_open(o->dev, dir, shortest, 1, o->seed);
	if (o->dev && !corpus_batches(lm->dev, o->tokens))
		refuse_dev(lm);
	lm->batch.expert = expert_of_texts(lm->objective.model, o->contrast.expert);
}

void
lm_settings(const struct objective_options *options, struct tree *settings)
{
	tree_set(settings, "batch-tokens", tree_of_integer(options->batch_tokens));
}

void
lm_close(struct objective *objective)
{
	struct lm *lm = own(objective);

	corpus_close(lm->corpus);
	if (lm->dev)
		corpus_close(lm->dev);
	batch_free(&lm->batch);
	free(lm->positions);
	free(lm->targets);
}

int64_t
lm_total(struct objective *objective)
{
	return corpus_batches(own(objective)->corpus, objective->options.batch_tokens);
}

static int64_t
choose_targets(struct lm *lm, const struct corpus_batch *texts, int64_t number)
{
	size_t tokens = (size_t)texts->starts[texts->sequences];

	lm->positions = mem_grow(
	    lm->positions, &lm->positions_capacity, tokens, sizeof *lm->positions);
	lm->targets =
	    mem_grow(lm->targets, &lm->targets_capacity, tokens, sizeof *lm->targets);
	return lm->choose(lm, texts, number);
}

/* Draws of the sequences of lm->batch, which begins with text `first` of a batch: of its number and theirs.  number -1: no draws. */
static void
draw(struct lm *lm, int64_t first, int64_t number)
{
	struct batch *batch = &lm->batch;
	size_t count = (size_t)batch->sequences;

	batch->draws =
	    mem_grow(batch->draws, &batch->draws_room, count, sizeof *batch->draws);
	for (size_t i = 0; i < count; i++) {
		int64_t key[] = { number, first + (int64_t)i };
		batch->draws[i] = number < 0 ? 0 : rng_hash(2, key, sizeof key);
	}
}

/* Cuts from the texts first..past-1 of a batch the first that fit into a forward pass, into lm->batch; returns the text after them. */
static int64_t
cut(struct lm *lm, const struct corpus *from, const struct corpus_batch *texts,
    int64_t first, int64_t past, int64_t number)
{
	int64_t next = batch_cut(&lm->batch, texts->ids, texts->starts, first, past,
	    lm->objective.options.tokens);
	char *why = model_refuses(lm->objective.model, &lm->batch, first);

	draw(lm, first, number);
	if (why)
		die("%s: a batch was refused: %s", corpus_name(from), why);
	return next;
}

/* All ranks read every batch; each learns some of its texts, about as many tokens as the others.  Returns a rank's first text. */
static int64_t
first_of(const struct corpus_batch *texts, int rank)
{
	int64_t tokens = texts->starts[texts->sequences], first = 0;

	while (first < texts->sequences &&
	       texts->starts[first] < tokens * rank / ranks_count())
		first++;
	return first;
}

/* Counts in the balance all forward passes but the first, which learn_passes counts. */
static void
count_rest(struct lm *lm, const struct corpus_batch *texts, int64_t first, int64_t past,
    int64_t number)
{
	balance_begin(lm->objective.balance);
	if (first < past)
		first = cut(lm, lm->corpus, texts, first, past, number);
	while (first < past) {
		first = cut(lm, lm->corpus, texts, first, past, number);
		model_predict(lm->objective.model, &lm->batch, NULL, NULL, 0);
	}
}

/* Learns the texts first..past-1 of a batch with `predicted` targets in all; theirs begin at index `at`. */
static void
learn_passes(struct lm *lm, const struct corpus_batch *texts, int64_t first, int64_t past,
    int64_t at, int64_t predicted, int64_t number, struct batch_report *report)
{
	struct model *model = lm->objective.model;
	bool balanced = !lm->objective.balance;

	while (first < past) {
		int64_t begin = texts->starts[first], count = 0;
		double correct;
		int32_t *positions = lm->positions + at;
		first = cut(lm, lm->corpus, texts, first, past, number);
		while (
		    at + count < predicted && positions[count] < begin + lm->batch.tokens)
			positions[count++] -= (int32_t)begin;
		if (!count)
			continue;
		model_predict(model, &lm->batch, positions, lm->targets + at, count);
		/* the first pass predicts something, as every text is long enough to */
		if (!balanced)
			report->balance = objective_balance(&lm->objective);
		balanced = true;
		report->loss += model_predict_backward(
				    model, &lm->batch, 1 / (float)predicted, &correct) /
				(double)predicted;
		report->correct += correct;
		report->examples += count;
		at += count;
	}
	if (!balanced)
		report->balance = objective_balance(&lm->objective);
}

bool
lm_learn(struct objective *objective, int64_t number, struct batch_report *report,
    const struct model_whole *whole)
{
	struct lm *lm = own(objective);
	struct corpus_batch texts;
	int64_t at = 0;

	(void)whole;
	if (!corpus_next(lm->corpus, objective->options.batch_tokens, &texts))
		return false;
	int64_t predicted = choose_targets(lm, &texts, number);
	int64_t first = first_of(&texts, ranks_own());
	int64_t past = first_of(&texts, ranks_own() + 1);
	while (at < predicted && lm->positions[at] < texts.starts[first])
		at++;
	*report =
	    (struct batch_report){ .tokens = texts.starts[past] - texts.starts[first],
		    .epoch = texts.epoch,
		    .task = "",
		    .dataset = "" };
	if (objective->balance)
		count_rest(lm, &texts, first, past, number);
	learn_passes(lm, &texts, first, past, at, predicted, number, report);
	if (predicted && ranks_count() > 1)
		model_reach(objective->model, lm->batch.expert, true);
	objective_sum_report(report);
	return true;
}

void
lm_dev(struct objective *objective, struct dev_report *report)
{
	struct lm *lm = own(objective);
	struct corpus_batch texts;
	double sums[2] = { 0, 0 }; /* of losses; of tokens */

	corpus_skip(lm->dev, 0);
	for (int64_t number = 0; corpus_next(lm->dev, objective->options.tokens, &texts);
	     number++) {
		if (number % ranks_count() != ranks_own())
			continue;
		int64_t count = choose_targets(lm, &texts, number);
		/* the batch is one forward pass: its budget is the same */
		cut(lm, lm->dev, &texts, 0, texts.sequences, -1);
		sums[0] += model_predict_loss(
		    objective->model, &lm->batch, lm->positions, lm->targets, count);
		sums[1] += (double)count;
	}
	ranks_add(sums, 2);
	if (sums[1] == 0) /* special tokens alone */
		refuse_dev(lm);
	double loss = sums[0] / sums[1];
	*report = (struct dev_report){ .loss = loss, .best = -loss };
}

struct tree *
lm_position(const struct objective *objective)
{
	const struct corpus *corpus = own(objective)->corpus;
	struct tree *position = tree_object();

	tree_set(position, "taken", tree_of_integer(corpus_position(corpus)));
	tree_set(position, "hash", objective_hash(corpus_hash(corpus)));
	return position;
}

void
lm_resume(struct objective *objective, const struct tree *position)
{
	struct corpus *corpus = own(objective)->corpus;

	if (!corpus_skip(corpus, tree_integer(position, "taken", 0)) ||
	    corpus_hash(corpus) != objective_hash_in(position, "hash"))
		die("%s: is not the text that the checkpoint was trained on; give the same, or --restart",
		    corpus_name(corpus));
}
