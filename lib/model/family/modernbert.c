/*
 * ModernBERT (Warner et al. 2024): norms before attention and MLP, rotary positions, and
 * attention that in most layers sees a window only, with a rotary base of its own.
 */
#include <string.h>

#include "model/spec.h"

enum { GLOBAL, LOCAL }; /* the rotary tables */

static void
rotary(struct spec *spec, const struct tree *config)
{
	static const char *const types[] = { "full_attention", "sliding_attention" };
	static const char *const keys[] = { "global_rope_theta", "local_rope_theta" };
	static const double bases[] = { 160000, 10000 };
	const struct tree *parameters = tree_get(config, "rope_parameters");

	if (tree_get(config, "rope_scaling"))
		tree_die(tree_get(config, "rope_scaling"),
		    "'rope_scaling' is not known here; it must be null");
	for (int i = GLOBAL; i <= LOCAL; i++) {
		struct tree *own = tree_get(parameters, types[i]);
		const char *type = tree_string(own, "rope_type", "default");
		if (strcmp(type, "default"))
			tree_die(
			    own, "'rope_type' is '%s'; only 'default' is known", type);
		spec->rotary[i].base =
		    tree_real(own, "rope_theta", tree_real(config, keys[i], bases[i]));
		spec->rotary[i].divisor = 1;
	}
	spec->rotaries = 2;
}

static const char *const stem[STEM_PARAMETERS] = {
	[STEM_TOKENS] = "embeddings.tok_embeddings",
	[STEM_NORM] = "embeddings.norm",
	[STEM_FINAL_NORM] = "final_norm",
	[STEM_MLM_DENSE] = "head.dense",
	[STEM_MLM_NORM] = "head.norm",
	[STEM_OUTPUT] = "decoder",
};

static const char *const block[BLOCK_PARAMETERS] = {
	[BLOCK_Q] = "attn.Wqkv",
	[BLOCK_K] = "attn.Wqkv",
	[BLOCK_V] = "attn.Wqkv",
	[BLOCK_OUT] = "attn.Wo",
	[BLOCK_NORM1] = "attn_norm",
	[BLOCK_UP] = "mlp.Wi",
	[BLOCK_GATE] = "mlp.Wi",
	[BLOCK_DOWN] = "mlp.Wo",
	[BLOCK_NORM2] = "mlp_norm",
};

static const struct names names = {
	.prefixes = (const char *const[]){ "", "model.", NULL },
	.stem = stem,
	.layers = "layers.",
	.block = block,
	.gate_first = true,
	.heads = (const char *const[]){ "head.", "decoder.", "classifier.", NULL },
};

static void
configure(struct spec *spec, const struct tree *config)
{
	spec_sizes(spec, config);
	spec_divide_heads(spec, config, "num_attention_heads");
	int inner = (int)tree_integer_in(config, "intermediate_size", 1, 1 << 20);
	int window = (int)tree_integer_or(config, "local_attention", 128, 2, 1 << 24) / 2;
	/* transformers 5 takes half of it under this name, too */
	window = (int)tree_integer_or(config, "sliding_window", window, 1, 1 << 24);
	rotary(spec, config);
	spec->prenorm = spec->embedding_norm = spec->gated = true;
	spec->norm = NN_LAYERNORM;
	spec->norm_bias = tree_boolean(config, "norm_bias", false);
	spec->norm_eps = (float)tree_real(config, "norm_eps", 1e-5);
	spec->act = spec_activation(config, "hidden_activation", "gelu");
	spec->qkv_bias = spec->out_bias = tree_boolean(config, "attention_bias", false);
	spec->up_bias = spec->down_bias = tree_boolean(config, "mlp_bias", false);
	spec->head_act = spec_activation(config, "classifier_activation", "gelu");
	spec->mlm_bias = tree_boolean(config, "classifier_bias", false);
	spec->output_bias = tree_boolean(config, "decoder_bias", true);
	spec->names = &names;
	spec_layers(spec, inner);
	spec->layer[0].norm1 = false; /* the embeddings have just been normed */
	int every =
	    (int)tree_integer_or(config, "global_attn_every_n_layers", 3, 1, SPEC_LAYERS);
	for (int i = 0; i < spec->layers; i++)
		if (spec_slides(spec, config, i, i % every)) {
			spec->layer[i].window = window;
			spec->layer[i].rotary = LOCAL;
		}
}

const struct family family_modernbert = { "modernbert", configure };
