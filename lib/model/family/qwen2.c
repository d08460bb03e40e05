/*
 * Qwen2 (Yang et al. 2024), of which gte-Qwen2 is made: queries, keys and values have biases.
 */
#include "model/family/decoder.h"

static void
configure(struct spec *spec, const struct tree *config)
{
	decoder_configure(spec, config, 0, 1e-6);
	spec->qkv_bias = true;
	spec->out_bias = spec->up_bias = spec->down_bias = false;
	spec_layers(spec, (int)tree_integer_in(config, "intermediate_size", 1, 1 << 20));
	decoder_qwen_windows(spec, config);
}

const struct family family_qwen2 = { "qwen2", configure };
