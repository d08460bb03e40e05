#include "model/experts.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"

bool
experts_name_valid(const char *name)
{
	size_t length = strlen(name);

	return length > 0 && length < 64 &&
	       strspn(name,
		   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
		   length;
}

static void
names(struct spec *spec, const struct tree *list)
{
	if (list->kind != TREE_LIST || list->count < 1 || list->count > SPEC_EXPERTS)
		tree_die(list, "'names' of task_experts must list 1 to %d names",
		    SPEC_EXPERTS);
	for (size_t i = 0; i < list->count; i++) {
		const struct tree *name = list->items[i];
		if (name->kind != TREE_STRING || !experts_name_valid(name->string))
			tree_die(name,
			    "a task expert's name must be letters, digits, '_' or '-'");
		for (int j = 0; j < spec->experts; j++)
			if (!strcmp(spec->expert_names[j], name->string))
				tree_die(name, "two task experts are called '%s'",
				    name->string);
		spec->expert_names[spec->experts++] = name->string;
	}
}

void
experts_configure(struct spec *spec, const struct tree *config)
{
	static const char *const known[] = { "names", "norms", "layers", NULL };
	const struct tree *own = tree_get(config, "task_experts");

	if (!own)
		return;
	tree_only(own, known);
	names(spec, tree_need(own, "names"));
	spec->expert_norms = tree_boolean(own, "norms", true);
	const struct tree *layers = tree_need(own, "layers");
	if (layers->kind != TREE_LIST || layers->count < 1)
		tree_die(
		    layers, "'layers' of task_experts must list blocks, counted from 0");
	for (size_t i = 0; i < layers->count; i++) {
		const struct tree *layer = layers->items[i];
		if (layer->kind != TREE_INTEGER || layer->integer < 0 ||
		    layer->integer >= spec->layers)
			tree_die(layer, "'layers' of task_experts must be in 0..%d",
			    spec->layers - 1);
		if (spec->layer[layer->integer].mixture)
			tree_die(layer,
			    "block %lld has token experts, it cannot have task experts",
			    (long long)layer->integer);
		spec->layer[layer->integer].experts = true;
	}
}

struct tree *
experts_tree(const struct spec *spec)
{
	struct tree *own = tree_object();
	struct tree *list = tree_set(own, "names", tree_list());

	for (int i = 0; i < spec->experts; i++)
		tree_add(list, tree_of_string(spec->expert_names[i]));
	tree_set(own, "norms", tree_of_boolean(spec->expert_norms));
	struct tree *layers = tree_set(own, "layers", tree_list());
	for (int i = 0; i < spec->layers; i++)
		if (spec->layer[i].experts)
			tree_add(layers, tree_of_integer(i));
	return own;
}

bool
experts_own(const struct spec *spec, int layer, enum block_parameter which)
{
	bool first = which == BLOCK_NORM1 || which == BLOCK_NORM1_BIAS;
	bool norm = first || which == BLOCK_NORM2 || which == BLOCK_NORM2_BIAS;

	if (first && spec->prenorm) /* it belongs to the attention, which is shared */
		return false;
	return spec->experts && spec->layer[layer].experts && which >= BLOCK_NORM1 &&
	       (spec->expert_norms || !norm);
}

char *
experts_tensor(const char *tensor, const char *name)
{
	const char *last = strrchr(tensor, '.');
	int stem = last ? (int)(last - tensor) + 1 : 0;

	return mem_format("%.*sexperts.%s.%s", stem, tensor, name, tensor + stem);
}
