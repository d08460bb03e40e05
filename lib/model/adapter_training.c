#include "model/adapter_training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "folder/folder.h"
#include "model/adapter_places.h"
#include "model/adapters.h"
#include "model/config.h"
#include "model/lora_settings.h"
#include "model/family/family.h"
#include "model/model_struct.h"
#include "model/save.h"

/* The tensor beside which the pair parameters[2 i], parameters[2 i + 1] stands. */
struct training_pair {
	int tensor;
	double scale;
	int64_t rank;
};

struct adapter_training {
	struct parameter *parameters; /* A and B of each pair, in this order */
	struct training_pair *pairs;  /* [count] */
	int count;
	size_t size; /* of values, in floats */
	struct adapter_settings settings;
	char **targets;
	struct adapter *adapter; /* that training continues; NULL: none */
	/* its pairs: [count] those of `pairs`, [beside_count] those that do not learn */
	const struct adapter_pair **from, **beside;
	int beside_count;
};

/* Whether one of the targets is the name of the weight's module, or its last parts. */
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

/* A tensor's name without the prefix of the family (tensor_names), as the base model has it. */
static const char *
bare(const struct model *model, const char *name)
{
	for (const char *const *prefix = model->spec.names->prefixes; *prefix; prefix++)
		if (**prefix && !strncmp(name, *prefix, strlen(*prefix)))
			return name + strlen(*prefix);
	return name;
}

/* The name of its module, "encoder.layer.0.attention.self.query"; to be freed. */
static char *
module_of(const struct model *model, const struct parameter *p)
{
	const char *name = bare(model, p->name);

	return mem_format("%.*s", (int)(strlen(name) - strlen(".weight")), name);
}

static void
add_parameter(struct adapter_training *l, const char *weight, char which,
    struct parameter parameter)
{
	parameter.name = adapter_tensor(weight, which);
	parameter.count = (size_t)(parameter.rows * parameter.columns);
	parameter.offset = l->size;
	parameter.decay = parameter.rows > 1 && parameter.columns > 1;
	l->parameters[2 * l->count + (which == 'B')] = parameter;
	l->size = mem_add(l->size, (parameter.count + 15) & ~(size_t)15, "parameters");
}

static void
add_pair(const struct model *model, struct adapter_training *l, int tensor, int64_t rank,
    double scale)
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
	l->pairs[l->count++] = (struct training_pair){ tensor, scale, rank };
}

/* Adds new pairs on the targets. */
static void
choose(const struct model *model, struct adapter_training *l,
    const struct lora_settings *lora)
{
	unsigned char *marks = adapters_layers(model);
	int wanted = lora->target_count ? ADAPTERS_LINEAR : ADAPTERS_USUAL;
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
	if (!l->count && !lora->target_count)
		die("%s: has no blocks, hence no layers for a LoRA", model->dir);
	if (!l->count)
		die("%s: none of its linear layers is called '%s'%s", model->dir,
		    lora->targets[0], lora->target_count > 1 ? " or the like" : "");
	l->settings.rank = lora->rank;
	l->settings.alpha = lora->alpha;
	l->settings.rslora = lora->rslora;
	l->settings.dropout = lora->dropout;
	free(marks);
}

/* Adds a pair's module to the targets, and its rank and alpha where they differ from the first pair's; takes over the name. */
static void
note_pair(struct adapter_training *l, char *module, const struct adapter_pair *pair)
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

/* Adds a pair that has a place; the place must be a whole tensor. */
static void
take_pair(const struct model *model, struct adapter_training *l,
    const struct adapter *adapter, const struct adapter_places *places,
    const struct adapter_pair *pair)
{
	const struct adapter_place *place = places->at, *end = place + places->count;

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

/* Adds the pairs of a folder, in its order.  Pairs of layers that no embedding depends on do not learn, and are copied. */
static void
take_over(const struct model *model, struct adapter_training *l, struct adapter *adapter)
{
	const struct adapter_pair *first = adapter_at(adapter, 0);
	struct adapter_places places = adapter_places_find(model, adapter);

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
	adapter_places_free(&places);
}

/* Sets A and B: as PEFT draws A, uniform within 1 / sqrt(in), B zero; or the adapter's. */
static void
fill(const struct adapter_training *l, uint64_t seed, float *to)
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

/* The adapter, whose pairs are views of the parameters.  The optimiser moves them in every step, even where gradients are
 * zero, as torch does (B starts at zero). */
static struct adapters *
adapters_of(const struct model *model, const struct adapter_training *l, uint64_t seed)
{
	struct adapters *adapters = adapters_new(model, 1);

	adapters->dropout = l->settings.dropout;
	for (int i = 0; i < l->count; i++) {
		const struct training_pair *pair = &l->pairs[i];
		size_t a = l->parameters[2 * i].offset;
		size_t b = l->parameters[2 * i + 1].offset;
		adapters_add(model, adapters, 0, pair->tensor,
		    (struct linear_pair){ .a = nn_f32(model->values + a),
			.b = nn_f32(model->values + b),
			.da = model->gradients + a,
			.db = model->gradients + b,
			.rank = (size_t)pair->rank,
			.scale = (float)pair->scale,
			.salt = rng_hash(seed, &pair->tensor, sizeof pair->tensor) });
	}
	return adapters;
}

void
model_adapt(struct model *model, const struct lora_settings *settings, uint64_t seed)
{
	struct adapter *adapter =
	    settings->from ? adapters_read(model, settings->from) : NULL;
	struct adapter_training *l = mem_zero(1, sizeof *l);
	if (adapter)
		model_demand_listed_head(model, settings->from);
	size_t most = (size_t)(adapter ? adapter_count(adapter) : model->weights.count);

	l->pairs = mem_zero(most, sizeof *l->pairs);
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
	model->learning_size = l->size;
	model->learning = mem_new(2 * (size_t)l->count, sizeof *model->learning);
	for (int i = 0; i < 2 * l->count; i++)
		model->learning[model->learning_count++] = &l->parameters[i];
	fill(l, seed, model->values);
	model->adapters = adapters_of(model, l, seed);
	model->training = l;
	model_resolve(model);
}

void
adapter_training_save(const struct model *model, const char *dir, enum dtype dtype,
    const struct tree *origin)
{
	const struct adapter_training *l = model->training;
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
	if (origin)
		folder_write_json(folder, FOLDER_TRAIN, origin);
	folder_commit(folder, dir);
}

void
adapter_training_free(struct adapter_training *l)
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
	free(l->pairs);
	free(l->parameters);
	free(l);
}
