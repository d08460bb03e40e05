/*
 * The encoder of T5 (Raffel et al. 2020), mT5 and UMT5: RMS norms before attention and MLP, no biases, scores that are
 * not scaled, and for positions only a table of distances, one for all blocks; in UMT5 (Chung et al. 2023) one a block.
 */
#include <string.h>

#include "model/family/family.h"

#define STEM(tokens)                                                                     \
	[STEM_TOKENS] = (tokens),                                                        \
	[STEM_DISTANCE] =                                                                \
	    "encoder.block.0.layer.0.SelfAttention.relative_attention_bias",             \
	[STEM_FINAL_NORM] = "encoder.final_layer_norm"
#define BLOCK                                                                            \
	QKV("layer.0.SelfAttention.q", "layer.0.SelfAttention.k",                        \
	    "layer.0.SelfAttention.v", "layer.0.SelfAttention.o"),                       \
	    MLP("layer.1.DenseReluDense.wi_1", "layer.1.DenseReluDense.wi_0",            \
		"layer.1.DenseReluDense.wo"),                                            \
	    NORMS("layer.0.layer_norm", "layer.1.layer_norm"),                           \
	    [BLOCK_DISTANCE] = "layer.0.SelfAttention.relative_attention_bias"

/* The encoder's own embeddings, where it does not share the decoder's. */
static const struct tensor_names unshared = {
	.prefixes = { "" },
	.stem = { STEM("encoder.embed_tokens") },
	.layers = "encoder.block.",
	.block = { BLOCK },
	.plain = "layer.1.DenseReluDense.wi",
	.heads = { "shared.", "decoder.", "lm_head." },
};

static const struct tensor_names t5 = {
	.prefixes = { "" },
	.stem = { STEM("shared") },
	.layers = "encoder.block.",
	.block = { BLOCK },
	.plain = "layer.1.DenseReluDense.wi",
	/* the embeddings once more; then the decoder */
	.heads = { "encoder.embed_tokens.", "decoder.", "lm_head." },
	.unless = "encoder.embed_tokens.weight",
	.otherwise = &unshared,
};

/* "relu", "gated-silu", ...; GELU behind a gate is the approximation by tanh.  What follows from that
 * name, config.json may say once more, or otherwise. */
static void
configure_activation(struct spec *spec, const struct tree *config, const char *otherwise)
{
	const char *name = tree_string(config, "feed_forward_proj", otherwise);
	const char *gated = "gated-";
	size_t length = strlen(gated);

	spec->gated = !strncmp(name, gated, length);
	if (spec->gated)
		name = strcmp(name + length, "gelu") ? name + length : "gelu_new";
	spec->act = family_activation(config, "dense_act_fn", name);
	spec->gated = tree_boolean(config, "is_gated_act", spec->gated);
}

static void
configure_distance(struct spec_distance *distance, const struct tree *config)
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
configure(struct spec *spec, const struct tree *config, const struct family *family)
{
	family_expect(config, "is_decoder", false);
	family_sizes(spec, config, family);
	spec->head_size = family_number(config, "d_kv", "head_dim", 1024);
	spec->attention_scale = 1;
	configure_distance(&spec->distance, config);
	configure_activation(spec, config, family->act);
	spec->prenorm = true;
	spec->norm = NN_RMSNORM;
	spec->norm_eps = (float)tree_real(config, "layer_norm_epsilon", 1e-6);
}

static void
adjust_umt5(struct spec *spec, const struct tree *config)
{
	(void)config;
	spec->distance.each = true;
}

#define KEYS                                                                             \
	.width_key = "d_model", .layers_key = "num_layers", .heads_key = "num_heads",    \
	.inner_key = "d_ff", .unlimited = true

const struct family t5_families[] = {
	{ "mt5", &t5, configure, NULL, .act = "gated-gelu", KEYS },
	{ "t5", &t5, configure, NULL, .act = "relu", KEYS },
	{ "umt5", &t5, configure, adjust_umt5, .act = "gated-gelu", KEYS },
	{ 0 },
};
