/*
 * W + scale B A in the place of W: of an adapter that is there, and of one that learns.  It is formed
 * once a step, so that there is one forward and one backward pass; dA and dB follow from dW.  A
 * pair's moments move in every step, as in torch, where a gradient of zeros is not None (B starts
 * at zero).
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "folder/folder.h"
#include "model/model_internal.h"

/* A tensor of the model that has a pair. */
struct pair {
	int tensor;
	double scale;
	int64_t rank;
	float *merged;	 /* W + scale B A, nn memory */
	float *gradient; /* the loss's by it; NULL: it does not learn */
};

struct lora {
	struct pair *pairs;
	struct parameter *parameters; /* A and B of each pair, in this order */
	int count;		      /* of pairs */
	int *pair_of;		      /* [weights.count]; -1: none */
	size_t size;		      /* of values, in floats */
	float *values, *gradients;    /* of A and B, nn memory; NULL: no longer needed */
	char fingerprint[17];	      /* of the model with it; "": it learns */
	struct adapter_settings settings;
	char **targets;
};

/* The one tensor that a pair changes; dies when there is none of its shape. */
static int
tensor_of(const struct model *model, const struct adapter *adapter,
    const struct adapter_pair *pair)
{
	const struct weights *weights = &model->weights;
	int found = -1;

	for (int i = 0; i < weights->own; i++) {
		if (!adapter_means(pair, weights->tensors[i].name))
			continue;
		if (found >= 0)
			die("%s: the module '%s' may be '%s' or '%s' of %s",
			    adapter_name(adapter), pair->module,
			    weights->tensors[found].name, weights->tensors[i].name,
			    model->dir);
		found = i;
	}
	if (found < 0)
		die("%s: changes the module '%s'; %s has no tensor '%s.weight'",
		    adapter_name(adapter), pair->module, model->dir, pair->module);
	const struct parameter *p = &weights->tensors[found];
	if (p->rows != pair->b->shape[0] || p->columns != pair->a->shape[1])
		die("%s: 'lora_B' and 'lora_A' of '%s' make [%lld, %lld]; the tensor "
		    "'%s' "
		    "of %s is [%lld, %lld]",
		    adapter_name(adapter), pair->module, (long long)pair->b->shape[0],
		    (long long)pair->a->shape[1], p->name, model->dir, (long long)p->rows,
		    (long long)p->columns);
	return found;
}

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

/* Marks the tensors that are linear layers of blocks, with `bits`. */
static void
mark(unsigned char *marks, const struct part *parts, int from, int to, int bits)
{
	for (int i = from; i < to; i++)
		if (parts[i].tensor >= 0)
			marks[parts[i].tensor] |= (unsigned char)bits;
}

enum { LINEAR = 1, USUAL = 2 }; /* USUAL: without targets, PEFT's: queries and values */

