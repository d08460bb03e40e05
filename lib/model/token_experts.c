#include "model/token_experts.h"

#include "base/mem.h"

char *
token_experts_give(struct spec *spec, int layer)
{
	struct spec_mixture *m = &spec->mixture;
	struct spec_layer *at = &spec->layer[layer];

	if (at->mixture)
		return mem_format("block %d has token experts already", layer);
	if (m->inner && m->inner != at->inner)
		return mem_format(
		    "the MLPs of the blocks have %d and %d channels; token experts must have the same",
		    m->inner, at->inner);
	m->inner = at->inner;
	m->up_bias = spec->up_bias;
	m->down_bias = spec->down_bias;
	m->upcycled = true;
	at->mixture = true;
	at->inner = 0;
	return NULL;
}

void
token_experts_configure(struct spec *spec, const struct tree *config)
{
	static const char *const known[] = { "count", "top", "renormalize", "layers",
		NULL };
	const struct tree *own = tree_get(config, "token_experts");
	struct spec_mixture *m = &spec->mixture;

	if (!own)
		return;
	tree_only(own, known);
	if (m->count)
		tree_die(
		    own, "a model that has token experts cannot have 'token_experts'");
	m->count = (int)tree_integer_in(own, "count", 1, SPEC_TOKEN_EXPERTS);
	m->top = (int)tree_integer_in(own, "top", 1, m->count);
	m->renormalize = tree_boolean(own, "renormalize", false);
	const struct tree *layers = spec_blocks(spec, own);
	for (size_t i = 0; i < layers->count; i++) {
		const struct tree *layer = layers->items[i];
		char *fault = token_experts_give(spec, (int)layer->integer);
		if (fault)
			tree_die(layer, "%s", fault);
	}
}

struct tree *
token_experts_tree(const struct spec *spec)
{
	const struct spec_mixture *m = &spec->mixture;
	struct tree *own = tree_object();

	tree_set(own, "count", tree_of_integer(m->count));
	tree_set(own, "top", tree_of_integer(m->top));
	tree_set(own, "renormalize", tree_of_boolean(m->renormalize));
	struct tree *layers = tree_set(own, "layers", tree_list());
	for (int i = 0; i < spec->layers; i++)
		if (spec->layer[i].mixture)
			tree_add(layers, tree_of_integer(i));
	return own;
}
