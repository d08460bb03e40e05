#include "edit/upcycle_tokens.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "folder/folder.h"
#include "model/experts.h"
#include "model/family/family.h"
#include "model/model_struct.h"
#include "model/save.h"
#include "model/token_experts.h"

/* The tensors of the new file; the data are borrowed from the dense one. */
struct new_tensors {
	struct safetensor *at;
	size_t room;
	int count;
};

static void
add(struct new_tensors *out, const struct safetensor *tensor, char *name)
{
	out->at = mem_grow(out->at, &out->room, (size_t)out->count + 1, sizeof *out->at);
	out->at[out->count] = *tensor;
	out->at[out->count++].name = name;
}

/* Draws the routers of all layers, [layers, count], as the model's matrices were initialised. */
static float *
draw_routers(const struct model *model, size_t count, uint64_t seed)
{
	size_t layers = (size_t)model->spec.layers;
	float *values = mem_new(mem_multiply(layers, count, "routers"), sizeof *values);

	for (size_t layer = 0; layer < layers; layer++) {
		struct rng rng = rng_seed(seed, layer);
		for (size_t i = 0; i < count; i++)
			values[layer * count + i] =
			    (float)(model->spec.initializer_range * rng_normal(&rng));
	}
	return values;
}

static void
add_router(
    struct new_tensors *out, const struct model *model, int layer, const float *routers)
{
	const struct weights *weights = &model->weights;
	struct safetensor router = { .dtype = DTYPE_F32, .rank = 2 };

	spec_block_shape(
	    &model->spec, layer, BLOCK_ROUTER, &router.shape[0], &router.shape[1]);
	router.count = (size_t)(router.shape[0] * router.shape[1]);
	router.data = routers + (size_t)layer * router.count;
	add(out, &router,
	    mem_format(
		"%s%s%d.router.weight", weights->prefix, weights->names->layers, layer));
}

/* The block of each tensor that becomes experts', [weights.count]; -1: it stays. */
static int *
layers_of(const struct model *model, const bool *layers)
{
	const struct weights *weights = &model->weights;
	int *layer_of = mem_new((size_t)weights->count, sizeof *layer_of);

	memset(layer_of, -1, (size_t)weights->count * sizeof *layer_of);
	for (int layer = 0; layer < model->spec.layers; layer++)
		for (int i = 0; layers[layer] && i < MLP_PARAMETERS; i++) {
			int tensor = weights->blocks[layer][BLOCK_UP + i].tensor;
			if (tensor >= 0)
				layer_of[tensor] = layer;
		}
	return layer_of;
}

static void
give_experts(struct model *model, const struct upcycle_tokens *how)
{
	struct spec *spec = &model->spec;
	bool any = false;

	if (spec->experts)
		die("%s: has task experts; token experts start from a dense model",
		    model->dir);
	if (spec->mixture.count)
		die("%s: has token experts already", model->dir);
	spec->mixture = (struct spec_mixture){
		.count = how->count, .top = how->top, .renormalize = how->renormalize
	};
	for (int layer = 0; layer < spec->layers; layer++) {
		if (!how->layers[layer])
			continue;
		char *fault = token_experts_give(spec, layer);
		if (fault)
			die("%s: %s", model->dir, fault);
		any = true;
	}
	if (!any)
		die("%s: has %d blocks; none of them is to get experts", model->dir,
		    spec->layers);
}

void
model_upcycle_tokens(const char *from, const char *dir, const struct upcycle_tokens *how)
{
	struct new_tensors out = { 0 };
	struct model model;
	int drawn = -1;

	model_open_stored(&model, from);
	const struct weights *weights = &model.weights;
	spec_refuse_shared(&model.spec, from);
	give_experts(&model, how);
	int *layer_of = layers_of(&model, how->layers);
	size_t size = (size_t)how->count * (size_t)model.spec.width;
	float *routers = draw_routers(&model, size, how->seed);
	for (int i = 0; i < weights->own; i++) {
		const struct safetensor *stored = weights->stored[i];
		const char *name = weights->tensors[i].name;
		if (layer_of[i] < 0) {
			add(&out, stored, mem_string(name));
			continue;
		}
		if (layer_of[i] > drawn) {
			drawn = layer_of[i];
			add_router(&out, &model, drawn, routers);
		}
		for (int expert = 0; expert < how->count; expert++) {
			char number[16];
			snprintf(number, sizeof number, "%d", expert);
			add(&out, stored, experts_tensor(name, number));
		}
	}
	tree_set(model.config, "token_experts", token_experts_tree(&model.spec));
	tree_remove(model.config, "neuron_experts"); /* of dense MLPs alone */
	char *folder = model_begin_folder(&model, dir);
	model_write_weights(&model, folder, out.at, out.count);
	folder_commit(folder, dir);
	for (int i = 0; i < out.count; i++)
		free((char *)out.at[i].name);
	free(out.at);
	free(routers);
	free(layer_of);
	model_close_stored(&model);
}
