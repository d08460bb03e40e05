/*
 * ELECTRA (Clark et al. 2020), generator or discriminator: BERT, whose embeddings may be narrower than its blocks.
 */
#include "model/family/bert.h"

static const char *const stem[STEM_PARAMETERS] = {
	BERT_STEM,
	[STEM_PROJECT] = "embeddings_project",
	[STEM_MLM_DENSE] = "generator_predictions.dense",
	[STEM_MLM_NORM] = "generator_predictions.LayerNorm",
	[STEM_OUTPUT] = "generator_lm_head",
};

static const struct names names = {
	.prefixes = (const char *const[]){ "", "electra.", NULL },
	.stem = stem,
	.layers = "encoder.layer.",
	.block = bert_block,
	.heads = (const char *const[]){ "generator_predictions.", "generator_lm_head.",
	    "discriminator_predictions.", "classifier.", "qa_outputs.",
	    "sequence_summary.", NULL },
};

static void
configure(struct spec *spec, const struct tree *config)
{
	bert_configure(spec, config, "absolute");
	int width = (int)tree_integer_or(config, "embedding_size", 128, 1, 1 << 16);
	spec->embedding_width = width == spec->width ? 0 : width;
	spec->head_act = NN_GELU; /* whatever hidden_act is */
	spec->names = &names;
}

const struct family family_electra = { "electra", configure };
