/*
 * EmbeddingGemma 2 (Google 2026), its text model: Gemma 3's blocks in both directions, with norms of v, heads of another size in
 * the layers of global attention, and per-layer embeddings; then a projection of each token.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/family/family.h"

static const struct tensor_names names = {
	.prefixes = { "", "language_model.", "model.language_model.", "model." },
	.stem = { [STEM_TOKENS] = "embed_tokens",
	    [STEM_LAYERS] = "ple.per_layer_model_projection",
	    [STEM_LAYERS_NORM] = "ple.per_layer_projection_norm",
	    [STEM_FINAL_NORM] = "norm",
	    [STEM_PROJECTION] = "embedding_projection" },
	.layers = "layers.",
	.block = { SELF_ATTN, GATED_MLP,
	    NORMS("input_layernorm", "pre_feedforward_layernorm"),
	    [BLOCK_Q_NORM] = "self_attn.q_norm", [BLOCK_K_NORM] = "self_attn.k_norm",
	    [BLOCK_OUT_NORM] = "post_attention_layernorm",
	    [BLOCK_DOWN_NORM] = "post_feedforward_layernorm",
	    [BLOCK_LAYER_GATE] = "ple_block.per_layer_input_gate",
	    [BLOCK_LAYER_OUT] = "ple_block.per_layer_projection",
	    [BLOCK_LAYER_NORM] = "ple_block.post_per_layer_input_norm",
	    [BLOCK_FACTOR] = "layer_scalar" },
	.projection = "embedding_projection",
	/* images and sound are not encoded */
	.heads = { "vision_tower.", "embed_vision.", "audio_tower.", "embed_audio." },
};

/* The number of a layer that a key of "per_layer_config" is, "05" or "5". */
static int
layer_of(const struct spec *spec, const struct tree *own)
{
	char *end = NULL;
	long layer = strtol(own->key, &end, 10);

	if (end == own->key || *end || layer < 0 || layer >= spec->layers ||
	    own->kind != TREE_OBJECT)
		tree_die(own,
		    "'per_layer_config' must have an object for each layer, whose key is a number in 0..%d",
		    spec->layers - 1);
	return (int)layer;
}

/* Sizes of heads in single layers. */
static void
configure_layers(struct spec *spec, const struct tree *layers)
{
	if (layers->kind != TREE_OBJECT)
		tree_die(layers, "'per_layer_config' must be an object");
	for (size_t i = 0; i < layers->count; i++) {
		const struct tree *own = layers->items[i];
		struct spec_layer *layer = &spec->layer[layer_of(spec, own)];
		for (size_t j = 0; j < own->count; j++)
			if (strcmp(own->items[j]->key, "head_dim") &&
			    strcmp(own->items[j]->key, "num_key_value_heads"))
				tree_die(own->items[j],
				    "'%s' of a single layer is not supported",
				    own->items[j]->key);
		layer->head_size = (int)tree_integer_or(
		    own, "head_dim", spec->head_size, 1, NN_MAX_HEAD);
		layer->kv_heads = (int)tree_integer_or(
		    own, "num_key_value_heads", spec->kv_heads, 1, spec->heads);
	}
}

/* Windows, sizes of heads and rotary tables by the kind of each layer; the last is global whatever config.json says. */
static void
configure_kinds(struct spec *spec, const struct tree *config)
{
	const struct tree *layers = tree_get(config, "per_layer_config");
	int every =
	    (int)tree_integer_or(config, "sliding_window_pattern", 6, 1, SPEC_LAYERS);
	int window = (int)tree_integer_or(config, "sliding_window", 512, 1, 1 << 24);
	int size = (int)tree_integer_or(config, "global_head_dim", 512, 1, NN_MAX_HEAD);
	int shared =
	    (int)tree_integer_or(config, "num_global_key_value_heads", 1, 1, spec->heads);

	for (int i = 0; i < spec->layers; i++) {
		struct spec_layer *layer = &spec->layer[i];
		if (family_slides(spec, config, i, (i + 1) % every) &&
		    i < spec->layers - 1) {
			layer->window = window;
			layer->rotary = FAMILY_SLIDING;
		} else if (!layers) {
			layer->head_size = size;
			layer->kv_heads = shared;
		}
	}
	if (layers)
		configure_layers(spec, layers);
	for (int i = 0; i < spec->layers; i++) {
		int *of_kind = &spec->rotary[spec->layer[i].rotary].size;
		if (*of_kind && *of_kind != spec_head_size(spec, i))
			tree_die(config,
			    "layer %d has heads of size %d, another of its kind %d; only one size for a kind is supported",
			    i, spec_head_size(spec, i), *of_kind);
		*of_kind = spec_head_size(spec, i);
	}
}

static void
configure_text(struct spec *spec, const struct tree *config, const struct family *family)
{
	family_sizes(spec, config, family);
	spec->kv_heads =
	    (int)tree_integer_or(config, "num_key_value_heads", 2, 1, spec->heads);
	spec->head_size = (int)tree_integer_or(config, "head_dim", 256, 1, NN_MAX_HEAD);
	family_rotary_kinds(spec, config, (double[]){ 1e6, 1e4 });
	configure_kinds(spec, config);
	spec->prenorm = spec->gated = spec->branch_norms = spec->v_norm = true;
	spec->norm = NN_RMSNORM;
	spec->norm_eps = (float)tree_real(config, "rms_norm_eps", family->norm_eps);
	spec->qk_norm = SPEC_QK_HEAD;
	spec->act = family_activation(config, "hidden_activation", "gelu_pytorch_tanh");
	spec->qkv_bias = spec->out_bias = tree_boolean(config, "attention_bias", false);
	spec->attention_scale = 1;
	spec->embedding_scale = (float)sqrt(spec->width);
	spec->layer_embedding =
	    (int)tree_integer_or(config, "hidden_size_per_layer_input", 512, 1, 1 << 16);
	spec->projection = (int)tree_integer_or(config, "embedding_dim", 768, 1, 1 << 16);
}

/* The whole model, which also has images and sound. */
static void
configure_whole(struct spec *spec, const struct tree *config, const struct family *family)
{
	const struct tree *text = tree_need(config, "text_config");
	const char *type = tree_string(text, "model_type", "");

	if (strcmp(type, "embedding_gemma2_text"))
		tree_die(text,
		    "'model_type' of text_config is '%s'; it must be 'embedding_gemma2_text'",
		    type);
	configure_text(spec, text, family);
}

const struct family embedding_gemma2_families[] = {
	{ "embedding_gemma2", &names, configure_whole, NULL, .norm_eps = 1e-6 },
	{ "embedding_gemma2_text", &names, configure_text, NULL, .norm_eps = 1e-6 },
	{ 0 },
};
