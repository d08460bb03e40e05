#include "model/adapters.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "folder/folder.h"
#include "model/adapter_places.h"
#include "model/task_loras.h"
#include "model/config.h"
#include "model/model_struct.h"

/* Marks the tensors of parts from..to-1 with `bits`. */
static void
mark(unsigned char *marks, const struct tensor_slice *parts, int from, int to, int bits)
{
	for (int i = from; i < to; i++)
		if (parts[i].tensor >= 0)
			marks[parts[i].tensor] |= (unsigned char)bits;
}

unsigned char *
adapters_layers(const struct model *model)
{
	const struct weights *weights = &model->weights;
	unsigned char *marks = mem_zero((size_t)weights->count, 1);
	size_t experts = (size_t)model->spec.layers * (size_t)model->spec.mixture.count;

	for (size_t b = 0; b < model_block_index(model, model->spec.layers, -1); b++) {
		mark(marks, weights->blocks[b], BLOCK_Q, BLOCK_PARAMETERS,
		    ADAPTERS_LINEAR);
		mark(marks, weights->blocks[b], BLOCK_Q, BLOCK_Q + 1, ADAPTERS_USUAL);
		mark(marks, weights->blocks[b], BLOCK_V, BLOCK_V + 1, ADAPTERS_USUAL);
	}
	for (size_t e = 0; e < experts; e++)
		mark(marks, weights->mixtures[e], 0, MLP_PARAMETERS, ADAPTERS_LINEAR);
	for (int i = 0; i < weights->count; i++)
		if (!weights->tensors[i].columns)
			marks[i] = 0;
	return marks;
}

struct adapters *
adapters_new(const struct model *model, int count)
{
	struct adapters *adapters = mem_zero(1, sizeof *adapters);

	if (model->adapters && model->spec.loras)
		die("%s: has LoRAs of its own for tasks (%s); it takes no others",
		    model->dir, model->expert_names);
	if (model->spec.relative.rows)
		die("%s: is a DeBERTa; adapters of such a model are not supported",
		    model->dir);
	if (model->mode != MODEL_ENCODE || model->adapters)
		die("%s: is not in a state to be adapted", model->dir);
	adapters->count = count;
	adapters->names = strings_new();
	adapters->opened = mem_zero((size_t)count, sizeof *adapters->opened);
	adapters->tensors = model->weights.count;
	adapters->pairs = mem_zero((size_t)adapters->tensors, sizeof *adapters->pairs);
	return adapters;
}

void
adapters_add(const struct model *model, struct adapters *adapters, int index, int tensor,
    struct linear_pair pair)
{
	const struct parameter *p = &model->weights.tensors[tensor];

	if (p->stack)
		die("%s: the tensor '%s' holds the experts of a layer; LoRA of experts is not supported",
		    model->dir, p->name);
	if (!adapters->pairs[tensor])
		adapters->pairs[tensor] =
		    mem_zero((size_t)adapters->count, sizeof *adapters->pairs[tensor]);
	if (adapters->pairs[tensor][index].rank)
		die("%s: the tensor '%s' has two pairs", model->dir, p->name);
	if (pair.rank > adapters->rank)
		adapters->rank = pair.rank;
	if ((size_t)p->columns > adapters->width)
		adapters->width = (size_t)p->columns;
	adapters->pairs[tensor][index] = pair;
}

/* Frees the memory with the adapters. */
static void
own(struct adapters *adapters, void *at, size_t bytes)
{
	adapters->copies = mem_grow(adapters->copies, &adapters->copies_room,
	    adapters->copied + 1, sizeof *adapters->copies);
	adapters->copies[adapters->copied++] = (struct adapters_copy){ at, bytes };
}

struct nn_matrix
adapters_mapped(struct adapters *adapters, const struct safetensor *tensor)
{
	bool copied;
	struct nn_matrix matrix =
	    nn_matrix_of(tensor->data, tensor->dtype, tensor->count, &copied);

	if (copied)
		own(adapters, (void *)matrix.at,
		    tensor->count * dtype_size(matrix.dtype));
	return matrix;
}

float *
adapters_copy(struct adapters *adapters, const float *values, size_t n)
{
	float *copy = nn_alloc(n * sizeof *copy);

	nn_upload(copy, values, n * sizeof *copy);
	own(adapters, copy, n * sizeof *copy);
	return copy;
}

struct adapter *
adapters_read(const struct model *model, const char *dir)
{
	struct adapter *adapter = adapter_open(dir);
	const char *base = adapter_base(adapter);

	if (base && strcmp(base, model->folder_fingerprint))
		die("%s: was trained on the model %s; %s is %s", adapter_name(adapter),
		    base, model->dir, model->folder_fingerprint);
	return adapter;
}

/* The last part of a path, without slashes at its end. */
static const char *
last_part(const char *dir, size_t *length)
{
	size_t end = file_path_length(dir), start;

	for (start = end; start > 0 && dir[start - 1] != '/'; start--)
		;
	*length = end - start;
	return dir + start;
}

static void
open_folder(
    const struct model *model, struct adapters *adapters, int index, const char *dir)
{
	struct adapter *adapter = adapters->opened[index] = adapters_read(model, dir);
	size_t length;
	const char *name = last_part(dir, &length);

	strings_add(adapters->names, name, length, NULL);
	struct adapter_places places = adapter_places_find(model, adapter);
	for (size_t i = 0, count; i < places.count; i += count) {
		int tensor = places.at[i].tensor;
		count = adapter_places_together(&places, i);
		adapters_add(model, adapters, index, tensor,
		    adapter_places_pair(
			adapters, &places.at[i], count, &model->weights.tensors[tensor]));
	}
	adapter_places_free(&places);
}

