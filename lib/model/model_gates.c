/* The gates of a model: LoRA adapters beside its weights, those that are there and the one that learns. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/adapters.h"
#include "model/config.h"
#include "model/model_struct.h"

/* Marks the tensors that are linear layers of blocks, with `bits`. */
static void
mark(unsigned char *marks, const struct part *parts, int from, int to, int bits)
{
	for (int i = from; i < to; i++)
		if (parts[i].tensor >= 0)
			marks[parts[i].tensor] |= (unsigned char)bits;
}

unsigned char *
gates_layers(const struct model *model)
{
	const struct weights *weights = &model->weights;
	unsigned char *marks = mem_zero((size_t)weights->count, 1);
	size_t experts = (size_t)model->spec.layers * (size_t)model->spec.mixture.count;

	for (size_t b = 0; b < model_block_index(model, model->spec.layers, -1); b++) {
		mark(marks, weights->blocks[b], BLOCK_Q, BLOCK_PARAMETERS, GATES_LINEAR);
		mark(marks, weights->blocks[b], BLOCK_Q, BLOCK_Q + 1, GATES_USUAL);
		mark(marks, weights->blocks[b], BLOCK_V, BLOCK_V + 1, GATES_USUAL);
	}
	for (size_t e = 0; e < experts; e++)
		mark(marks, weights->mixtures[e], 0, MLP_PARAMETERS, GATES_LINEAR);
	for (int i = 0; i < weights->count; i++)
		if (!weights->tensors[i].columns)
			marks[i] = 0;
	return marks;
}

struct gates *
gates_new(const struct model *model, int count)
{
	struct gates *gates = mem_zero(1, sizeof *gates);

	if (model->gates && model->spec.loras)
		die("%s: has LoRAs of its own for tasks (%s); it takes no others",
		    model->dir, model->expert_names);
	if (model->mode != MODEL_ENCODE || model->gates)
		die("%s: is not in a state to be adapted", model->dir);
	gates->count = count;
	gates->names = strings_new();
	gates->adapters = mem_zero((size_t)count, sizeof *gates->adapters);
	gates->pairs = mem_zero((size_t)model->weights.count, sizeof *gates->pairs);
	return gates;
}

void
gates_add(const struct model *model, struct gates *gates, int gate, int tensor,
    struct linear_pair pair)
{
	const struct parameter *p = &model->weights.tensors[tensor];

	if (p->stack)
		die("%s: the tensor '%s' holds the experts of a layer; LoRA of such is not known",
		    model->dir, p->name);
	if (!gates->pairs[tensor])
		gates->pairs[tensor] =
		    mem_zero((size_t)gates->count, sizeof *gates->pairs[tensor]);
	if (gates->pairs[tensor][gate].rank)
		die("%s: the tensor '%s' has two pairs", model->dir, p->name);
	if (pair.rank > gates->rank)
		gates->rank = pair.rank;
	if ((size_t)p->columns > gates->width)
		gates->width = (size_t)p->columns;
	gates->pairs[tensor][gate] = pair;
}

struct nn_matrix
gates_mapped(struct gates *gates, const struct safetensor *tensor)
{
	bool copied;
	struct nn_matrix matrix =
	    nn_matrix_of(tensor->data, tensor->dtype, tensor->count, &copied);

	if (!copied)
		return matrix;
	gates->copies = mem_grow(
	    gates->copies, &gates->copies_room, gates->copied + 1, sizeof *gates->copies);
	gates->copies[gates->copied++] = (struct gates_copy){ (void *)matrix.at,
		tensor->count * dtype_size(matrix.dtype) };
	return matrix;
}

float *
gates_copy(struct gates *gates, const float *values, size_t n)
{
	float *copy = nn_alloc(n * sizeof *copy);

	nn_upload(copy, values, n * sizeof *copy);
	gates->copies = mem_grow(
	    gates->copies, &gates->copies_room, gates->copied + 1, sizeof *gates->copies);
	gates->copies[gates->copied++] = (struct gates_copy){ copy, n * sizeof *copy };
	return copy;
}

struct adapter *
gates_adapter(const struct model *model, const char *dir)
{
	struct adapter *adapter = adapter_open(dir);
	const char *base = adapter_base(adapter);

	if (base && strcmp(base, model->folder_fingerprint))
		die("%s: was trained on the model %s; %s is %s", adapter_name(adapter),
		    base, model->dir, model->folder_fingerprint);
	return adapter;
}

/* What follows the last slash but those at the end. */
static const char *
last_part(const char *dir, size_t *length)
{
	size_t end = strlen(dir), start;

	while (end > 1 && dir[end - 1] == '/')
		end--;
	for (start = end; start > 0 && dir[start - 1] != '/'; start--)
		;
	*length = end - start;
	return dir + start;
}

