/*
 * The encoder of T5 (Raffel et al. 2020) and mT5: RMS norms before attention and MLP, no biases, scores that are
 * not scaled, and of positions only a table of distances, which the first block has for all.
 */
#include <string.h>

#include "model/spec.h"

static const char *const stem[STEM_PARAMETERS] = {
	[STEM_TOKENS] = "shared",
	[STEM_DISTANCE] = "encoder.block.0.layer.0.SelfAttention.relative_attention_bias",
	[STEM_FINAL_NORM] = "encoder.final_layer_norm",
};

static const char *const block[BLOCK_PARAMETERS] = {
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

static const struct names names = {
	.prefixes = (const char *const[]){ "", NULL },
	.stem = stem,
	.layers = "encoder.block.",
	.block = block,
	.plain = "layer.1.DenseReluDense.wi",
	/* the embeddings once more; and what answers */
	.heads = (const char *const[]){ "encoder.embed_tokens.", "decoder.", "lm_head.",
	    NULL },
};

/* "relu", or "gated-gelu", which means the approximation by tanh. */
static void
activation(struct spec *spec, const struct tree *config, const char *otherwise)
{
	const char *key = "feed_forward_proj";
	const char *name = tree_string(config, key, otherwise);

	spec->gated = !strcmp(name, "gated-gelu");
	if (!spec->gated && strcmp(name, "relu"))
		tree_die(tree_get(config, key),
		    "'%s' is '%s'; known are relu and gated-gelu", key, name);
	spec->act =
	    spec_activation(config, "dense_act_fn", spec->gated ? "gelu_new" : "relu");
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
	spec->width = (int)tree_integer_in(config, "d_model", 1, 1 << 16);
	spec->layers = (int)tree_integer_in(config, "num_layers", 1, SPEC_LAYERS);
	spec->heads = (int)tree_integer_in(config, "num_heads", 1, 1024);
	spec->kv_heads = spec->heads;
	spec->head_size = (int)tree_integer_in(config, "d_kv", 1, 1024);
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

static void
configure_mt5(struct spec *spec, const struct tree *config)
{
	configure(spec, config, "gated-gelu");
}

const struct family family_t5 = { "t5", configure_t5 };
const struct family family_mt5 = { "mt5", configure_mt5 };
