/* Names that transformers 5 has in memory for NomicBERT and GTE. */
#include "model/spec.h"

#define STEM                                                                             \
	[STEM_TOKENS] = "embeddings.word_embeddings",                                    \
	[STEM_TYPES] = "embeddings.token_type_embeddings",                               \
	[STEM_NORM] = "embeddings.LayerNorm"

static const char *const nomic_stem[STEM_PARAMETERS] = {
	STEM,
	[STEM_MLM_DENSE] = "cls.predictions.transform.dense",
	[STEM_MLM_NORM] = "cls.predictions.transform.layer_norm",
	[STEM_OUTPUT] = "cls.predictions.decoder",
};

static const char *const gte_stem[STEM_PARAMETERS] = {
	STEM,
	[STEM_MLM_DENSE] = "lm_head.dense",
	[STEM_MLM_NORM] = "lm_head.layer_norm",
	[STEM_OUTPUT] = "lm_head.decoder",
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

const struct names transformers_nomic_bert = {
	.prefixes = (const char *const[]){ "", "nomic_bert.", "model.", "bert.", NULL },
	.stem = nomic_stem,
	.layers = "layers.",
	.block = block,
	.heads = (const char *const[]){ "cls.", "pooler.", "classifier.", NULL },
};

const struct names transformers_gte = {
	.prefixes = (const char *const[]){ "", "gte.", "model.", "new.", NULL },
	.stem = gte_stem,
	.layers = "layers.",
	.block = block,
	.heads = (const char *const[]){ "lm_head.", "pooler.", "classifier.", NULL },
};
