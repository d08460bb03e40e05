/*
 * GTE v1.5 (Zhang et al. 2024, mGTE): BERT with rotary positions, scaled by a static factor at every length, and gated
 * MLPs.  Folders on the Hub call it "new"; transformers 5 calls it "gte", and saves it with the same tensors.
 */
#include <string.h>

#include "model/family/family.h"

#define STEM                                                                             \
	EMBEDDINGS("embeddings.LayerNorm"),                                              \
	    PREDICTION("lm_head.dense", "lm_head.norm", "lm_head.decoder")
#define REST                                                                             \
	MLP("mlp.up_gate_proj", "mlp.up_gate_proj", "mlp.down_proj"),                    \
	    NORMS("attn_ln", "mlp_ln")

/* As transformers 5 has it in memory, which some programs write. */
static const struct tensor_names transformers = {
	.prefixes = { "", "gte.", "model.", "new." },
	.stem = { EMBEDDINGS("embeddings.LayerNorm"),
	    PREDICTION("lm_head.dense", "lm_head.layer_norm", "lm_head.decoder") },
	.layers = "layers.",
	.block = { SELF_ATTN, GATED_MLP,
	    NORMS("post_attention_layernorm", "post_mlp_layernorm") },
	POOLED_CLASSIFIER,
	.heads = { "lm_head.", "pooler.", "classifier." },
};

/* "pack_qkv": false */
static const struct tensor_names unpacked = {
	.prefixes = { "", "new." },
	.stem = { STEM },
	.layers = "encoder.layer.",
	.block = { QKV("attention.q_proj", "attention.k_proj", "attention.v_proj",
		       "attention.o_proj"),
	    REST },
	POOLED_CLASSIFIER,
	.heads = { "lm_head.", "pooler.", "classifier." },
	.otherwise = &transformers,
};

static const struct tensor_names packed = {
	.prefixes = { "", "new." },
	.stem = { STEM },
	.layers = "encoder.layer.",
	.block = { QKV("attention.qkv_proj", "attention.qkv_proj", "attention.qkv_proj",
		       "attention.o_proj"),
	    REST },
	POOLED_CLASSIFIER,
	.heads = { "lm_head.", "pooler.", "classifier." },
	.otherwise = &unpacked,
};

static void
configure(struct spec *spec, const struct tree *config, const struct family *family)
{
	tree_expect(config, "position_embedding_type", "rope");
	tree_expect(config, "layer_norm_type", "layer_norm");
	family_expect(config, "logn_attention_scale", false);
	family_sizes(spec, config, family);
	family_divide_heads(spec, config, family);
	spec->types = (int)tree_integer_or(config, "type_vocab_size", 1, 0, 1 << 16);
	family_rotary(spec, config, family->rotary_base);
	spec->embedding_norm = spec->norm_bias = spec->gated = true;
	spec->norm = NN_LAYERNORM;
	spec->norm_eps = (float)tree_real(config, "layer_norm_eps", 1e-12);
	spec->act = spec->head_act = family_activation(config, "hidden_act", "gelu");
	spec->qkv_bias = spec->out_bias = spec->down_bias = true;
	spec->mlm_bias = spec->output_bias = true;
}

static void
adjust_transformers(struct spec *spec, const struct tree *config)
{
	(void)config;
	spec->head_act = NN_GELU; /* whatever hidden_act is */
}

const struct family gte_families[] = {
	{ "gte", &packed, configure, adjust_transformers, .rotary_base = 160000 },
	{ "new", &packed, configure, NULL, .rotary_base = 10000 },
	{ 0 },
};
