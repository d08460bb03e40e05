/* DistilBERT (Sanh et al. 2019): BERT without types, under names of its own. */
#include "model/family/bert.h"

static const char *const stem[STEM_PARAMETERS] = {
	[STEM_TOKENS] = "embeddings.word_embeddings",
	[STEM_POSITIONS] = "embeddings.position_embeddings",
	[STEM_NORM] = "embeddings.LayerNorm",
	[STEM_MLM_DENSE] = "vocab_transform",
	[STEM_MLM_NORM] = "vocab_layer_norm",
	[STEM_OUTPUT] = "vocab_projector",
};

static const char *const block[BLOCK_PARAMETERS] = {
	[BLOCK_Q] = "attention.q_lin",
	[BLOCK_K] = "attention.k_lin",
	[BLOCK_V] = "attention.v_lin",
	[BLOCK_OUT] = "attention.out_lin",
	[BLOCK_NORM1] = "sa_layer_norm",
	[BLOCK_UP] = "ffn.lin1",
	[BLOCK_DOWN] = "ffn.lin2",
	[BLOCK_NORM2] = "output_layer_norm",
};

static const struct names names = {
	.prefixes = (const char *const[]){ "", "distilbert.", NULL },
	.stem = stem,
	.layers = "transformer.layer.",
	.block = block,
	.heads = (const char *const[]){ "vocab_transform.", "vocab_layer_norm.",
	    "vocab_projector.", "pre_classifier.", "classifier.", "qa_outputs.", NULL },
};

static void
configure(struct spec *spec, const struct tree *config)
{
	spec->vocabulary = (int)tree_integer_in(config, "vocab_size", 1, 1 << 24);
	spec->width = spec_number(config, "dim", "hidden_size", 1 << 16);
	spec->layers = spec_number(config, "n_layers", "num_hidden_layers", SPEC_LAYERS);
	spec->heads = spec_number(config, "n_heads", "num_attention_heads", 1024);
	spec->kv_heads = spec->heads;
	spec->positions =
	    (int)tree_integer_in(config, "max_position_embeddings", 1, 1 << 24);
	spec->initializer_range = tree_real(config, "initializer_range", 0.02);
	spec_divide_heads(spec, config, "n_heads");
	spec->norm_eps = 1e-12f; /* whatever config.json says */
	spec->act = spec->head_act = spec_activation(config, "activation", "gelu");
	spec->names = &names;
	bert_shape(spec, (int)tree_integer_in(config, "hidden_dim", 1, 1 << 20));
}

const struct family family_distilbert = { "distilbert", configure };
