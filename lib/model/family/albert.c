/*
 * ALBERT (Lan et al. 2020): BERT with narrow embeddings, whose blocks share their weights: all of them, or those of a
 * group.
 */
#include "model/family/bert.h"

static const char *const stem[STEM_PARAMETERS] = {
	BERT_STEM,
	[STEM_PROJECT] = "encoder.embedding_hidden_mapping_in",
	[STEM_MLM_DENSE] = "predictions.dense",
	[STEM_MLM_NORM] = "predictions.LayerNorm",
	[STEM_OUTPUT] = "predictions.decoder",
};

static const char *const block[BLOCK_PARAMETERS] = {
	[BLOCK_Q] = "attention.query",
	[BLOCK_K] = "attention.key",
	[BLOCK_V] = "attention.value",
	[BLOCK_OUT] = "attention.dense",
	[BLOCK_NORM1] = "attention.LayerNorm",
	[BLOCK_UP] = "ffn",
	[BLOCK_DOWN] = "ffn_output",
	[BLOCK_NORM2] = "full_layer_layer_norm",
};

static const struct names names = {
	.prefixes = (const char *const[]){ "", "albert.", NULL },
	.stem = stem,
	.layers = "encoder.albert_layer_groups.",
	.inner = "albert_layers.0.",
	.block = block,
	.heads = (const char *const[]){ "predictions.", "sop_classifier.", "pooler.",
	    "classifier.", "qa_outputs.", NULL },
};

static void
configure(struct spec *spec, const struct tree *config)
{
	bert_configure(spec, config, "absolute");
	int groups =
	    (int)tree_integer_or(config, "num_hidden_groups", 1, 1, spec->layers);
	tree_integer_or(config, "inner_group_num", 1, 1, 1);
	spec->embedding_width =
	    (int)tree_integer_or(config, "embedding_size", 128, 1, 1 << 16);
	spec->act = spec->head_act = spec_activation(config, "hidden_act", "gelu_new");
	for (int i = 0; i < spec->layers; i++)
		spec->layer[i].stored =
		    (int)(i / ((double)spec->layers / groups)); /* as the reference */
	spec->names = &names;
}

const struct family family_albert = { "albert", configure };
