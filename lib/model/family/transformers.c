/* Names that transformers 5 has in memory for NomicBERT and GTE. */
#include "model/spec.h"

static const char *const stem[STEM_PARAMETERS] = {
	[STEM_TOKENS] = "embeddings.word_embeddings.weight",
	[STEM_TYPES] = "embeddings.token_type_embeddings.weight",
	[STEM_NORM] = "embeddings.LayerNorm.weight",
	[STEM_NORM_BIAS] = "embeddings.LayerNorm.bias",
};

static const char *const block[BLOCK_PARAMETERS] = {
	[BLOCK_Q] = "self_attn.q_proj.weight",
	[BLOCK_Q_BIAS] = "self_attn.q_proj.bias",
	[BLOCK_K] = "self_attn.k_proj.weight",
	[BLOCK_K_BIAS] = "self_attn.k_proj.bias",
	[BLOCK_V] = "self_attn.v_proj.weight",
	[BLOCK_V_BIAS] = "self_attn.v_proj.bias",
	[BLOCK_OUT] = "self_attn.o_proj.weight",
	[BLOCK_OUT_BIAS] = "self_attn.o_proj.bias",
	[BLOCK_NORM1] = "post_attention_layernorm.weight",
	[BLOCK_NORM1_BIAS] = "post_attention_layernorm.bias",
	[BLOCK_UP] = "mlp.up_proj.weight",
	[BLOCK_UP_BIAS] = "mlp.up_proj.bias",
	[BLOCK_GATE] = "mlp.gate_proj.weight",
	[BLOCK_GATE_BIAS] = "mlp.gate_proj.bias",
	[BLOCK_DOWN] = "mlp.down_proj.weight",
	[BLOCK_DOWN_BIAS] = "mlp.down_proj.bias",
	[BLOCK_NORM2] = "post_mlp_layernorm.weight",
	[BLOCK_NORM2_BIAS] = "post_mlp_layernorm.bias",
};

const struct names transformers_names = {
	.prefixes = (const char *const[]){ "", "model.", "bert.", "new.", "nomic_bert.",
	    "gte.", NULL },
	.stem = stem,
	.layers = "layers.",
	.block = block,
	.heads =
	    (const char *const[]){ "cls.", "lm_head.", "pooler.", "classifier.", NULL },
};
