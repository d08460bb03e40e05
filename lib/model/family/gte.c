/*
 * GTE v1.5 (Zhang et al. 2024, mGTE): BERT with rotary positions, stretched by a static factor
 * at every length, and gated MLPs.  Folders on the Hub call it "new"; transformers 5 calls it
 * "gte", and saves it with the same tensors.
 */
#include <string.h>

#include "model/spec.h"

static void
expect(const struct tree *config, const char *key, const char *expected)
{
	const char *value = tree_string(config, key, expected);

	if (strcmp(value, expected))
		tree_die(tree_get(config, key), "'%s' is '%s'; only '%s' is known", key,
		    value, expected);
}

static const char *const stem[STEM_PARAMETERS] = {
	[STEM_TOKENS] = "embeddings.word_embeddings",
	[STEM_TYPES] = "embeddings.token_type_embeddings",
	[STEM_NORM] = "embeddings.LayerNorm",
	[STEM_MLM_DENSE] = "lm_head.dense",
	[STEM_MLM_NORM] = "lm_head.norm",
	[STEM_OUTPUT] = "lm_head.decoder",
};

static const char *const packed[BLOCK_PARAMETERS] = {
	[BLOCK_Q] = "attention.qkv_proj",
	[BLOCK_K] = "attention.qkv_proj",
	[BLOCK_V] = "attention.qkv_proj",
	[BLOCK_OUT] = "attention.o_proj",
	[BLOCK_NORM1] = "attn_ln",
	[BLOCK_UP] = "mlp.up_gate_proj",
	[BLOCK_GATE] = "mlp.up_gate_proj",
	[BLOCK_DOWN] = "mlp.down_proj",
	[BLOCK_NORM2] = "mlp_ln",
};

/* "pack_qkv": false */
static const char *const apart[BLOCK_PARAMETERS] = {
	[BLOCK_Q] = "attention.q_proj",
	[BLOCK_K] = "attention.k_proj",
	[BLOCK_V] = "attention.v_proj",
	[BLOCK_OUT] = "attention.o_proj",
	[BLOCK_NORM1] = "attn_ln",
	[BLOCK_UP] = "mlp.up_gate_proj",
	[BLOCK_GATE] = "mlp.up_gate_proj",
	[BLOCK_DOWN] = "mlp.down_proj",
	[BLOCK_NORM2] = "mlp_ln",
};

static const char *const prefixes[] = { "", "new.", NULL };
static const char *const heads[] = { "lm_head.", "pooler.", "classifier.", NULL };

static const struct names apart_names = { .prefixes = prefixes,
	.stem = stem,
	.layers = "encoder.layer.",
	.block = apart,
	.heads = heads,
	.otherwise = &transformers_gte };
static const struct names names = { .prefixes = prefixes,
	.stem = stem,
	.layers = "encoder.layer.",
	.block = packed,
	.heads = heads,
	.otherwise = &apart_names };

static void
configure(struct spec *spec, const struct tree *config, double base)
{
	expect(config, "position_embedding_type", "rope");
	expect(config, "layer_norm_type", "layer_norm");
	spec_expect(config, "logn_attention_scale", false);
	spec_sizes(spec, config);
	spec_divide_heads(spec, config, "num_attention_heads");
	int inner = (int)tree_integer_in(config, "intermediate_size", 1, 1 << 20);
	spec->types = (int)tree_integer_or(config, "type_vocab_size", 1, 0, 1 << 16);
	spec_rotary(spec, config, base);
	spec->embedding_norm = spec->norm_bias = spec->gated = true;
	spec->norm = NN_LAYERNORM;
	spec->norm_eps = (float)tree_real(config, "layer_norm_eps", 1e-12);
	spec->act = spec->head_act = spec_activation(config, "hidden_act", "gelu");
	spec->qkv_bias = spec->out_bias = spec->down_bias = true;
	spec->mlm_bias = spec->output_bias = true;
	spec->names = &names;
	spec_layers(spec, inner);
}

static void
configure_new(struct spec *spec, const struct tree *config)
{
	configure(spec, config, 10000);
}

static void
configure_gte(struct spec *spec, const struct tree *config)
{
	configure(spec, config, 160000);
	spec->head_act = NN_GELU; /* whatever hidden_act is */
}

const struct family family_new = { "new", configure_new };
const struct family family_gte = { "gte", configure_gte };
