#include "model/family/decoder.h"

#include <string.h>

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
	[BLOCK_ROUTER] = "mlp.gate",
	[BLOCK_SHARED_GATE] = "mlp.shared_expert_gate",
	[BLOCK_NORM1] = "input_layernorm",
	[BLOCK_UP] = "mlp.up_proj",
	[BLOCK_GATE] = "mlp.gate_proj",
	[BLOCK_DOWN] = "mlp.down_proj",
	[BLOCK_NORM2] = "post_attention_layernorm",
};

static const char *const expert[MLP_PARAMETERS] = {
	[MLP_UP] = "up_proj",
	[MLP_GATE] = "gate_proj",
	[MLP_DOWN] = "down_proj",
};

static const struct names names = {
	.prefixes = (const char *const[]){ "", "model.", NULL },
	.drawn = "model.", /* where lm_head is, transformers looks for it */
	.stem = stem,
	.layers = "layers.",
	.block = block,
	.expert = "mlp.experts.",
	.mixture = expert,
	.heads = (const char *const[]){ "lm_head.", "score.", NULL },
};

void
decoder_refuse_windows(const struct tree *config)
{
	const struct tree *types = tree_get(config, "layer_types");

	spec_expect(config, "use_sliding_window", false);
	if (types && types->kind != TREE_LIST)
		tree_die(types, "'layer_types' must list the types of layers");
	for (size_t i = 0; types && i < types->count; i++)
		if (types->items[i]->kind != TREE_STRING ||
		    strcmp(types->items[i]->string, "full_attention"))
			tree_die(types, "'layer_types' may only hold 'full_attention'");
}

int
decoder_window(const struct spec *spec, const struct tree *config, int otherwise)
{
	const char *key = "sliding_window";

	for (size_t i = 0; i < config->count; i++)
		if (config->items[i]->kind == TREE_NULL &&
		    !strcmp(config->items[i]->key, key))
			return 0;
	int window = (int)tree_integer_or(config, key, otherwise, 2, 1 << 24);
	/* transformers counts the token itself where it looks back, not where it looks both ways */
	return spec->causal ? window - 1 : window;
}

void
decoder_windows(struct spec *spec, const struct tree *config, int window, int from)
{
	for (int i = 0; i < spec->layers; i++)
		if (spec_slides(spec, config, i, window && i >= from)) {
			if (!window)
				tree_die(tree_get(config, "layer_types"),
				    "'layer_types' has windows, which 'sliding_window' and 'use_sliding_window' do not");
			spec->layer[i].window = window;
		}
}

void
decoder_qwen_windows(struct spec *spec, const struct tree *config)
{
	int from = (int)tree_integer_or(config, "max_window_layers", 28, 0, 1 << 20);
	bool used = tree_boolean(config, "use_sliding_window", false);

	decoder_windows(
	    spec, config, used ? decoder_window(spec, config, 4096) : 0, from);
}

void
decoder_configure(
    struct spec *spec, const struct tree *config, int head_size, double epsilon)
{
	spec_sizes(spec, config);
	spec->kv_heads = (int)tree_integer_or(
	    config, "num_key_value_heads", spec->heads, 1, spec->heads);
	spec->head_size = (int)tree_integer_or(config, "head_dim", head_size, 1, 1024);
	if (!spec->head_size)
		spec_divide_heads(spec, config, "num_attention_heads");
	spec_rotary(spec, config, 10000);
	spec->names = &names;
	spec->prenorm = spec->gated = spec->untied = true;
	/* decoders that were trained on to embed may see both ways */
	spec->causal = tree_boolean(config, "is_causal", true) &&
		       !tree_boolean(config, "use_bidirectional_attention", false);
	spec->norm = NN_RMSNORM;
	spec->norm_eps = (float)tree_real(config, "rms_norm_eps", epsilon);
	spec->act = spec_activation(config, "hidden_act", "silu");
	spec->qkv_bias = spec->out_bias = tree_boolean(config, "attention_bias", false);
	spec->up_bias = spec->down_bias = tree_boolean(config, "mlp_bias", false);
}

void
decoder_mixture(struct spec *spec, const struct tree *config, const char *count_key,
    const char *inner_key)
{
	struct spec_mixture *mixture = &spec->mixture;

	mixture->count = (int)tree_integer_in(config, count_key, 1, SPEC_TOKEN_EXPERTS);
	mixture->inner = (int)tree_integer_in(config, inner_key, 1, 1 << 20);
	mixture->top =
	    (int)tree_integer_in(config, "num_experts_per_tok", 1, mixture->count);
	mixture->renormalize = tree_boolean(config, "norm_topk_prob", false);
}
