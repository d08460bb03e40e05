/*
 * The gate that learns: its A and B are the parameters, all weights stay mapped.  A pair's moments
 * move in every step, as in torch, where a gradient of zeros is not None (B starts at zero).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "folder/folder.h"
#include "model/adapters.h"
#include "model/family/family.h"
#include "model/model_struct.h"
#include "model/save.h"

/* The pair at parameters[2 i], parameters[2 i + 1]. */
struct place {
	int tensor;
	double scale;
	int64_t rank;
};

struct learning {
	struct parameter *parameters; /* A and B of each pair, in this order */
	struct place *places;
	int count;   /* of pairs */
	size_t size; /* of values, in floats */
	struct adapter_settings settings;
	char **targets;
	/* What it goes on from; NULL: nothing.  The pair of each place, and those that have none. */
	struct adapter *adapter;
	const struct adapter_pair **from, **beside;
	int beside_count;
};

/* Is the module of this weight named by one of the targets: as a whole, or at its end? */
static bool
is_target(const char *weight, const struct lora_settings *lora)
{
	size_t length = strlen(weight) - strlen(".weight");

	for (int i = 0; i < lora->target_count; i++) {
		size_t n = strlen(lora->targets[i]);
		if (n <= length && !strncmp(weight + length - n, lora->targets[i], n) &&
		    (n == length || weight[length - n - 1] == '.'))
			return true;
	}
	return false;
}

/* The module's name as the base model has it: without what a head's model puts before. */
static const char *
bare(const struct model *model, const char *name)
{
	for (const char *const *prefix = model->spec.names->prefixes; *prefix; prefix++)
		if (**prefix && !strncmp(name, *prefix, strlen(*prefix)))
			return name + strlen(*prefix);
	return name;
}

/* "encoder.layer.0.attention.self.query", to be freed. */
static char *
module_of(const struct model *model, const struct parameter *p)
{
	const char *name = bare(model, p->name);

	return mem_format("%.*s", (int)(strlen(name) - strlen(".weight")), name);
}

static void
add_parameter(
    struct learning *l, const char *weight, char which, struct parameter parameter)
{
	parameter.name = adapter_tensor(weight, which);
	parameter.count = (size_t)(parameter.rows * parameter.columns);
	parameter.offset = l->size;
	parameter.decay = parameter.rows > 1 && parameter.columns > 1;
	l->parameters[2 * l->count + (which == 'B')] = parameter;
	l->size = mem_add(l->size, (parameter.count + 15) & ~(size_t)15, "parameters");
}

static void
add_pair(
    const struct model *model, struct learning *l, int tensor, int64_t rank, double scale)
{
	const struct parameter *p = &model->weights.tensors[tensor];
	const char *name = bare(model, p->name);

	add_parameter(l, name, 'A',
	    (struct parameter){ .rows = rank,
		.columns = p->columns,
		.layer = p->layer,
		.expert = p->expert });
	add_parameter(l, name, 'B',
	    (struct parameter){ .rows = p->rows,
		.columns = rank,
		.layer = p->layer,
		.expert = p->expert });
	l->places[l->count++] = (struct place){ tensor, scale, rank };
}

/* New pairs on the targets. */
static void
choose(const struct model *model, struct learning *l, const struct lora_settings *lora)
{
	unsigned char *marks = gates_layers(model);
	int wanted = lora->target_count ? GATES_LINEAR : GATES_USUAL;
	bool all = lora->target_count == 1 && !strcmp(lora->targets[0], "all-linear");
	int named = all ? 0 : lora->target_count;
	double root = lora->rslora ? sqrt(lora->rank) : lora->rank;

	l->targets = mem_zero(
	    2 * (size_t)model->weights.count + (size_t)named, sizeof *l->targets);
	for (int i = 0; i < named; i++)
		l->targets[l->settings.target_count++] = mem_string(lora->targets[i]);
	for (int i = 0; i < model->weights.own; i++) {
		const struct parameter *p = &model->weights.tensors[i];
		if (!(marks[i] & wanted) || (named && !is_target(p->name, lora)) ||
		    (all && p->stack))
			continue;
		if (!named)
			l->targets[l->settings.target_count++] = module_of(model, p);
		add_pair(model, l, i, lora->rank, lora->alpha / root);
	}
	if (!l->count)
		die("%s: none of its linear layers is called '%s'%s", model->dir,
		    lora->targets[0], lora->target_count > 1 ? " or the like" : "");
	l->settings.rank = lora->rank;
	l->settings.alpha = lora->alpha;
	l->settings.rslora = lora->rslora;
	l->settings.dropout = lora->dropout;
	free(marks);
}

