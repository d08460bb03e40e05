/*
 * Llama (Touvron et al. 2023), and EuroBERT (Boizard et al. 2025), which is Llama seeing both ways.
 */
#include "model/family/decoder.h"

static void
configure_llama(struct spec *spec, const struct tree *config)
{
	decoder_refuse_windows(config);
	decoder_configure(spec, config, 0, 1e-6);
	spec_layers(spec, (int)tree_integer_in(config, "intermediate_size", 1, 1 << 20));
}

static void
configure_eurobert(struct spec *spec, const struct tree *config)
{
	decoder_refuse_windows(config);
	decoder_configure(spec, config, 0, 1e-5);
	spec->causal = false;
	spec->output_bias = spec->up_bias;
	spec_layers(spec, (int)tree_integer_in(config, "intermediate_size", 1, 1 << 20));
}

const struct family family_llama = { "llama", configure_llama };
const struct family family_eurobert = { "eurobert", configure_eurobert };
