/* DeBERTa v2 and v3 (He et al. 2021): BERT with disentangled attention, and without positions in its
 * embeddings. */
#include <math.h>
#include <string.h>

#include "model/family/family.h"

static const struct tensor_names deberta = {
	.prefixes = { "", "deberta." },
	.stem = { EMBEDDINGS("embeddings.LayerNorm"),
	    CLS_PREDICTIONS, [STEM_RELATIVE] = "encoder.rel_embeddings",
	    [STEM_RELATIVE_NORM] = "encoder.LayerNorm" },
	.layers = "encoder.layer.",
	.block = { QKV("attention.self.query_proj", "attention.self.key_proj",
		       "attention.self.value_proj", "attention.output.dense"),
	    MLP("intermediate.dense", NULL, "output.dense"),
	    NORMS("attention.output.LayerNorm", "output.LayerNorm") },
	.classifier = { { "pooler.dense", ACTIVATED(NN_GELU) },
	    { .module = "classifier" } },
	/* the reference ignores positions in files of before */
	.heads = { "cls.", "lm_predictions.", "mask_predictions.", "pooler.",
	    "classifier.", "qa_outputs.", "embeddings.position_embeddings." },
};

/* Dies unless pos_att_type, a list or names joined by '|', has c2p and p2c. */
static void
demand_both_ways(const struct tree *config)
{
	const char *key = "pos_att_type";
	const struct tree *types = tree_get(config, key);
	bool queries = false, keys = false;

	if (types && types->kind == TREE_STRING) {
		queries = strstr(types->string, "p2c");
		keys = strstr(types->string, "c2p");
	}
	for (size_t i = 0; types && types->kind == TREE_LIST && i < types->count; i++) {
		const struct tree *type = types->items[i];
		queries |= type->kind == TREE_STRING && !strcmp(type->string, "p2c");
		keys |= type->kind == TREE_STRING && !strcmp(type->string, "c2p");
	}
	if (!queries || !keys)
		tree_die(types ? types : config, "'%s' must have c2p and p2c", key);
}

static void
configure_relative(struct spec *spec, const struct tree *config)
{
	const char *key = "max_relative_positions";
	int farthest = (int)tree_integer_or(config, key, -1, -1, 1 << 16);
	int buckets = (int)tree_integer_or(config, "position_buckets", -1, -1, 1 << 16);
	const char *norm = tree_string(config, "norm_rel_ebd", "none");

	if (farthest < 1)
		farthest = spec->positions;
	if (buckets > 0 && (buckets < 2 || farthest - 1 <= buckets / 2))
		tree_die(config,
		    "'position_buckets' is %d; it must be 2 or more, and '%s' above half of it plus 1",
		    buckets, key);
	if (strcmp(norm, "none") && strcmp(norm, "layer_norm"))
		tree_die(config,
		    "'norm_rel_ebd' is '%s'; supported are layer_norm and none", norm);
	demand_both_ways(config);
	spec->relative =
	    (struct spec_relative){ .rows = 2 * (buckets > 0 ? buckets : farthest),
		    .farthest = farthest,
		    .buckets = buckets > 0,
		    .norm = !strcmp(norm, "layer_norm") };
	/* of three products: of contents, of what with where, of where with what */
	spec->attention_scale = (float)(1 / sqrt(3.0 * spec->head_size));
}

static void
configure(struct spec *spec, const struct tree *config, const struct family *family)
{
	family_expect(config, "is_decoder", false);
	tree_integer_or(config, "conv_kernel_size", 0, 0, 0);
	if (!tree_boolean(config, "relative_attention", false) ||
	    !tree_boolean(config, "share_att_key", false))
		tree_die(config,
		    "'relative_attention' and 'share_att_key' must be true (DeBERTa v3)");
	if (tree_boolean(config, "position_biased_input", true))
		tree_die(config, "'position_biased_input' must be false (DeBERTa v3)");
	family_sizes(spec, config, family);
	tree_integer_or(config, "embedding_size", spec->width, spec->width, spec->width);
	spec->types = (int)tree_integer_or(config, "type_vocab_size", 0, 0, 1 << 16);
	family_divide_heads(spec, config, family);
	spec->norm_eps = (float)tree_real(config, "layer_norm_eps", 1e-7);
	spec->act = spec->head_act = family_activation(config, "hidden_act", "gelu");
	if (family_activation(config, "pooler_hidden_act", "gelu") != NN_GELU)
		tree_die(config, "'pooler_hidden_act' must be gelu");
	spec->embedding_norm = spec->norm_bias = true;
	spec->norm = NN_LAYERNORM;
	spec->qkv_bias = spec->out_bias = spec->up_bias = spec->down_bias = true;
	spec->mlm_bias = spec->output_bias = true;
	configure_relative(spec, config);
}

const struct family deberta_families[] = {
	{ "deberta-v2", &deberta, configure, NULL, .act = "gelu" },
	{ 0 },
};
