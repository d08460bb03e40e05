/*
 * Qwen2-MoE (Qwen1.5-MoE-A2.7B): token experts in all layers, or in every few, and beside them
 * one MLP that every token goes through, weighed by a gate of its own.
 */
#include "model/family/decoder.h"

static bool
listed(const struct tree *layers, int layer)
{
	if (layers && layers->kind != TREE_LIST)
		tree_die(layers, "'mlp_only_layers' must list layers");
	for (size_t i = 0; layers && i < layers->count; i++) {
		if (layers->items[i]->kind != TREE_INTEGER)
			tree_die(layers->items[i], "'mlp_only_layers' must list layers");
		if (layers->items[i]->integer == layer)
			return true;
	}
	return false;
}

static void
configure(struct spec *spec, const struct tree *config)
{
	const struct tree *dense = tree_get(config, "mlp_only_layers");
	int inner = (int)tree_integer_in(config, "intermediate_size", 1, 1 << 20);
	int shared =
	    (int)tree_integer_in(config, "shared_expert_intermediate_size", 1, 1 << 20);
	int step = (int)tree_integer_or(config, "decoder_sparse_step", 1, 1, SPEC_LAYERS);

	decoder_refuse_windows(config);
	decoder_configure(spec, config, 0, 1e-6);
	spec->qkv_bias = tree_boolean(config, "qkv_bias", true);
	spec->out_bias = false;
	decoder_mixture(spec, config, "num_experts", "moe_intermediate_size");
	spec->mixture.shared = "mlp.shared_expert";
	spec->mixture.shared_gate = true;
	spec_layers(spec, inner);
	for (int i = 0; i < spec->layers; i++)
		if ((i + 1) % step == 0 && !listed(dense, i)) {
			spec->layer[i].mixture = true;
			spec->layer[i].inner = shared;
		}
}

const struct family family_qwen2_moe = { "qwen2_moe", configure };
