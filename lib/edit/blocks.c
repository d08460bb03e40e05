#include "edit/blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "folder/folder.h"
#include "model/config.h"
#include "model/experts.h"
#include "model/family/family.h"
#include "model/model_struct.h"
#include "model/save.h"
#include "model/token_experts.h"

/* The values of a tensor in a repeated block. */
enum role { COPIED, ZEROS, GAIN, SHIFT };

struct chosen {
	const struct model *model;
	const int *blocks;
	int count;
	enum role *roles;	/* [weights.own] */
	struct safetensor *out; /* data are borrowed, or of `made` */
	int written;
	void **made;
	size_t made_count, made_room;
};

static void
set_role(struct chosen *chosen, struct tensor_slice slice, enum role role)
{
	if (slice.tensor >= 0)
		chosen->roles[slice.tensor] = role;
}

static void
set_block_roles(struct chosen *chosen, const struct tensor_slice *block)
{
	static const enum block_parameter outputs[] = { BLOCK_OUT, BLOCK_OUT_BIAS,
		BLOCK_OUT_NORM_BIAS, BLOCK_DOWN, BLOCK_DOWN_BIAS, BLOCK_MIXTURE_BIAS };
	const struct spec *spec = &chosen->model->spec;

	for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
		set_role(chosen, block[outputs[i]], ZEROS);
	if (spec->residual_twice)
		set_role(chosen, block[BLOCK_OUT_NORM], ZEROS);
	if (spec->prenorm)
		return;
	set_role(chosen, block[BLOCK_NORM1], GAIN);
	set_role(chosen, block[BLOCK_NORM1_BIAS], SHIFT);
	set_role(chosen, block[BLOCK_NORM2], GAIN);
	set_role(chosen, block[BLOCK_NORM2_BIAS], SHIFT);
}

static void
set_roles(struct chosen *chosen)
{
	const struct weights *weights = &chosen->model->weights;
	const struct spec *spec = &chosen->model->spec;
	int experts = spec->experts ? spec->experts : 1;

	for (int i = 0; i < spec->layers * experts; i++)
		set_block_roles(chosen, weights->blocks[i]);
	for (int i = 0; weights->mixtures && i < spec->layers * spec->mixture.count;
	     i++) {
		set_role(chosen, weights->mixtures[i][MLP_DOWN], ZEROS);
		set_role(chosen, weights->mixtures[i][MLP_DOWN_BIAS], ZEROS);
	}
}

/* Whether the block at `place` came before. */
static bool
comes_again(const struct chosen *chosen, int place)
{
	for (int i = 0; i < place; i++)
		if (chosen->blocks[i] == chosen->blocks[place])
			return true;
	return false;
}

/* Sets mean and mean square of a vector; of none, those of zeros. */
static void
moments(
    const struct model *model, struct tensor_slice slice, double *mean, double *square)
{
	*mean = *square = 0;
	if (slice.tensor < 0)
		return;
	const struct safetensor *stored = model->weights.stored[slice.tensor];
	float *values = safetensors_floats(stored);
	for (size_t i = 0; i < stored->count; i++) {
		*mean += (double)values[i] / (double)stored->count;
		*square += (double)values[i] * (double)values[i] / (double)stored->count;
	}
	free(values);
}

/* The gain or the bias with which a norm in a repeated block returns the output of the norm before it. */
static float
passing_on(const struct chosen *chosen, int place, int expert, enum role role)
{
	const struct model *model = chosen->model;
	double mean, square, gain_mean, gain_square;

	while (comes_again(chosen, place))
		place--;
	int layer = chosen->blocks[place], experts = model->spec.experts;
	int first = layer * (experts ? experts : 1);
	bool own = expert >= 0 && model->spec.layer[layer].experts;
	const struct tensor_slice *block =
	    model->weights.blocks[first + (own ? expert : 0)];
	moments(model, block[BLOCK_NORM2], &gain_mean, &gain_square);
	moments(model, block[BLOCK_NORM2_BIAS], &mean, &square);
	return (float)(role == SHIFT ? mean : sqrt(gain_square + square - mean * mean));
}

/* Its name with another block's number; to be freed. */
static char *
renumbered(const struct model *model, const struct parameter *p, int place)
{
	const char *layers = model->weights.names->layers;
	char *old = mem_format("%s%d.", layers, p->layer);
	const char *at = strstr(p->name, old);

	if (!at)
		die("%s: tensor '%s': the number of its block is not found", model->dir,
		    p->name);
	char *name = mem_format(
	    "%.*s%s%d.%s", (int)(at - p->name), p->name, layers, place, at + strlen(old));
	free(old);
	return name;
}

/* The values of tensor i in a repeated block, in the tensor's type. */
static const void *
make(struct chosen *chosen, int i, int place)
{
	const struct safetensor *stored = chosen->model->weights.stored[i];
	enum role role = chosen->roles[i];
	int expert = chosen->model->weights.tensors[i].expert;
	float value = role == ZEROS ? 0 : passing_on(chosen, place, expert, role);
	float *values = mem_new(stored->count, sizeof *values);
	void *data = mem_new(stored->count, dtype_size(stored->dtype));

	for (size_t j = 0; j < stored->count; j++)
		values[j] = value;
	tensor_from_f32(data, stored->dtype, values, stored->count);
	free(values);
	chosen->made = mem_grow(chosen->made, &chosen->made_room, chosen->made_count + 1,
	    sizeof *chosen->made);
	chosen->made[chosen->made_count++] = data;
	return data;
}

