#include "train/mlm.h"

#include <stdbool.h>

#include "base/err.h"
#include "base/rng.h"
#include "token/tokenizer.h"
#include "train/lm.h"

static bool
special(const struct mlm_options *options, int32_t id)
{
	for (int i = 0; i < options->specials; i++)
		if (options->special[i] == id)
			return true;
	return false;
}

static int32_t
replacement(const struct mlm_options *options, struct rng *rng, int32_t id)
{
	double draw = rng_uniform(rng);

	if (draw < 0.8)
		return options->mask;
	if (draw < 0.9)
		return (int32_t)rng_below(rng, (uint64_t)options->vocabulary);
	return id;
}

int64_t
mlm_mask(int32_t *ids, int64_t tokens, int32_t *positions, int32_t *targets,
    const struct mlm_options *options, int64_t step)
{
	struct rng rng = rng_seed(options->seed, (uint64_t)step);
	int64_t chosen = 0, candidates = 0, spare = 0;

	for (int64_t t = 0; t < tokens; t++) {
		if (special(options, ids[t]))
			continue;
		/* a reservoir of one, should the draws choose none */
		if (rng_below(&rng, (uint64_t)++candidates) == 0)
			spare = t;
		if (rng_uniform(&rng) >= options->share)
			continue;
		positions[chosen] = (int32_t)t;
		targets[chosen++] = ids[t];
	}
	if (!chosen && candidates) {
		positions[0] = (int32_t)spare;
		targets[chosen++] = ids[spare];
	}
	for (int64_t m = 0; m < chosen; m++)
		ids[positions[m]] = replacement(options, &rng, targets[m]);
	return chosen;
}

enum { SPECIALS = 5 };

struct mlm {
	struct lm lm;
	struct mlm_options mask;
	int32_t special[SPECIALS];
};

/* Finds the special tokens, under BERT's or RoBERTa's names. */
static void
find_specials(struct mlm *own)
{
	static const char *const names[SPECIALS][2] = { { "[MASK]", "<mask>" },
		{ "[CLS]", "<s>" }, { "[SEP]", "</s>" }, { "[PAD]", "<pad>" },
		{ "[UNK]", "<unk>" } };
	const struct objective *objective = &own->lm.objective;
	struct mlm_options *mask = &own->mask;
	const char *dir = model_dir(objective->model);
	struct tokenizer *tokenizer = tokenizer_open(dir);

	for (int i = 0; i < SPECIALS; i++) {
		int id = tokenizer_id(tokenizer, names[i][0]);
		if (id < 0)
			id = tokenizer_id(tokenizer, names[i][1]);
		if (i == 0 && id < 0)
			die("%s: its tokenizer has no mask token", dir);
		if (id >= 0)
			own->special[mask->specials++] = id;
	}
	mask->mask = own->special[0];
	mask->special = own->special;
	mask->vocabulary = tokenizer_size(tokenizer);
	if (mask->vocabulary > model_spec(objective->model)->vocabulary)
		mask->vocabulary = model_spec(objective->model)->vocabulary;
	mask->share = objective->options.mask_share;
	mask->seed = objective->options.seed;
	tokenizer_close(tokenizer);
}

static int64_t
choose(struct lm *lm, const struct corpus_batch *texts, int64_t number)
{
	return mlm_mask(texts->ids, texts->starts[texts->sequences], lm->positions,
	    lm->targets, &((struct mlm *)lm)->mask, number);
}

static void
open_texts(struct objective *objective, const char *path)
{
	struct mlm *own = (struct mlm *)objective;
	const char *dir = model_dir(objective->model);

	if (model_spec(objective->model)->causal)
		die("%s: is a causal language model; --objective clm is for such a model",
		    dir);
	if (!model_predicts(objective->model))
		die("%s: has no masked-language-model head to train; a model made by train --from-scratch --objective mlm has one",
		    dir);
	lm_open(&own->lm, path, 1, choose);
	find_specials(own);
}

static void
add_settings(const struct objective_options *options, struct tree *settings)
{
	lm_settings(options, settings);
	tree_set(settings, "mask-share", tree_of_real(options->mask_share));
}

const struct objective_type objective_mlm = {
	.name = "mlm",
	.size = sizeof(struct mlm),
	.rate = 5e-4,
	.predicts = true,
	.applies = "batch-tokens mask-share",
	.open = open_texts,
	.settings = add_settings,
	LM_FUNCTIONS,
};
