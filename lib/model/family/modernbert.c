/*
 * ModernBERT (Warner et al. 2024): norms before attention and MLP, rotary positions, and in most layers local attention
 * with a rotary base of its own.
 */
#include <string.h>

#include "model/family/family.h"

static const struct tensor_names modernbert = {
	.prefixes = { "", "model." },
	.stem = { [STEM_TOKENS] = "embeddings.tok_embeddings",
	    [STEM_NORM] = "embeddings.norm",
	    [STEM_FINAL_NORM] = "final_norm",
	    PREDICTION("head.dense", "head.norm", "decoder") },
	.layers = "layers.",
	.block = { QKV("attn.Wqkv", "attn.Wqkv", "attn.Wqkv", "attn.Wo"),
	    MLP("mlp.Wi", "mlp.Wi", "mlp.Wo"), NORMS("attn_norm", "mlp_norm") },
	.gate_first = true,
	.classifier = { { "head.dense", .predicts = true },
	    { "head.norm", .predicts = true, .norm = true }, { .module = "classifier" } },
	.heads = { "head.", "decoder.", "classifier." },
};

static void
configure(struct spec *spec, const struct tree *config, const struct family *family)
{
	family_sizes(spec, config, family);
	family_divide_heads(spec, config, family);
	int window = (int)tree_integer_or(config, "local_attention", 128, 2, 1 << 24) / 2;
	/* transformers 5 has half of it under this name */
	window = (int)tree_integer_or(config, "sliding_window", window, 1, 1 << 24);
	family_rotary_kinds(spec, config,
	    (double[]){ tree_real(config, "global_rope_theta", 160000),
		tree_real(config, "local_rope_theta", 10000) });
	spec->prenorm = spec->embedding_norm = spec->gated = true;
	spec->norm = NN_LAYERNORM;
	spec->norm_bias = tree_boolean(config, "norm_bias", false);
	spec->norm_eps = (float)tree_real(config, "norm_eps", family->norm_eps);
	spec->act = family_activation(config, "hidden_activation", "gelu");
	family_biases(spec, config);
	spec->head_act = family_activation(config, "classifier_activation", "gelu");
	spec->mlm_bias = tree_boolean(config, "classifier_bias", false);
	spec->output_bias = tree_boolean(config, "decoder_bias", true);
	spec->layer[0].norm1 = false; /* the embeddings have just been normed */
	int every =
	    (int)tree_integer_or(config, "global_attn_every_n_layers", 3, 1, SPEC_LAYERS);
	for (int i = 0; i < spec->layers; i++)
		if (family_slides(spec, config, i, i % every)) {
			spec->layer[i].window = window;
			spec->layer[i].rotary = FAMILY_SLIDING;
		}
}

static const struct family_dropout dropout = {
	.keys = { "embedding_dropout", "attention_dropout", "attention_dropout",
	    "mlp_dropout", NULL },
};

const struct family modernbert_families[] = {
	{ "modernbert", &modernbert, configure, NULL, .norm_eps = 1e-5,
	    .dropout = &dropout },
	{ 0 },
};
