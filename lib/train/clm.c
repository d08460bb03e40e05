/*
 * Causal language modelling: each token but the first of its text is predicted from those before it.  A text's end is predicted
 * if the tokenizer adds a token there.
 */
#include "base/err.h"
#include "train/lm.h"

/* Shorter texts have nothing to predict. */
enum { SHORTEST = 2 };

/* The logits of a token predict the one after it. */
static int64_t
choose(struct lm *lm, const struct corpus_batch *texts, int64_t number)
{
	int64_t count = 0;

	(void)number;
	for (int64_t i = 0; i < texts->sequences; i++)
		for (int64_t t = texts->starts[i]; t + 1 < texts->starts[i + 1]; t++) {
			lm->positions[count] = (int32_t)t;
			lm->targets[count++] = texts->ids[t + 1];
		}
	return count;
}

static void
open_texts(struct objective *objective, const char *path)
{
	const char *dir = model_dir(objective->model);

	if (!model_spec(objective->model)->causal)
		die("%s: is not a causal language model: its tokens see the tokens that they should predict; train it with --objective mlm",
		    dir);
	if (model_spec(objective->model)->output_capped)
		die("%s: caps the logits of the tokens that it predicts ('final_logit_softcapping'), which is not supported",
		    dir);
	if (!model_predicts(objective->model))
		die("%s: has no 'lm_head.weight' to predict tokens with, and config.json does not say \"tie_word_embeddings\": true; a model made by train --from-scratch --objective clm has one",
		    dir);
	lm_open((struct lm *)objective, path, SHORTEST, choose);
}

static void
add_settings(const struct objective_options *options, struct tree *settings)
{
	lm_settings(options, settings);
	tree_set(settings, "balance", tree_of_real(options->balance));
}

const struct objective_type objective_clm = {
	.name = "clm",
	.size = sizeof(struct lm),
	.rate = 5e-4,
	.balance = -1,
	.predicts = true,
	.applies = "batch-tokens balance",
	.open = open_texts,
	.settings = add_settings,
	LM_FUNCTIONS,
};
