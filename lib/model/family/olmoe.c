/*
 * OLMoE (Muennighoff et al. 2024): token experts in every layer and no other MLP; queries and
 * keys are normed over all heads together.
 */
#include "model/family/decoder.h"

static void
configure(struct spec *spec, const struct tree *config)
{
	decoder_refuse_windows(config);
	decoder_configure(spec, config, 0, 1e-5);
	if (tree_get(config, "clip_qkv"))
		tree_die(tree_get(config, "clip_qkv"),
		    "'clip_qkv' is not known; it must be null");
	spec->qk_norm = SPEC_QK_ALL;
	decoder_mixture(spec, config, "num_experts", "intermediate_size");
	spec_layers(spec, 0);
	for (int i = 0; i < spec->layers; i++)
		spec->layer[i].mixture = true;
}

const struct family family_olmoe = { "olmoe", configure };
