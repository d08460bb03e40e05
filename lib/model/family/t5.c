/*
 * The encoder of T5 (Raffel et al. 2020), mT5 and UMT5: RMS norms before attention and MLP, no biases, scores that are
 * not scaled, and of positions only a table of distances, which the first block has for all; in UMT5 (Chung et al.
 * 2023) each has its own.
 */
#include <string.h>

#include "model/spec.h"

static const char *const stem[STEM_PARAMETERS] = {
	[STEM_TOKENS] = "shared",
	[STEM_DISTANCE] = "encoder.block.0.layer.0.SelfAttention.relative_attention_bias",
	[STEM_FINAL_NORM] = "encoder.final_layer_norm",
};

static const char *const own_stem[STEM_PARAMETERS] = {
	[STEM_TOKENS] = "encoder.embed_tokens",
	[STEM_DISTANCE] = "encoder.block.0.layer.0.SelfAttention.relative_attention_bias",
	[STEM_FINAL_NORM] = "encoder.final_layer_norm",
};

static const char *const block[BLOCK_PARAMETERS] = {
	[BLOCK_DISTANCE] = "layer.0.SelfAttention.relative_attention_bias",
	[BLOCK_Q] = "layer.0.SelfAttention.q",
	[BLOCK_K] = "layer.0.SelfAttention.k",
	[BLOCK_V] = "layer.0.SelfAttention.v",
	[BLOCK_OUT] = "layer.0.SelfAttention.o",
	[BLOCK_NORM1] = "layer.0.layer_norm",
	[BLOCK_UP] = "layer.1.DenseReluDense.wi_1",
	[BLOCK_GATE] = "layer.1.DenseReluDense.wi_0",
	[BLOCK_DOWN] = "layer.1.DenseReluDense.wo",
	[BLOCK_NORM2] = "layer.1.layer_norm",
};

static const char *const prefixes[] = { "", NULL };

/* The encoder's embeddings, where they are not those that it shares with the decoder. */
static const struct names own_names = {
	.prefixes = prefixes,
	.stem = own_stem,
	.layers = "encoder.block.",
	.block = block,
	.plain = "layer.1.DenseReluDense.wi",
	.heads = (const char *const[]){ "shared.", "decoder.", "lm_head.", NULL },
};
static const struct names names = {
	.prefixes = prefixes,
	.stem = stem,
	.layers = "encoder.block.",
	.block = block,
	.plain = "layer.1.DenseReluDense.wi",
	/* the embeddings once more; and what answers */
	.heads = (const char *const[]){ "encoder.embed_tokens.", "decoder.", "lm_head.",
	    NULL },
	.unless = "encoder.embed_tokens.weight",
	.otherwise = &own_names,
};

/* "relu", "gated-silu", ...; GELU behind a gate is the approximation by tanh.  What follows from that
 * name, config.json may say once more, or otherwise. */
static void
activation(struct spec *spec, const struct tree *config, const char *otherwise)
{
	const char *name = tree_string(config, "feed_forward_proj", otherwise);
	const char *gated = "gated-";
	size_t length = strlen(gated);

	spec->gated = !strncmp(name, gated, length);
	if (spec->gated)
		name = strcmp(name + length, "gelu") ? name + length : "gelu_new";
	spec->act = spec_activation(config, "dense_act_fn", name);
	spec->gated = tree_boolean(config, "is_gated_act", spec->gated);
}

static void
distance(struct spec_distance *distance, const struct tree *config)
{
	distance->buckets = (int)tree_integer_or(
	    config, "relative_attention_num_buckets", 32, 4, 1 << 16);
	distance->farthest = (int)tree_integer_or(
	    config, "relative_attention_max_distance", 128, 1, 1 << 24);
	if (distance->farthest <= distance->buckets / 4)
		tree_die(config,
		    "%d buckets of distances do not fit into a distance of %d",
		    distance->buckets, distance->farthest);
}

static void
configure(struct spec *spec, const struct tree *config, const char *act)
{
	spec_expect(config, "is_decoder", false);
	spec->vocabulary = (int)tree_integer_in(config, "vocab_size", 1, 1 << 24);
	spec->width = spec_number(config, "d_model", "hidden_size", 1 << 16);
	spec->layers =
	    spec_number(config, "num_layers", "num_hidden_layers", SPEC_LAYERS);
	spec->heads = spec_number(config, "num_heads", "num_attention_heads", 1024);
	spec->kv_heads = spec->heads;
	spec->head_size = spec_number(config, "d_kv", "head_dim", 1024);
	spec->positions = 1 << 24; /* there is no limit to distances */
	spec->attention_scale = 1;
	distance(&spec->distance, config);
	activation(spec, config, act);
	spec->prenorm = true;
	spec->norm = NN_RMSNORM;
	spec->norm_eps = (float)tree_real(config, "layer_norm_epsilon", 1e-6);
	spec->initializer_range = 0.02;
	spec->names = &names;
	spec_layers(spec, (int)tree_integer_in(config, "d_ff", 1, 1 << 20));
}

static void
configure_t5(struct spec *spec, const struct tree *config)
{
	configure(spec, config, "relu");
}

/* In each block a table of distances of its own. */
static void
configure_umt5(struct spec *spec, const struct tree *config)
{
	configure(spec, config, "gated-gelu");
	spec->distance.each = true;
}

static void
configure_mt5(struct spec *spec, const struct tree *config)
{
	configure(spec, config, "gated-gelu");
}

const struct family family_t5 = { "t5", configure_t5 };
const struct family family_mt5 = { "mt5", configure_mt5 };
const struct family family_umt5 = { "umt5", configure_umt5 };
