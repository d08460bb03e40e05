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
	[STEM_TOKENS] = "embeddings.word_embeddings.weight",
	[STEM_TYPES] = "embeddings.token_type_embeddings.weight",
	[STEM_NORM] = "embeddings.LayerNorm.weight",
	[STEM_NORM_BIAS] = "embeddings.LayerNorm.bias",
	[STEM_MLM_DENSE] = "lm_head.dense.weight",
	[STEM_MLM_DENSE_BIAS] = "lm_head.dense.bias",
	[STEM_MLM_NORM] = "lm_head.norm.weight",
	[STEM_MLM_NORM_BIAS] = "lm_head.norm.bias",
	[STEM_MLM_DECODER] = "lm_head.decoder.weight",
	[STEM_MLM_BIAS] = "lm_head.decoder.bias",
};

static const char *const packed[BLOCK_PARAMETERS] = {
	[BLOCK_Q] = "attention.qkv_proj.weight",
	[BLOCK_Q_BIAS] = "attention.qkv_proj.bias",
	[BLOCK_K] = "attention.qkv_proj.weight",
	[BLOCK_K_BIAS] = "attention.qkv_proj.bias",
	[BLOCK_V] = "attention.qkv_proj.weight",
	[BLOCK_V_BIAS] = "attention.qkv_proj.bias",
	[BLOCK_OUT] = "attention.o_proj.weight",
	[BLOCK_OUT_BIAS] = "attention.o_proj.bias",
	[BLOCK_NORM1] = "attn_ln.weight",
	[BLOCK_NORM1_BIAS] = "attn_ln.bias",
	[BLOCK_UP] = "mlp.up_gate_proj.weight",
	[BLOCK_GATE] = "mlp.up_gate_proj.weight",
	[BLOCK_DOWN] = "mlp.down_proj.weight",
	[BLOCK_DOWN_BIAS] = "mlp.down_proj.bias",
	[BLOCK_NORM2] = "mlp_ln.weight",
	[BLOCK_NORM2_BIAS] = "mlp_ln.bias",
};

/* "pack_qkv": false */
static const char *const apart[BLOCK_PARAMETERS] = {
	[BLOCK_Q] = "attention.q_proj.weight",
	[BLOCK_Q_BIAS] = "attention.q_proj.bias",
	[BLOCK_K] = "attention.k_proj.weight",
	[BLOCK_K_BIAS] = "attention.k_proj.bias",
	[BLOCK_V] = "attention.v_proj.weight",
	[BLOCK_V_BIAS] = "attention.v_proj.bias",
	[BLOCK_OUT] = "attention.o_proj.weight",
	[BLOCK_OUT_BIAS] = "attention.o_proj.bias",
	[BLOCK_NORM1] = "attn_ln.weight",
	[BLOCK_NORM1_BIAS] = "attn_ln.bias",
	[BLOCK_UP] = "mlp.up_gate_proj.weight",
	[BLOCK_GATE] = "mlp.up_gate_proj.weight",
	[BLOCK_DOWN] = "mlp.down_proj.weight",
	[BLOCK_DOWN_BIAS] = "mlp.down_proj.bias",
	[BLOCK_NORM2] = "mlp_ln.weight",
	[BLOCK_NORM2_BIAS] = "mlp_ln.bias",
};

static const char *const prefixes[] = { "", "new.", NULL };
static const char *const heads[] = { "lm_head.", "pooler.", "classifier.", NULL };

static const struct names apart_names = { .prefixes = prefixes,
	.stem = stem,
	.layers = "encoder.layer.",
	.block = apart,
	.heads = heads,
	.otherwise = &transformers_names };
static const struct names names = { .prefixes = prefixes,
	.stem = stem,
	.layers = "encoder.layer.",
	.block = packed,
	.heads = heads,
	.otherwise = &apart_names };

static void
configure(struct spec *spec, const struct tree *config)
{
	expect(config, "position_embedding_type", "rope");
	expect(config, "layer_norm_type", "layer_norm");
	spec_expect(config, "logn_attention_scale", false);
	spec_sizes(spec, config);
	spec_divide_heads(spec, config, "num_attention_heads");
	int inner = (int)tree_integer_in(config, "intermediate_size", 1, 1 << 20);
	spec->types = (int)tree_integer_or(config, "type_vocab_size", 1, 0, 1 << 16);
	spec_rotary(spec, config, 10000);
	spec->embedding_norm = spec->norm_bias = spec->gated = true;
	spec->norm = NN_LAYERNORM;
	spec->norm_eps = (float)tree_real(config, "layer_norm_eps", 1e-12);
	spec->act = spec_activation(config, "hidden_act", "gelu");
	spec->qkv_bias = spec->out_bias = spec->down_bias = spec->mlm_bias = true;
	spec->names = &names;
	spec_layers(spec, inner);
}

const struct family family_new = { "new", configure };
const struct family family_gte = { "gte", configure };
