/* BERT (Devlin et al. 2019). */
#include "model/family/bert.h"

#include <string.h>

#include "model/family/jina_bert.h"

static const char *const stem[STEM_PARAMETERS] = {
	BERT_STEM,
	[STEM_MLM_DENSE] = "cls.predictions.transform.dense",
	[STEM_MLM_NORM] = "cls.predictions.transform.LayerNorm",
	[STEM_OUTPUT] = "cls.predictions.decoder",
};

const char *const bert_block[BLOCK_PARAMETERS] = {
	[BLOCK_Q] = "attention.self.query",
	[BLOCK_K] = "attention.self.key",
	[BLOCK_V] = "attention.self.value",
	[BLOCK_OUT] = "attention.output.dense",
	[BLOCK_NORM1] = "attention.output.LayerNorm",
	[BLOCK_UP] = "intermediate.dense",
	[BLOCK_DOWN] = "output.dense",
	[BLOCK_NORM2] = "output.LayerNorm",
};

static const struct names names = {
	.prefixes = (const char *const[]){ "", "bert.", NULL },
	.stem = stem,
	.layers = "encoder.layer.",
	.block = bert_block,
	.heads = (const char *const[]){ "cls.", "pooler.", "classifier.", "qa_outputs.",
	    NULL },
};

void
bert_shape(struct spec *spec, int inner)
{
	spec->position_table = true;
	spec->embedding_norm = spec->norm_bias = true;
	spec->norm = NN_LAYERNORM;
	spec->qkv_bias = spec->out_bias = spec->up_bias = spec->down_bias = true;
	spec->mlm_bias = spec->output_bias = true;
	spec_layers(spec, inner);
}

void
bert_configure(struct spec *spec, const struct tree *config, const char *positions)
{
	const char *key = "position_embedding_type";
	const char *type = tree_string(config, key, "absolute");

	if (strcmp(type, positions))
		tree_die(tree_get(config, key),
		    "'%s' is '%s', which is not known of such a model", key, type);
	spec_expect(config, "is_decoder", false);
	spec_sizes(spec, config);
	int inner = (int)tree_integer_in(config, "intermediate_size", 1, 1 << 20);
	spec->types = (int)tree_integer_or(config, "type_vocab_size", 2, 0, 1 << 16);
	spec_divide_heads(spec, config, "num_attention_heads");
	spec->norm_eps = (float)tree_real(config, "layer_norm_eps", 1e-12);
	spec->act = spec->head_act = spec_activation(config, "hidden_act", "gelu");
	bert_shape(spec, inner);
}

static void
configure(struct spec *spec, const struct tree *config)
{
	const char *type = tree_string(config, "position_embedding_type", "absolute");
	bool slopes = !strcmp(type, "alibi");

	bert_configure(spec, config, slopes ? "alibi" : "absolute");
	spec->names = &names;
	if (slopes)
		jina_bert_configure(spec, config);
}

const struct family family_bert = { "bert", configure };