static void
open_gate(const struct model *model, struct gates *gates, int gate, const char *dir)
{
	struct adapter *adapter = gates->adapters[gate] = gates_adapter(model, dir);
	size_t length;
	const char *name = last_part(dir, &length);

	strings_add(gates->names, name, length, NULL);
	struct gate_places places = gates_places(model, adapter);
	for (size_t i = 0, count; i < places.count; i += count) {
		int tensor = places.at[i].tensor;
		count = gates_together(&places, i);
		gates_add(model, gates, gate, tensor,
		    gates_pair(
			gates, &places.at[i], count, &model->weights.tensors[tensor]));
	}
	gates_places_free(&places);
}

/* "NAME FINGERPRINT, ...", and the names alone. */
static void
list_gates(struct gates *gates)
{
	gates->list = mem_string("");
	gates->marks = mem_string("");
	for (int i = 0; i < gates->count; i++) {
		const char *name = strings_get(gates->names, i);
		char *mark = mem_format(
		    "%s %016" PRIx64, name, adapter_fingerprint(gates->adapters[i]));
		gates->list = mem_list(gates->list, name);
		gates->marks = mem_list(gates->marks, mark);
		free(mark);
	}
}

void
model_gates(struct model *model, const char *const *dirs, int count)
{
	struct gates *gates = gates_new(model, count);

	for (int i = 0; i < count; i++)
		open_gate(model, gates, i, dirs[i]);
	list_gates(gates);
	model->gates = gates;
	model_resolve(model);
}

void
model_open_gates(struct model *model, const char *lora, const char *gates)
{
	char *own = mem_format("%s/adapters", model->dir);

	if (!lora && !gates && !access(own, F_OK))
		warn(
		    "%s: has LoRA adapters in %s, of which none is used; --adapter takes one",
		    model->dir, own);
	free(own);
	if (lora)
		model_gates(model, &lora, 1);
	if (!gates)
		return;
	int count;
	char **folders = adapter_folders(gates, &count);
	for (int i = 0; i < count; i++)
		model_demand_listed_head(model, folders[i]);
	model_gates(model, (const char *const *)folders, count);
	for (int i = 0; i < count; i++)
		free(folders[i]);
	free(folders);
}

int
model_gate(const struct model *model, const char *name, size_t length)
{
	return (int)strings_find(model->gates->names, name, length);
}

const char *
model_gate_names(const struct model *model)
{
	return model->gates ? model->gates->list : "";
}

const char *
model_gate_marks(const struct model *model)
{
	return model->gates ? model->gates->marks : NULL;
}

/* Dies where one of the tensors has a pair of a gate. */
static void
demand_none(const struct model *model, const struct part *parts, int count, int layer)
{
	const struct gates *gates = model->gates;

	for (int i = 0; i < count; i++) {
		int tensor = parts[i].tensor;
		const struct linear_pair *pairs =
		    tensor < 0 ? NULL : gates->pairs[tensor];
		for (int gate = 0; pairs && gate < gates->count; gate++)
			if (pairs[gate].rank)
				die("%s: changes '%s', which comes before layer %d, where gates are chosen; train it with the targets of later layers",
				    adapter_name(gates->adapters[gate]),
				    model->weights.tensors[tensor].name, layer);
	}
}

void
gates_demand_from(const struct model *model, int layer)
{
	const struct weights *weights = &model->weights;
	size_t experts = (size_t)layer * (size_t)model->spec.mixture.count;

	for (size_t b = 0; model->gates && b < model_block_index(model, layer, -1); b++)
		demand_none(model, weights->blocks[b], BLOCK_PARAMETERS, layer);
	for (size_t e = 0; model->gates && e < experts; e++)
		demand_none(model, weights->mixtures[e], MLP_PARAMETERS, layer);
}

void
gates_demand_finite(const struct model *model)
{
	const struct gates *gates = model->gates;

	for (int gate = 0; gates && gate < gates->count; gate++)
		for (int i = 0; gates->adapters[gate] &&
				i < 2 * adapter_count(gates->adapters[gate]);
		     i++) {
			const struct adapter *adapter = gates->adapters[gate];
			const struct adapter_pair *pair = adapter_at(adapter, i / 2);
			const struct safetensor *half = i % 2 ? pair->b : pair->a;
			bool copied;
			const float *values =
			    nn_weights(half->data, half->dtype, half->count, &copied);
			if (!nn_finite(values, half->count))
				die("%s: tensor '%s' holds values that are not finite (NaN or infinity)",
				    adapter_name(adapter), half->name);
			if (copied)
				nn_free((void *)values, half->count * sizeof *values);
		}
	loras_demand_finite(model);
}

void
gates_free(const struct model *model, struct gates *gates)
{
	if (!gates)
		return;
	for (int i = 0; i < model->weights.count; i++)
		free(gates->pairs[i]);
	for (int i = 0; i < gates->count; i++)
		if (gates->adapters[i])
			adapter_close(gates->adapters[i]);
	for (size_t i = 0; i < gates->copied; i++)
		nn_free(gates->copies[i].at, gates->copies[i].bytes);
	strings_free(gates->names);
	loras_free(model, gates->embeddings);
	free(gates->copies);
	free(gates->adapters);
	free(gates->pairs);
	free(gates->list);
	free(gates->marks);
	free(gates);
}
