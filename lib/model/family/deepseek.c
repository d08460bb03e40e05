/*
 * DeepSeekMoE (Dai et al. 2024; deepseek-moe-16b): the first layers dense, then token experts
 * and beside them shared ones, which every token goes through and which are stored as one MLP.
 */
#include <string.h>

#include "model/family/decoder.h"

static void
configure(struct spec *spec, const struct tree *config)
{
	const char *scoring = tree_string(config, "scoring_func", "softmax");
	int inner = (int)tree_integer_in(config, "intermediate_size", 1, 1 << 20);
	int64_t first =
	    tree_integer_or(config, "first_k_dense_replace", 0, 0, SPEC_LAYERS);
	int64_t step = tree_integer_or(config, "moe_layer_freq", 1, 1, SPEC_LAYERS);
	int shared = (int)tree_integer_or(config, "n_shared_experts", 0, 0, 64);

	if (strcmp(scoring, "softmax"))
		tree_die(tree_get(config, "scoring_func"),
		    "'scoring_func' is '%s'; only 'softmax' is known", scoring);
	decoder_refuse_windows(config);
	decoder_configure(spec, config, 0, 1e-6);
	spec_layers(spec, inner);
	if (!tree_get(config, "n_routed_experts"))
		return;
	decoder_mixture(spec, config, "n_routed_experts", "moe_intermediate_size");
	spec->mixture.shared = "mlp.shared_experts";
	spec->mixture.renormalize &= spec->mixture.top > 1;
	for (int i = (int)first; i < spec->layers; i++)
		if (i % step == 0) {
			spec->layer[i].mixture = true;
			spec->layer[i].inner = shared * spec->mixture.inner;
		}
}

const struct family family_deepseek = { "deepseek", configure };