static unsigned char *
linear_layers(const struct model *model)
{
	const struct weights *weights = &model->weights;
	unsigned char *marks = mem_zero((size_t)weights->count, 1);
	size_t experts = (size_t)model->spec.layers * (size_t)model->spec.mixture.count;

	for (size_t b = 0; b < model_block_index(model, model->spec.layers, -1); b++) {
		mark(marks, weights->blocks[b], 0, BLOCK_PARAMETERS, LINEAR);
		mark(marks, weights->blocks[b], BLOCK_Q, BLOCK_Q + 1, USUAL);
		mark(marks, weights->blocks[b], BLOCK_V, BLOCK_V + 1, USUAL);
	}
	for (size_t e = 0; e < experts; e++)
		mark(marks, weights->mixtures[e], 0, MLP_PARAMETERS, LINEAR);
	for (int i = 0; i < weights->count; i++)
		if (!weights->tensors[i].columns)
			marks[i] = 0;
	return marks;
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

static void
add_parameter(struct lora *l, const char *weight, char which, struct parameter parameter)
{
	parameter.name = adapter_tensor(weight, which);
	parameter.count = (size_t)(parameter.rows * parameter.columns);
	parameter.offset = l->size;
	parameter.decay = parameter.rows > 1 && parameter.columns > 1;
	l->parameters[2 * l->count + (which == 'B')] = parameter;
	l->size = mem_add(l->size, (parameter.count + 15) & ~(size_t)15, "parameters");
}

static void
add_pair(const struct model *model, struct lora *l, int tensor, int64_t rank,
    double scale, bool learns)
{
	const struct parameter *p = &model->weights.tensors[tensor];
	const char *name = bare(model, p->name);
	size_t bytes = p->count * sizeof(float);

	if (p->stack)
		die("%s: the tensor '%s' holds the experts of a layer; LoRA of such is "
		    "not known",
		    model->dir, p->name);
	if (l->pair_of[tensor] >= 0)
		die("%s: the tensor '%s' has two pairs", model->dir, p->name);
	add_parameter(l, name, 'A',
	    (struct parameter){
		.rows = rank, .columns = p->columns, .expert = p->expert });
	add_parameter(l, name, 'B',
	    (struct parameter){ .rows = p->rows, .columns = rank, .expert = p->expert });
	l->pairs[l->count] = (struct pair){ tensor, scale, rank, nn_alloc(bytes),
		learns ? nn_alloc(bytes) : NULL };
	l->pair_of[tensor] = l->count++;
}

/* New pairs on the targets. */
static void
choose(const struct model *model, struct lora *l, const struct lora_settings *lora)
{
	unsigned char *marks = linear_layers(model);
	int wanted = lora->target_count ? LINEAR : USUAL;
	double root = lora->rslora ? sqrt(lora->rank) : lora->rank;

	l->targets =
	    mem_zero(2 * (size_t)model->weights.count + (size_t)lora->target_count,
		sizeof *l->targets);
	for (int i = 0; i < lora->target_count; i++)
		l->targets[l->settings.target_count++] = mem_string(lora->targets[i]);
	for (int i = 0; i < model->weights.own; i++) {
		const char *name = model->weights.tensors[i].name;
		if (!(marks[i] & wanted) ||
		    (lora->target_count && !is_target(name, lora)))
			continue;
		if (!lora->target_count)
			l->targets[l->settings.target_count++] = mem_format("%.*s",
			    (int)(strlen(bare(model, name)) - strlen(".weight")),
			    bare(model, name));
		add_pair(model, l, i, lora->rank, lora->alpha / root, true);
	}
	if (!l->count)
		die("%s: none of its linear layers is called '%s'%s", model->dir,
		    lora->targets[0], lora->target_count > 1 ? " or the like" : "");
	l->settings.rank = lora->rank;
	l->settings.alpha = lora->alpha;
	l->settings.rslora = lora->rslora;
	free(marks);
}

/* The pairs of a folder. */
static void
take_over(
    const struct model *model, struct lora *l, const struct adapter *adapter, bool learns)
{
	const struct adapter_pair *first = adapter_at(adapter, 0);

	l->targets = mem_zero((size_t)adapter_count(adapter), sizeof *l->targets);
	l->settings.rank = (int)first->rank;
	l->settings.alpha = first->scale * (double)first->rank;
	for (int i = 0; i < adapter_count(adapter); i++) {
		const struct adapter_pair *pair = adapter_at(adapter, i);
		if (learns && (pair->rank != first->rank || pair->scale != first->scale))
			die("%s: '%s' and '%s' differ in rank or alpha; only adapters "
			    "with "
			    "one of each are trained on",
			    adapter_name(adapter), first->module, pair->module);
		add_pair(model, l, tensor_of(model, adapter, pair), pair->rank,
		    pair->scale, learns);
		l->targets[l->settings.target_count++] = mem_string(pair->module);
	}
}

/* A as PEFT draws it, uniform within 1 / sqrt(in), B zero; or what the adapter has. */
static void
fill(struct lora *l, const struct adapter *adapter, uint64_t seed)
{
	for (int i = 0; i < 2 * l->count; i++) {
		const struct parameter *p = &l->parameters[i];
		struct rng rng = rng_seed(seed, (uint64_t)i);
		float *host = mem_zero(p->count, sizeof *host);
		if (adapter) {
			const struct adapter_pair *pair = adapter_at(adapter, i / 2);
			const struct safetensor *from = i % 2 ? pair->b : pair->a;
			tensor_to_f32(host, from->data, from->dtype, from->count);
		} else if (i % 2 == 0) {
			double most = 1 / sqrt((double)p->columns);
			for (size_t j = 0; j < p->count; j++)
				host[j] = (float)(most * (2 * rng_uniform(&rng) - 1));
		}
		nn_upload(l->values + p->offset, host, p->count * sizeof *host);
		free(host);
	}
}

/* From the pairs to W + scale B A. */
static void
merge(const struct model *model, struct lora *l)
{
	for (int i = 0; i < l->count; i++) {
		const struct pair *pair = &l->pairs[i];
		const struct safetensor *stored = model->weights.stored[pair->tensor];
		const struct parameter *a = &l->parameters[2 * i], *b = a + 1;
		float *host = mem_new(stored->count, sizeof *host);
		tensor_to_f32(host, stored->data, stored->dtype, stored->count);
		nn_upload(pair->merged, host, stored->count * sizeof *host);
		free(host);
		nn_product_nn(pair->merged, l->values + b->offset, l->values + a->offset,
		    (size_t)b->rows, (size_t)a->columns, (size_t)pair->rank,
		    (float)pair->scale, 1);
	}
}

/* Either of adapter and settings. */
static struct lora *
lora_new(const struct model *model, const struct adapter *adapter,
    const struct lora_settings *settings, uint64_t seed)
{
	struct lora *l = mem_zero(1, sizeof *l);
	size_t tensors = (size_t)model->weights.count;
	size_t most = adapter ? (size_t)adapter_count(adapter) : tensors;

	if (model->mode != MODEL_ENCODE || model->learning)
		die("%s: is not in a state to be adapted", model->dir);
	l->pairs = mem_zero(most, sizeof *l->pairs);
	l->parameters = mem_zero(2 * most, sizeof *l->parameters);
	l->pair_of = mem_new(tensors, sizeof *l->pair_of);
	for (size_t i = 0; i < tensors; i++)
		l->pair_of[i] = -1;
	if (adapter)
		take_over(model, l, adapter, settings);
	else
		choose(model, l, settings);
	size_t bytes = mem_multiply(l->size, sizeof(float), "parameters");
	l->values = nn_alloc(bytes);
	l->gradients = settings ? nn_alloc(bytes) : NULL;
	fill(l, adapter, seed);
	merge(model, l);
	return l;
}

static void
check_finite(
    const struct model *model, const struct lora *l, const struct adapter *adapter)
{
	for (int i = 0; i < l->count; i++) {
		const struct parameter *p = &model->weights.tensors[l->pairs[i].tensor];
		if (!nn_finite(l->pairs[i].merged, p->count))
			die("%s: with it, the tensor '%s' of %s holds values that are "
			    "not finite (NaN or infinity)",
			    adapter_name(adapter), p->name, model->dir);
	}
}

struct lora *
model_lora(const struct model *model, const struct adapter *adapter)
{
	struct lora *l = lora_new(model, adapter, NULL, 0);
	uint64_t print = adapter_fingerprint(adapter);

	check_finite(model, l, adapter);
	nn_free(l->values, l->size * sizeof(float));
	l->values = NULL;
	print = rng_hash(print, model->fingerprint, strlen(model->fingerprint));
	snprintf(l->fingerprint, sizeof l->fingerprint, "%016" PRIx64, print);
	return l;
}

void
model_use(struct model *model, const struct lora *lora)
{
	model->lora = lora;
	model_resolve(model);
}

void
model_adapt(struct model *model, const struct lora_settings *settings, uint64_t seed)
{
	struct adapter *adapter = settings->from ? adapter_open(settings->from) : NULL;
	struct lora *l = lora_new(model, adapter, settings, seed);

	l->settings.base = model->dir;
	l->settings.targets = (const char *const *)l->targets;
	if (adapter)
		adapter_close(adapter);
	model->learning = l;
	model->values = l->values;
	model->gradients = l->gradients;
	model_use(model, l);
}

void
model_base(struct model *model, bool base)
{
	model_use(model, base ? NULL : model->learning);
}

void
model_changed(struct model *model)
{
	if (model->learning)
		merge(model, model->learning);
}

struct nn_matrix
lora_matrix(const struct model *model, int tensor)
{
	int pair = model->lora ? model->lora->pair_of[tensor] : -1;

	return pair < 0
		   ? model->data[tensor]
		   : (struct nn_matrix){ model->lora->pairs[pair].merged, DTYPE_F32 };
}

float *
lora_gradient(const struct model *model, int tensor)
{
	int pair = model->learning->pair_of[tensor];

	return pair < 0 ? NULL : model->learning->pairs[pair].gradient;
}

/* dA = scale B' dW, dB = scale dW A' */
void
lora_gather(struct model *model)
{
	const struct lora *l = model->learning;

	for (int i = 0; l && i < l->count; i++) {
		const struct pair *pair = &l->pairs[i];
		const struct parameter *a = &l->parameters[2 * i], *b = a + 1;
		size_t out = (size_t)b->rows, in = (size_t)a->columns;
		size_t rank = (size_t)pair->rank;
		nn_product_tn(l->gradients + a->offset, l->values + b->offset,
		    pair->gradient, rank, in, out, (float)pair->scale, 1);
		nn_product_nt(l->gradients + b->offset, pair->gradient,
		    l->values + a->offset, out, rank, in, (float)pair->scale, 1);
		nn_zero(pair->gradient, out * in);
	}
}

const struct parameter *
lora_parameters(const struct model *model, int *count, size_t *size)
{
	*count = 2 * model->learning->count;
	*size = model->learning->size;
	return model->learning->parameters;
}

const char *
model_fingerprint(const struct model *model)
{
	return model->lora && *model->lora->fingerprint ? model->lora->fingerprint
							: model->fingerprint;
}

void
lora_save(const struct model *model, const char *dir, enum dtype dtype)
{
	const struct lora *l = model->learning;
	char *folder = folder_begin(dir);
	struct safetensor *tensors = mem_zero(2 * (size_t)l->count, sizeof *tensors);

	for (int i = 0; i < 2 * l->count; i++)
		tensors[i] = model_tensor(model, &l->parameters[i], dtype);
	adapter_write(folder, &l->settings, tensors, 2 * l->count);
	for (int i = 0; i < 2 * l->count; i++)
		free((void *)tensors[i].data);
	free(tensors);
	folder_commit(folder, dir);
}

void
lora_free(const struct model *model, struct lora *l)
{
	if (!l)
		return;
	for (int i = 0; i < l->count; i++) {
		size_t bytes =
		    model->weights.tensors[l->pairs[i].tensor].count * sizeof(float);
		nn_free(l->pairs[i].merged, bytes);
		if (l->pairs[i].gradient)
			nn_free(l->pairs[i].gradient, bytes);
		free((char *)l->parameters[2 * i].name);
		free((char *)l->parameters[2 * i + 1].name);
	}
	for (int i = 0; i < l->settings.target_count; i++)
		free(l->targets[i]);
	if (l->values)
		nn_free(l->values, l->size * sizeof(float));
	if (l->gradients)
		nn_free(l->gradients, l->size * sizeof(float));
	free(l->targets);
	free(l->pairs);
	free(l->parameters);
	free(l->pair_of);
	free(l);
}