/* Notes a pair, with its rank and alpha where these are not the first one's; the name is taken over. */
static void
note_pair(struct learning *l, char *module, const struct adapter_pair *pair)
{
	struct adapter_settings *settings = &l->settings;
	double alpha = pair->scale * (double)pair->rank;

	if (pair->rank != settings->rank) {
		settings->ranks = settings->ranks ? settings->ranks : tree_object();
		tree_set(settings->ranks, module, tree_of_integer(pair->rank));
	}
	if (alpha != settings->alpha) {
		settings->alphas = settings->alphas ? settings->alphas : tree_object();
		tree_set(settings->alphas, module, tree_of_real(alpha));
	}
	l->targets[settings->target_count++] = module;
}

/* A pair, if it has a place, which must be all of a tensor. */
static void
take_pair(const struct model *model, struct learning *l, const struct adapter *adapter,
    const struct gate_places *places, const struct adapter_pair *pair)
{
	const struct gate_place *place = places->at, *end = place + places->count;

	while (place < end && place->pair != pair)
		place++;
	if (place == end)
		return;
	const struct parameter *p = &model->weights.tensors[place->tensor];
	if (place->rows != p->rows || place->rows != pair->b->shape[0])
		die("%s: '%s' is not one matrix in %s, but part of '%s' or several; train on a folder that has the adapter's names",
		    adapter_name(adapter), pair->module, model->dir, p->name);
	l->from[l->count] = pair;
	add_pair(model, l, place->tensor, pair->rank, pair->scale);
	note_pair(l, module_of(model, p), pair);
}

/* The pairs of a folder, in its order.  Those of layers that no embedding depends on learn nothing, and are written as they are. */
static void
take_over(const struct model *model, struct learning *l, struct adapter *adapter)
{
	const struct adapter_pair *first = adapter_at(adapter, 0);
	struct gate_places places = gates_places(model, adapter);

	l->targets = mem_zero((size_t)adapter_count(adapter), sizeof *l->targets);
	l->settings.rank = (int)first->rank;
	l->settings.alpha = first->scale * (double)first->rank;
	l->settings.dropout = adapter_dropout(adapter);
	for (int i = 0; i < adapter_count(adapter); i++)
		take_pair(model, l, adapter, &places, adapter_at(adapter, i));
	for (size_t i = 0; i < places.beside_count; i++) {
		const struct adapter_pair *pair = places.beside[i].pair;
		note_pair(l, mem_string(pair->module), pair);
		l->beside[l->beside_count++] = pair;
	}
	l->adapter = adapter;
	gates_places_free(&places);
}

/* A as PEFT draws it, uniform within 1 / sqrt(in), B zero; or what the adapter has. */
static void
fill(const struct learning *l, uint64_t seed, float *to)
{
	for (int i = 0; i < 2 * l->count; i++) {
		const struct parameter *p = &l->parameters[i];
		struct rng rng = rng_seed(seed, (uint64_t)i);
		float *host = mem_zero(p->count, sizeof *host);
		if (l->adapter) {
			const struct adapter_pair *pair = l->from[i / 2];
			const struct safetensor *from = i % 2 ? pair->b : pair->a;
			tensor_to_f32(host, from->data, from->dtype, from->count);
		} else if (i % 2 == 0) {
			double most = 1 / sqrt((double)p->columns);
			for (size_t j = 0; j < p->count; j++)
				host[j] = (float)(most * (2 * rng_uniform(&rng) - 1));
		}
		nn_upload(to + p->offset, host, p->count * sizeof *host);
		free(host);
	}
}