static void
list_names(struct adapters *adapters)
{
	adapters->list = mem_string("");
	adapters->marks = mem_string("");
	for (int i = 0; i < adapters->count; i++) {
		const char *name = strings_get(adapters->names, i);
		char *mark = mem_format(
		    "%s %016" PRIx64, name, adapter_fingerprint(adapters->opened[i]));
		adapters->list = mem_list(adapters->list, name);
		adapters->marks = mem_list(adapters->marks, mark);
		free(mark);
	}
}

static void
add_folders(struct model *model, const char *const *dirs, int count)
{
	struct adapters *adapters = adapters_new(model, count);

	for (int i = 0; i < count; i++)
		open_folder(model, adapters, i, dirs[i]);
	list_names(adapters);
	model->adapters = adapters;
	model_resolve(model);
}

void
model_open_adapters(struct model *model, const char *lora, const char *adapters)
{
	if (!lora && !adapters && folder_has(model->dir, "adapters"))
		warn(
		    "%s: has LoRA adapters in %s/adapters, but none is used; choose one with --adapter",
		    model->dir, model->dir);
	if (lora)
		add_folders(model, &lora, 1);
	if (!adapters)
		return;
	int count;
	char **folders = adapter_folders(adapters, &count);
	for (int i = 0; i < count; i++)
		model_demand_listed_head(model, folders[i]);
	add_folders(model, (const char *const *)folders, count);
	for (int i = 0; i < count; i++)
		free(folders[i]);
	free(folders);
}

int
model_adapter(const struct model *model, const char *name, size_t length)
{
	return (int)strings_find(model->adapters->names, name, length);
}

const char *
model_adapter_names(const struct model *model)
{
	return model->adapters ? model->adapters->list : "";
}

const char *
model_adapter_marks(const struct model *model)
{
	return model->adapters ? model->adapters->marks : NULL;
}

/* Dies where an adapter has a pair for one of the tensors. */
static void
demand_none(
    const struct model *model, const struct tensor_slice *parts, int count, int layer)
{
	const struct adapters *adapters = model->adapters;

	for (int i = 0; i < count; i++) {
		int tensor = parts[i].tensor;
		const struct linear_pair *pairs =
		    tensor < 0 ? NULL : adapters->pairs[tensor];
		for (int index = 0; pairs && index < adapters->count; index++)
			if (pairs[index].rank)
				die("%s: changes '%s', which comes before layer %d, where gates are chosen; train it with the targets of later layers",
				    adapter_name(adapters->opened[index]),
				    model->weights.tensors[tensor].name, layer);
	}
}

void
adapters_demand_from(const struct model *model, int layer)
{
	const struct weights *weights = &model->weights;
	size_t experts = (size_t)layer * (size_t)model->spec.mixture.count;

	for (size_t b = 0; model->adapters && b < model_block_index(model, layer, -1);
	     b++)
		demand_none(model, weights->blocks[b], BLOCK_PARAMETERS, layer);
	for (size_t e = 0; model->adapters && e < experts; e++)
		demand_none(model, weights->mixtures[e], MLP_PARAMETERS, layer);
}

void
adapters_demand_without(const struct model *model, int first)
{
	const struct adapters *adapters = model->adapters;

	for (int index = 0; adapters && index < adapters->count; index++) {
		const struct adapter *adapter = adapters->opened[index];
		for (int i = 0; adapter && i < adapter_count(adapter); i++)
			for (int t = first; t < model->weights.count; t++)
				if (adapter_means(adapter_at(adapter, i)->module,
					model->weights.tensors[t].name))
					die("%s: changes '%s' of %s, of the head that predicts tokens, which is not supported",
					    adapter_name(adapter),
					    model->weights.tensors[t].name, model->dir);
	}
}

void
adapters_demand_finite(const struct model *model)
{
	const struct adapters *adapters = model->adapters;

	for (int index = 0; adapters && index < adapters->count; index++) {
		const struct adapter *adapter = adapters->opened[index];
		for (int i = 0; adapter && i < 2 * adapter_count(adapter); i++) {
			const struct adapter_pair *pair = adapter_at(adapter, i / 2);
			const struct safetensor *factor = i % 2 ? pair->b : pair->a;
			weights_demand_finite(
			    adapter_name(adapter), factor, factor->name);
		}
	}
	task_loras_demand_finite(model);
}

void
adapters_free(struct adapters *adapters)
{
	if (!adapters)
		return;
	for (int i = 0; i < adapters->tensors; i++)
		free(adapters->pairs[i]);
	for (int i = 0; i < adapters->count; i++)
		if (adapters->opened[i])
			adapter_close(adapters->opened[i]);
	for (size_t i = 0; i < adapters->copied; i++)
		nn_free(adapters->copies[i].at, adapters->copies[i].bytes);
	strings_free(adapters->names);
	free(adapters->embeddings);
	free(adapters->copies);
	free(adapters->opened);
	free(adapters->pairs);
	free(adapters->list);
	free(adapters->marks);
	free(adapters);
}
