#include "model/family/jina_bert.h"

#include <string.h>

static const char *const stem[STEM_PARAMETERS] = {
	[STEM_TOKENS] = "embeddings.word_embeddings",
	[STEM_TYPES] = "embeddings.token_type_embeddings",
	[STEM_NORM] = "embeddings.LayerNorm",
	[STEM_MLM_DENSE] = "cls.predictions.transform.dense",
	[STEM_MLM_NORM] = "cls.predictions.transform.LayerNorm",
	[STEM_OUTPUT] = "cls.predictions.decoder",
};

static const char *const block[BLOCK_PARAMETERS] = {
	[BLOCK_Q] = "attention.self.query",
	[BLOCK_K] = "attention.self.key",
	[BLOCK_V] = "attention.self.value",
	[BLOCK_OUT] = "attention.output.dense",
	[BLOCK_NORM1] = "attention.output.LayerNorm",
	[BLOCK_UP] = "mlp.gated_layers",
	[BLOCK_GATE] = "mlp.gated_layers",
	[BLOCK_DOWN] = "mlp.wo",
	[BLOCK_NORM2] = "mlp.layernorm",
};

static const struct names names = {
	.prefixes = (const char *const[]){ "", "bert.", NULL },
	.stem = stem,
	.layers = "encoder.layer.",
	.block = block,
	.gate_first = true,
	.heads = (const char *const[]){ "cls.", "pooler.", "classifier.", NULL },
};

/* Another model under the same name: norms of queries and keys, and the residual twice
 * (jina-embeddings-v2-base-code). */
static void
refuse_other(const struct tree *config)
{
	const struct tree *code = tree_get(config, "auto_map");

	for (size_t i = 0; code && code->kind == TREE_OBJECT && i < code->count; i++)
		if (code->items[i]->kind == TREE_STRING &&
		    strstr(code->items[i]->string, "qk-post-norm"))
			tree_die(code,
			    "JinaBERT with norms of queries and keys (qk-post-norm) is not known");
}

void
jina_bert_configure(struct spec *spec, const struct tree *config)
{
	const char *key = "feed_forward_type";
	const char *type = tree_string(config, key, "original");

	refuse_other(config);
	if (strcmp(type, "geglu") && strcmp(type, "reglu"))
		tree_die(config, "'%s' is '%s'; known are geglu and reglu", key, type);
	spec->position_table = false;
	spec->distance.slopes = true;
	spec->gated = true;
	spec->act = strcmp(type, "geglu") ? NN_RELU : NN_GELU;
	spec->up_bias = false;
	spec->names = &names;
}