/* Adds tensor i as one of the block at `place`; -1: of none. */
static void
add(struct chosen *chosen, int i, int place)
{
	const struct model *model = chosen->model;
	const struct parameter *p = &model->weights.tensors[i];
	struct safetensor *out = &chosen->out[chosen->written++];

	*out = *model->weights.stored[i];
	out->name = place < 0 ? mem_string(p->name) : renumbered(model, p, place);
	if (place >= 0 && chosen->roles[i] != COPIED && comes_again(chosen, place))
		out->data = make(chosen, i, place);
}

static void
add_all(struct chosen *chosen)
{
	const struct weights *weights = &chosen->model->weights;

	for (int group = -1; group < chosen->model->spec.experts; group++)
		for (int place = -1; place < chosen->count; place++)
			for (int i = 0; i < weights->own; i++) {
				const struct parameter *p = &weights->tensors[i];
				int layer = place < 0 ? -1 : chosen->blocks[place];
				if (p->layer == layer && model_file_group(p) == group)
					add(chosen, i, place);
			}
}

/* Takes the chosen blocks' items of a list with one of each block. */
static void
choose_items(
    struct tree *config, const char *key, int layers, const int *blocks, int count)
{
	const struct tree *all = tree_get(config, key);

	if (!all || all->kind != TREE_LIST || all->count != (size_t)layers)
		return;
	struct tree *list = tree_list();
	for (int i = 0; i < count; i++)
		tree_add(list, tree_copy(all->items[blocks[i]]));
	tree_set(config, key, list);
}

/* Sets the blocks of task experts or token experts; a model without such a block loses the member. */
static void
set_expert_blocks(struct tree *config, const char *key, struct tree *member)
{
	if (tree_get(member, "layers")->count) {
		tree_set(config, key, member);
		return;
	}
	tree_remove(config, key);
	tree_free(member);
}

/* Sets the number of blocks and what config.json lists of each. */
static void
change_config(struct tree *config, const struct spec *spec, const int *blocks, int count)
{
	static const char *const numbers[] = { "num_hidden_layers", "num_layers",
		"n_layers", "n_layer" };
	static const char *const lists[] = { "layer_types", "attention_windows",
		"rope_theta" };

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (tree_get(config, numbers[i]))
			tree_set(config, numbers[i], tree_of_integer(count));
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		choose_items(config, lists[i], spec->layers, blocks, count);
	struct spec *next = mem_new(1, sizeof *next);
	*next = *spec;
	next->layers = count;
	for (int i = 0; i < count; i++)
		next->layer[i] = spec->layer[blocks[i]];
	if (spec->experts)
		set_expert_blocks(config, "task_experts", experts_tree(next));
	if (spec->mixture.upcycled)
		set_expert_blocks(config, "token_experts", token_experts_tree(next));
	free(next);
}

/* Dies unless each block has the same settings by the new folder's config.json as by the old one's. */
static void
demand_same_blocks(
    const struct model *model, const char *folder, const int *blocks, int count)
{
	struct model made = { 0 };

	model_configure(&made, folder);
	for (int i = 0; i < count; i++) {
		if (made.spec.layers != count ||
		    !spec_same_layer(&made.spec.layer[i], &model->spec.layer[blocks[i]]))
			die("%s: block %d cannot become block %d: by config.json it would have another window, rotation, norm, head or MLP",
			    model->dir, blocks[i], i);
	}
	model_unconfigure(&made);
}

void
model_stack_blocks(const char *from, const char *dir, const int *blocks, int count)
{
	struct model model;

	model_open_stored(&model, from);
	spec_refuse_shared(&model.spec, from);
	if (model.spec.layer_embedding)
		die("%s: has per-layer embeddings, whose blocks cannot be chosen", from);
	struct chosen chosen = { .model = &model, .blocks = blocks, .count = count };
	size_t own = (size_t)model.weights.own;
	chosen.roles = mem_zero(own, sizeof *chosen.roles);
	chosen.out = mem_zero(own * (size_t)(count + 1), sizeof *chosen.out);
	set_roles(&chosen);
	add_all(&chosen);
	change_config(model.config, &model.spec, blocks, count);
	char *folder = model_begin_folder(&model, dir);
	demand_same_blocks(&model, folder, blocks, count);
	model_write_weights(&model, folder, chosen.out, chosen.written);
	folder_commit(folder, dir);
	for (int i = 0; i < chosen.written; i++)
		free((char *)chosen.out[i].name);
	for (size_t i = 0; i < chosen.made_count; i++)
		free(chosen.made[i]);
	free(chosen.made);
	free(chosen.out);
	free(chosen.roles);
	model_close_stored(&model);
}
