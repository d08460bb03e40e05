/*
 * Mistral (Jiang et al. 2023), of which E5-Mistral is made: no biases, and a window in every layer;
 * Ministral is it where "layer_types" names those that have one.
 */
#include "model/family/decoder.h"

static void
configure(struct spec *spec, const struct tree *config)
{
	decoder_configure(spec, config, 0, 1e-6);
	spec->qkv_bias = spec->out_bias = spec->up_bias = spec->down_bias = false;
	spec_layers(spec, (int)tree_integer_in(config, "intermediate_size", 1, 1 << 20));
	decoder_windows(spec, config, decoder_window(spec, config, 4096), 0);
}

const struct family family_mistral = { "mistral", configure };
const struct family family_ministral = { "ministral", configure };
