/*
 * MPNet (Song et al. 2020): BERT without types, its positions learned twice: of tokens, and of the distances
 * between them, one table for all blocks.
 */
#include "folder/positions.h"
#include "model/family/bert.h"

static const char *const stem[STEM_PARAMETERS] = {
	[STEM_TOKENS] = "embeddings.word_embeddings",
	[STEM_POSITIONS] = "embeddings.position_embeddings",
	[STEM_DISTANCE] = "encoder.relative_attention_bias",
	[STEM_NORM] = "embeddings.LayerNorm",
	[STEM_MLM_DENSE] = "lm_head.dense",
	[STEM_MLM_NORM] = "lm_head.layer_norm",
	[STEM_OUTPUT] = "lm_head.decoder",
};

static const char *const block[BLOCK_PARAMETERS] = {
	[BLOCK_Q] = "attention.attn.q",
	[BLOCK_K] = "attention.attn.k",
	[BLOCK_V] = "attention.attn.v",
	[BLOCK_OUT] = "attention.attn.o",
	[BLOCK_NORM1] = "attention.LayerNorm",
	[BLOCK_UP] = "intermediate.dense",
	[BLOCK_DOWN] = "output.dense",
	[BLOCK_NORM2] = "output.LayerNorm",
};

static const struct names names = {
	.prefixes = (const char *const[]){ "", "mpnet.", NULL },
	.stem = stem,
	.layers = "encoder.layer.",
	.block = block,
	.heads = (const char *const[]){ "lm_head.", "pooler.", "classifier.",
	    "qa_outputs.", NULL },
};

static void
configure(struct spec *spec, const struct tree *config)
{
	spec_sizes(spec, config);
	int inner = (int)tree_integer_in(config, "intermediate_size", 1, 1 << 20);
	spec_divide_heads(spec, config, "num_attention_heads");
	spec_positions_from(spec, config, positions_first(config));
	spec->head_act = NN_GELU; /* whatever hidden_act is */
	/* whatever config.json says, the reference counts with these */
	tree_integer_or(config, "relative_attention_num_buckets", 32, 32, 32);
	spec->distance = (struct spec_distance){ .buckets = 32, .farthest = 128 };
	spec->norm_eps = (float)tree_real(config, "layer_norm_eps", 1e-12);
	spec->act = spec_activation(config, "hidden_act", "gelu");
	bert_shape(spec, inner);
	spec->names = &names;
}

const struct family family_mpnet = { "mpnet", configure };