/* The gate, of which the parameters are views. */
static struct gates *
gate_of(const struct model *model, const struct learning *l, uint64_t seed)
{
	struct gates *gates = gates_new(model, 1);

	gates->dropout = l->settings.dropout;
	for (int i = 0; i < l->count; i++) {
		const struct place *place = &l->places[i];
		size_t a = l->parameters[2 * i].offset;
		size_t b = l->parameters[2 * i + 1].offset;
		gates_add(model, gates, 0, place->tensor,
		    (struct linear_pair){ .a = nn_f32(model->values + a),
			.b = nn_f32(model->values + b),
			.da = model->gradients + a,
			.db = model->gradients + b,
			.rank = (size_t)place->rank,
			.scale = (float)place->scale,
			.salt = rng_hash(seed, &place->tensor, sizeof place->tensor) });
	}
	return gates;
}

void
model_adapt(struct model *model, const struct lora_settings *settings, uint64_t seed)
{
	struct adapter *adapter =
	    settings->from ? gates_adapter(model, settings->from) : NULL;
	struct learning *l = mem_zero(1, sizeof *l);
	size_t most = (size_t)(adapter ? adapter_count(adapter) : model->weights.count);

	l->places = mem_zero(most, sizeof *l->places);
	l->parameters = mem_zero(2 * most, sizeof *l->parameters);
	l->from = mem_zero(most, sizeof *l->from);
	l->beside = mem_zero(most, sizeof *l->beside);
	if (adapter)
		take_over(model, l, adapter);
	else
		choose(model, l, settings);
	l->settings.base = model->dir;
	l->settings.fingerprint = model->folder_fingerprint;
	l->settings.targets = (const char *const *)l->targets;
	size_t bytes = mem_multiply(l->size, sizeof(float), "parameters");
	model->values = nn_alloc(bytes);
	model->gradients = nn_alloc(bytes);
	fill(l, seed, model->values);
	model->gates = gate_of(model, l, seed);
	model->learning = l;
	model_resolve(model);
}

const struct parameter *
learning_parameters(const struct model *model, int *count, size_t *size)
{
	*count = 2 * model->learning->count;
	*size = model->learning->size;
	return model->learning->parameters;
}

void
learning_save(const struct model *model, const char *dir, enum dtype dtype)
{
	const struct learning *l = model->learning;
	char *folder = folder_begin(dir);
	size_t beside = 2 * (size_t)l->beside_count;
	struct safetensor *tensors =
	    mem_zero(2 * (size_t)l->count + beside, sizeof *tensors);

	for (int i = 0; i < 2 * l->count; i++)
		tensors[i] = model_tensor(model, &l->parameters[i], dtype);
	for (int i = 0; i < l->beside_count; i++) {
		tensors[2 * (l->count + i)] = *l->beside[i]->a;
		tensors[2 * (l->count + i) + 1] = *l->beside[i]->b;
	}
	adapter_write(folder, &l->settings, tensors, 2 * l->count + (int)beside);
	for (int i = 0; i < 2 * l->count; i++)
		free((void *)tensors[i].data);
	free(tensors);
	folder_commit(folder, dir);
}

void
learning_free(struct learning *l)
{
	if (!l)
		return;
	for (int i = 0; i < 2 * l->count; i++)
		free((char *)l->parameters[i].name);
	for (int i = 0; i < l->settings.target_count; i++)
		free(l->targets[i]);
	if (l->adapter)
		adapter_close(l->adapter);
	tree_free(l->settings.ranks);
	tree_free(l->settings.alphas);
	free(l->from);
	free(l->beside);
	free(l->targets);
	free(l->places);
	free(l->parameters);
	free(l);
}
