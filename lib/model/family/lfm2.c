/*
 * LFM2 (Liquid AI 2025): blocks of Llama's kind, of which most have a gated short convolution (short_conv.h) in the place of
 * attention.  In LFM2.5's encoders, whose architecture is "Lfm2Bidirectional...", attention and convolution see both ways.
 */
#include <string.h>

#include "model/family/family.h"

static const struct tensor_names names = {
	.prefixes = { "", "model.", "lfm2." },
	.stem = { [STEM_TOKENS] = "embed_tokens",
	    [STEM_FINAL_NORM] = "embedding_norm",
	    [STEM_OUTPUT] = "lm_head" },
	.layers = "layers.",
	.block = { QKV("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
		       "self_attn.out_proj"),
	    MLP("feed_forward.w3", "feed_forward.w1", "feed_forward.w2"),
	    NORMS("operator_norm", "ffn_norm"), [BLOCK_Q_NORM] = "self_attn.q_layernorm",
	    [BLOCK_K_NORM] = "self_attn.k_layernorm", [BLOCK_CONV] = "conv.conv" },
	.conv_in = "conv.in_proj",
	.conv_out = "conv.out_proj",
	.heads = { "lm_head." },
};

static bool
sees_both_ways(const struct tree *config)
{
	const struct tree *list = tree_get(config, "architectures");

	for (size_t i = 0; list && list->kind == TREE_LIST && i < list->count; i++)
		if (list->items[i]->kind == TREE_STRING &&
		    strstr(list->items[i]->string, "Bidirectional"))
			return true;
	return false;
}

/* Whether a layer is a convolution: by "layer_types", else where "full_attn_idxs" does not list it. */
static bool
is_conv(const struct spec *spec, const struct tree *config, int layer)
{
	static const char *const types[] = { "conv", "full_attention" };
	const struct tree *full = tree_get(config, "full_attn_idxs");
	bool listed = !full;

	for (size_t i = 0; full && full->kind == TREE_LIST && i < full->count; i++)
		listed |=
		    tree_is_whole(full->items[i]) && full->items[i]->integer == layer;
	return !family_layer_type(spec, config, layer, types, listed);
}

/* Channels of the MLP: two thirds of the number in config.json times a factor, and a multiple of another; or the number itself. */
static int
inner_of(const struct tree *config)
{
	const char *key =
	    tree_get(config, "block_ff_dim") ? "block_ff_dim" : "intermediate_size";
	int64_t inner = tree_integer_in(config, key, 1, 1 << 20);
	int64_t multiple = tree_integer_or(config, "block_multiple_of", 256, 1, 1 << 20);
	double factor = tree_real(config, "block_ffn_dim_multiplier", 1);

	if (!tree_boolean(config, "block_auto_adjust_ff_dim", true))
		return (int)inner;
	if (!(factor > 0 && factor <= 64))
		tree_die(tree_get(config, "block_ffn_dim_multiplier"),
		    "'block_ffn_dim_multiplier' is %g; it must be in 0..64", factor);
	inner = (int64_t)(factor * (double)(2 * inner / 3));
	return (int)(multiple * ((inner + multiple - 1) / multiple));
}

static void
configure(struct spec *spec, const struct tree *config, const struct family *family)
{
	const char *epsilon =
	    tree_get(config, "block_norm_eps") ? "block_norm_eps" : "norm_eps";
	int inner = inner_of(config);

	family_sizes(spec, config, family);
	family_divide_heads(spec, config, family);
	spec->kv_heads = (int)tree_integer_or(
	    config, "num_key_value_heads", spec->heads, 1, spec->heads);
	family_rotary(spec, config, 1e6);
	spec->conv_taps = (int)tree_integer_or(config, "conv_L_cache", 3, 1, 64);
	spec->conv_bias = tree_boolean(config, "conv_bias", false);
	spec->conv_centred = sees_both_ways(config);
	spec->causal = !spec->conv_centred && tree_boolean(config, "is_causal", true);
	spec->prenorm = spec->gated = true;
	spec->norm = NN_RMSNORM;
	spec->norm_eps = (float)tree_real(config, epsilon, family->norm_eps);
	spec->qk_norm = SPEC_QK_HEAD;
	spec->act = NN_SILU;
	spec->untied = !tree_boolean(config, "tie_embedding", true);
	for (int i = 0; i < spec->layers; i++) {
		spec->layer[i].inner = inner;
		spec->layer[i].conv = is_conv(spec, config, i);
	}
}

const struct family lfm2_families[] = {
	{ "lfm2", &names, configure, NULL, .inner_key = "block_ff_dim",
	    .norm_eps = 1e-5 },
	{ 0 },
};
