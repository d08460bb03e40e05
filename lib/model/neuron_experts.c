#include "model/neuron_experts.h"

#include "base/mem.h"

char *
neuron_experts_refuse(const struct spec *spec, int count)
{
	if (spec->mixture.count)
		return mem_string("it has token experts; only a dense MLP is grouped");
	if (!spec->layers)
		return mem_string("it has no MLP");
	for (int i = 0; i < spec->layers; i++)
		if (spec->layer[i].inner % count)
			return mem_format(
			    "the MLP of block %d has %d neurons, which %d experts cannot share equally",
			    i, spec->layer[i].inner, count);
	return NULL;
}

void
neuron_experts_configure(struct spec *spec, const struct tree *config)
{
	const struct tree *own = tree_get(config, "neuron_experts");

	spec->neuron_experts =
	    (int)tree_integer_or(config, "neuron_experts", 0, 1, SPEC_TOKEN_EXPERTS);
	char *fault = spec->neuron_experts
			  ? neuron_experts_refuse(spec, spec->neuron_experts)
			  : NULL;
	if (fault)
		tree_die(own, "'neuron_experts': %s", fault);
}
