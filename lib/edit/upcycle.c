#include "edit/upcycle.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "edit/mean.h"
#include "folder/folder.h"
#include "folder/modules.h"
#include "folder/prompt.h"
#include "model/config.h"
#include "model/experts.h"
#include "model/model_struct.h"
#include "model/save.h"
#include "text/json.h"

/* Writes the prompts of the folder `from`, or those of `how` instead, and of experts without one. */
static void
write_prompts(const char *from, const char *folder, const struct upcycle *how)
{
	const struct tree *given = how->prompts;
	struct tree *config = json_find(from, "config_sentence_transformers.json");

	if (!config)
		config = tree_object();
	struct tree *prompts = tree_get(config, "prompts");
	if (!prompts)
		prompts = tree_set(config, "prompts", tree_object());
	for (size_t i = 0; given && i < given->count; i++)
		tree_set(prompts, given->items[i]->key, tree_copy(given->items[i]));
	for (int i = 0; i < how->count; i++) {
		char *text = mem_format("%s: ", how->names[i]);
		if (!tree_get(prompts, how->names[i]))
			tree_set(prompts, how->names[i], tree_of_string(text));
		free(text);
	}
	folder_write_json(folder, "config_sentence_transformers.json", config);
	tree_free(config);
}

static void
give_experts(struct spec *spec, const struct upcycle *how, const char *from)
{
	bool any = false;

	if (spec->experts)
		die("%s: has task experts already", from);
	spec_refuse_shared(spec, from);
	spec->experts = how->count;
	spec->expert_norms = how->norms;
	for (int i = 0; i < how->count; i++)
		spec->expert_names[i] = how->names[i];
	for (int i = 0; i < spec->layers; i++) {
		any |= spec->layer[i].experts = how->layers[i];
		if (how->layers[i] && spec->layer[i].mixture)
			die("%s: block %d has token experts; task experts are copies of a dense MLP (choose --layers without it)",
			    from, i);
	}
	if (!any)
		die("%s: has %d blocks; none of them is to get experts", from,
		    spec->layers);
}

void
model_upcycle(const char *from, const char *dir, const struct upcycle *how)
{
	struct model model;
	int count = 0;

	model_open_stored(&model, from);
	const struct weights *weights = &model.weights;
	give_experts(&model.spec, how, from);
	struct tree *tasks = experts_assign(&model.spec, how->tasks, from);
	model.spec.tasks = tasks;
	bool *own = mem_zero((size_t)weights->count, sizeof *own);
	for (int layer = 0; layer < model.spec.layers; layer++)
		for (int i = 0; i < BLOCK_PARAMETERS; i++) {
			int tensor = weights->blocks[layer][i].tensor;
			if (tensor >= 0 &&
			    experts_own(&model.spec, layer, (enum block_parameter)i))
				own[tensor] = true;
		}
	struct safetensor *out =
	    mem_zero((size_t)weights->own * (size_t)how->count, sizeof *out);
	for (int group = -1; group < how->count; group++)
		for (int i = 0; i < weights->own; i++)
			for (int expert = 0; expert < (own[i] ? how->count : 1);
			     expert++) {
				struct parameter copy = weights->tensors[i];
				copy.expert = own[i] ? expert : -1;
				if (model_file_group(&copy) != group)
					continue;
				out[count] = *weights->stored[i];
				out[count++].name =
				    own[i] ? experts_tensor(copy.name, how->names[expert])
					   : mem_string(copy.name);
			}
	tree_set(model.config, "task_experts", experts_tree(&model.spec));
	char *folder = model_begin_folder(&model, dir);
	write_prompts(from, folder, how);
	model_write_weights(&model, folder, out, count);
	folder_commit(folder, dir);
	for (int i = 0; i < count; i++)
		free((char *)out[i].name);
	free(out);
	free(own);
	tree_free(tasks);
	model_close_stored(&model);
}

static void
check_prompts(const struct model *model, const struct tree *prompts)
{
	for (size_t i = 0; prompts && i < prompts->count; i++)
		if (experts_find(&model->spec, prompts->items[i]->key) < 0)
			die("%s: the prompt '%s' is of no expert and no task; there are %s",
			    model->dir, prompts->items[i]->key,
			    experts_list(&model->spec));
}

void
model_assign(const char *from, const char *dir, const struct upcycle *how)
{
	struct model model = { 0 };

	model_configure(&model, from);
	if (!model.spec.experts)
		die("%s: has no task experts that could serve a task; --experts gives it some",
		    from);
	struct tree *tasks = experts_assign(&model.spec, how->tasks, from);
	model.spec.tasks = tasks;
	check_prompts(&model, how->prompts);
	tree_set(model.config, "task_experts", experts_tree(&model.spec));
	char *folder = folder_begin(dir);
	folder_link(from, folder);
	char *config = modules_transformer(folder);
	folder_write_json(config, "config.json", model.config);
	if (how->prompts)
		write_prompts(from, folder, how);
	folder_commit(folder, dir);
	free(config);
	tree_free(tasks);
	model_unconfigure(&model);
}

/* The mean of a parameter's tensors of all experts, in their dtype; its data are to be freed. */
static struct safetensor
mean_of_experts(const struct model *model, int layer, int which)
{
	const struct weights *weights = &model->weights;
	int experts = model->spec.experts;
	const struct safetensor *tensors[SPEC_EXPERTS];

	for (int e = 0; e < experts; e++)
		tensors[e] =
		    weights->stored[weights->blocks[layer * experts + e][which].tensor];
	struct safetensor mean = *tensors[0];
	mean.data = mean_of_tensors(tensors, experts);
	return mean;
}

/* A tensor's name without "experts.NAME."; to be freed. */
static char *
dense_name(const char *name)
{
	const char *at = strstr(name, ".experts.");
	const char *rest = strchr(at + strlen(".experts."), '.');

	return mem_format("%.*s%s", (int)(at - name), name, rest);
}

void
model_average(const char *from, const char *dir)
{
	struct model model;

	model_open_stored(&model, from);
	const struct weights *weights = &model.weights;
	const struct spec *spec = &model.spec;
	if (!spec->experts)
		die("%s: has no task experts to average", from);
	struct safetensor *out = mem_zero((size_t)weights->count, sizeof *out);
	int count = 0;
	for (int i = 0; i < weights->own; i++)
		if (weights->tensors[i].expert < 0) {
			out[count] = *weights->stored[i];
			out[count++].name = weights->tensors[i].name;
		}
	int shared = count;
	for (int layer = 0; layer < spec->layers; layer++)
		for (int i = 0; i < BLOCK_PARAMETERS; i++) {
			struct tensor_slice own =
			    weights->blocks[(size_t)layer * (size_t)spec->experts][i];
			/* parameters of one tensor: the first of them stands for it */
			if (own.tensor < 0 || own.offset ||
			    !experts_own(spec, layer, (enum block_parameter)i))
				continue;
			out[count] = mean_of_experts(&model, layer, i);
			out[count++].name = dense_name(weights->tensors[own.tensor].name);
		}
	struct tree *prompts = spec->tasks ? prompt_list(from) : NULL;
	tree_remove(model.config, "task_experts");
	char *folder = model_begin_folder(&model, dir);
	if (prompts)
		write_prompts(from, folder, &(struct upcycle){ .prompts = prompts });
	tree_free(prompts);
	model_write_weights(&model, folder, out, count);
	folder_commit(folder, dir);
	for (int i = shared; i < count; i++) {
		free((char *)out[i].name);
		free((void *)out[i].data);
	}
	free(out);
	model_close_stored(&model);
}
