/*
 * Gemma 3's text model (Gemma Team 2025), of which EmbeddingGemma is made: norms before and after
 * attention and MLP, whose weights are what is added to one; most layers see a window, with a
 * rotary base of their own.
 */
#include <math.h>

#include "model/family/decoder.h"

enum { GLOBAL, LOCAL }; /* the rotary tables */

static const char *const stem[STEM_PARAMETERS] = {
	[STEM_TOKENS] = "embed_tokens",
	[STEM_FINAL_NORM] = "norm",
	[STEM_OUTPUT] = "lm_head",
};

static const char *const block[BLOCK_PARAMETERS] = {
	[BLOCK_Q] = "self_attn.q_proj",
	[BLOCK_K] = "self_attn.k_proj",
	[BLOCK_V] = "self_attn.v_proj",
	[BLOCK_Q_NORM] = "self_attn.q_norm",
	[BLOCK_K_NORM] = "self_attn.k_norm",
	[BLOCK_OUT] = "self_attn.o_proj",
	[BLOCK_OUT_NORM] = "post_attention_layernorm",
	[BLOCK_NORM1] = "input_layernorm",
	[BLOCK_UP] = "mlp.up_proj",
	[BLOCK_GATE] = "mlp.gate_proj",
	[BLOCK_DOWN] = "mlp.down_proj",
	[BLOCK_NORM2] = "pre_feedforward_layernorm",
	[BLOCK_DOWN_NORM] = "post_feedforward_layernorm",
};

static const struct names names = {
	.prefixes = (const char *const[]){ "", "model.", NULL },
	.drawn = "model.", /* as of the other decoders */
	.stem = stem,
	.layers = "layers.",
	.block = block,
	.heads = (const char *const[]){ "lm_head.", "score.", NULL },
};

static void
refuse(const struct tree *config)
{
	static const char *const keys[] = { "attn_logit_softcapping",
		"final_logit_softcapping" };

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (tree_get(config, keys[i]))
			tree_die(tree_get(config, keys[i]),
			    "'%s' is not known; it must be null", keys[i]);
}

/* Of each type of layer: transformers 5 has both in "rope_parameters", others scale the first only. */
static void
rotary(struct spec *spec, const struct tree *config)
{
	const struct tree *both = tree_get(config, "rope_parameters");
	const struct tree *full = tree_get(both, "full_attention");
	const struct tree *scaling = tree_get(config, "rope_scaling");
	double base = tree_real(full, "rope_theta", tree_real(config, "rope_theta", 1e6));

	spec_rotary_table(spec, GLOBAL, config, scaling ? scaling : full, base);
	spec_rotary_table(spec, LOCAL, config, tree_get(both, "sliding_attention"),
	    tree_real(config, "rope_local_base_freq", 1e4));
	spec->rotaries = 2;
}

static void
layers(struct spec *spec, const struct tree *config)
{
	bool both = tree_boolean(config, "use_bidirectional_attention", false);
	bool causal = tree_boolean(config, "is_causal", true);
	int every =
	    (int)tree_integer_or(config, "sliding_window_pattern", 6, 1, SPEC_LAYERS);
	int window = decoder_window(spec, config, 4096);

	/* half of it on either side, but one more in transformers where it is not causal twice */
	if (both)
		window = window / 2 + !causal;
	for (int i = 0; i < spec->layers; i++)
		if (spec_slides(spec, config, i, (i + 1) % every)) {
			if (!window)
				tree_die(config, "'sliding_window' must not be null");
			spec->layer[i].window = window;
			spec->layer[i].rotary = LOCAL;
		}
}

static void
configure(struct spec *spec, const struct tree *config)
{
	double scalar = tree_real(config, "query_pre_attn_scalar", 256);

	refuse(config);
	decoder_configure(spec, config, 256, 1e-6);
	if (!(scalar > 0 && scalar < 1e9))
		tree_die(tree_get(config, "query_pre_attn_scalar"),
		    "'query_pre_attn_scalar' is %g; it must be above 0", scalar);
	spec->names = &names;
	spec->untied = spec->up_bias = spec->down_bias = false;
	spec->act = spec_activation(config, "hidden_activation", "gelu_pytorch_tanh");
	spec->norm = NN_RMSNORM_PLUS;
	spec->qk_norm = SPEC_QK_HEAD;
	spec->branch_norms = true;
	spec->embedding_scale = (float)sqrt(spec->width);
	spec->attention_scale = (float)(1 / sqrt(scalar));
	rotary(spec, config);
	spec_layers(spec, (int)tree_integer_in(config, "intermediate_size", 1, 1 << 20));
	layers(spec, config);
}

const struct family family_gemma3_text = { "gemma3_text", configure };
