/* Names that transformers 5 has in memory for NomicBERT and GTE. */
#include "model/spec.h"

static const char *const stem[STEM_PARAMETERS] = {
	[STEM_TOKENS] = "embeddings.word_embeddings",
	[STEM_TYPES] = "embeddings.token_type_embeddings",
	[STEM_NORM] = "embeddings.LayerNorm",
};

static const char *const block[BLOCK_PARAMETERS] = {
	[BLOCK_Q] = "self_attn.q_proj",
	[BLOCK_K] = "self_attn.k_proj",
	[BLOCK_V] = "self_attn.v_proj",
	[BLOCK_OUT] = "self_attn.o_proj",
	[BLOCK_NORM1] = "post_attention_layernorm",
	[BLOCK_UP] = "mlp.up_proj",
	[BLOCK_GATE] = "mlp.gate_proj",
	[BLOCK_DOWN] = "mlp.down_proj",
	[BLOCK_NORM2] = "post_mlp_layernorm",
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
