/* LoRA training: the pairs are the parameters, the model beneath them stays mapped. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "folder/folder.h"
#include "model/model_internal.h"

/* A tensor that has a pair. */
struct pair {
	int tensor;
	double scale;
	int64_t rank;
	float *merged, *gradient; /* W + scale B A, and the loss's by it; nn memory */
};

struct learners {
	struct pair *pairs;
	struct parameter *parameters; /* A and B of each pair, in this order */
	int count;		      /* of pairs */
	int *pair_of;		      /* [weights.count]; -1: none */
	bool base;		      /* compute without them */
	size_t size;		      /* of values, in floats */
	struct adapter_settings settings;
	char **targets;
};

/* Is the module of this weight named by one of the targets: as a whole, or at its end? */
static bool
is_target(const char *weight, const struct lora *lora)
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
		mark(marks, weights->mixtures[e], 0, MIXTURE_PARAMETERS, LINEAR);
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
add_parameter(struct learners *l, const char *weight, char which, int64_t rows,
    int64_t columns, int expert)
{
	size_t count = (size_t)(rows * columns);

	l->parameters[2 * l->count + (which == 'B')] =
	    (struct parameter){ .name = adapter_tensor(weight, which),
		    .offset = l->size,
		    .count = count,
		    .rows = rows,
		    .columns = columns,
		    .expert = expert,
		    .decay = true };
	l->size = mem_add(l->size, (count + 15) & ~(size_t)15, "parameters");
}

static void
add_pair(struct model *model, int tensor, int64_t rank, double scale)
{
	struct learners *l = model->learners;
	const struct parameter *p = &model->weights.tensors[tensor];
	const char *name = bare(model, p->name);

	if (p->stack)
		die("%s: the tensor '%s' holds the experts of a layer; LoRA of such is "
		    "not known",
		    model->dir, p->name);
	if (l->pair_of[tensor] >= 0)
		die("%s: the tensor '%s' has two pairs", model->dir, p->name);
	add_parameter(l, name, 'A', rank, p->columns, p->expert);
	add_parameter(l, name, 'B', p->rows, rank, p->expert);
	l->pairs[l->count] = (struct pair){ tensor, scale, rank,
		nn_alloc(p->count * sizeof(float)), nn_alloc(p->count * sizeof(float)) };
	l->pair_of[tensor] = l->count++;
}

/* New pairs on the targets. */
static void
choose(struct model *model, const struct lora *lora)
{
	struct learners *l = model->learners;
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
		add_pair(model, i, lora->rank, lora->alpha / root);
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
take_over(struct model *model, const struct adapter *adapter)
{
	struct learners *l = model->learners;
	const struct adapter_pair *first = adapter_at(adapter, 0);

	l->targets = mem_zero((size_t)adapter_count(adapter), sizeof *l->targets);
	l->settings.rank = (int)first->rank;
	l->settings.alpha = first->scale * (double)first->rank;
	for (int i = 0; i < adapter_count(adapter); i++) {
		const struct adapter_pair *pair = adapter_at(adapter, i);
		if (pair->rank != first->rank || pair->scale != first->scale)
			die("%s: '%s' and '%s' differ in rank or alpha; only adapters "
			    "with "
			    "one of each are trained on",
			    adapter_name(adapter), first->module, pair->module);
		add_pair(model, model_pair_tensor(model, adapter, pair), pair->rank,
		    pair->scale);
		l->targets[l->settings.target_count++] = mem_string(pair->module);
	}
}

/* A as PEFT draws it, uniform within 1 / sqrt(in), B zero; or what the adapter has. */
static void
fill(struct model *model, const struct adapter *adapter, uint64_t seed)
{
	struct learners *l = model->learners;

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
		nn_upload(model->values + p->offset, host, p->count * sizeof *host);
		free(host);
	}
}

void
model_adapt(struct model *model, const struct lora *lora, uint64_t seed)
{
	struct learners *l = mem_zero(1, sizeof *l);
	struct adapter *adapter = lora->from ? adapter_open(lora->from) : NULL;
	size_t tensors = (size_t)model->weights.count;

	if (model->mode != MODEL_ENCODE || model->gate || model->learners)
		die("%s: is not in a state to be adapted", model->dir);
	model->learners = l;
	size_t most = adapter ? (size_t)adapter_count(adapter) : tensors;
	l->pairs = mem_zero(most, sizeof *l->pairs);
	l->parameters = mem_zero(2 * most, sizeof *l->parameters);
	l->pair_of = mem_new(tensors, sizeof *l->pair_of);
	for (size_t i = 0; i < tensors; i++)
		l->pair_of[i] = -1;
	if (adapter)
		take_over(model, adapter);
	else
		choose(model, lora);
	l->settings.base = model->dir;
	l->settings.targets = (const char *const *)l->targets;
	size_t bytes = mem_multiply(l->size, sizeof(float), "parameters");
	model->values = nn_alloc(bytes);
	model->gradients = nn_alloc(bytes);
	fill(model, adapter, seed);
	if (adapter)
		adapter_close(adapter);
	model_changed(model);
	model_resolve(model);
}

bool
model_adapted(const struct model *model)
{
	return model->learners;
}

void
model_base(struct model *model, bool base)
{
	model->learners->base = base;
	model_resolve(model);
}

void
model_changed(struct model *model)
{
	struct learners *l = model->learners;

	for (int i = 0; l && i < l->count; i++) {
		const struct pair *pair = &l->pairs[i];
		const struct safetensor *stored = model->weights.stored[pair->tensor];
		const struct parameter *a = &l->parameters[2 * i], *b = a + 1;
		float *host = mem_new(stored->count, sizeof *host);
		tensor_to_f32(host, stored->data, stored->dtype, stored->count);
		nn_upload(pair->merged, host, stored->count * sizeof *host);
		free(host);
		nn_product_nn(pair->merged, model->values + b->offset,
		    model->values + a->offset, (size_t)b->rows, (size_t)a->columns,
		    (size_t)pair->rank, (float)pair->scale, 1);
	}
}

/* dA = scale B' dW, dB = scale dW A' */
void
learners_gather(struct model *model)
{
	struct learners *l = model->learners;

	for (int i = 0; l && i < l->count; i++) {
		const struct pair *pair = &l->pairs[i];
		const struct parameter *a = &l->parameters[2 * i], *b = a + 1;
		size_t out = (size_t)b->rows, in = (size_t)a->columns;
		size_t rank = (size_t)pair->rank;
		nn_product_tn(model->gradients + a->offset, model->values + b->offset,
		    pair->gradient, rank, in, out, (float)pair->scale, 1);
		nn_product_nt(model->gradients + b->offset, pair->gradient,
		    model->values + a->offset, out, rank, in, (float)pair->scale, 1);
		nn_zero(pair->gradient, out * in);
	}
}

struct nn_matrix
learners_matrix(const struct model *model, int tensor)
{
	const struct learners *l = model->learners;
	int pair = l->pair_of[tensor];

	if (pair < 0 || l->base)
		return model->data[tensor];
	return (struct nn_matrix){ l->pairs[pair].merged, DTYPE_F32 };
}

float *
learners_gradient(const struct model *model, int tensor)
{
	int pair = model->learners->pair_of[tensor];

	return pair < 0 ? NULL : model->learners->pairs[pair].gradient;
}

const struct parameter *
learners_parameters(const struct model *model, int *count, size_t *size)
{
	const struct learners *l = model->learners;

	*count = 2 * l->count;
	*size = l->size;
	return l->parameters;
}

void
learners_save(const struct model *model, const char *dir, enum dtype dtype)
{
	const struct learners *l = model->learners;
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
learners_free(struct model *model)
{
	struct learners *l = model->learners;

	for (int i = 0; l && i < l->count; i++) {
		size_t bytes =
		    model->weights.tensors[l->pairs[i].tensor].count * sizeof(float);
		nn_free(l->pairs[i].merged, bytes);
		nn_free(l->pairs[i].gradient, bytes);
		free((char *)l->parameters[2 * i].name);
		free((char *)l->parameters[2 * i + 1].name);
	}
	for (int i = 0; l && i < l->settings.target_count; i++)
		free(l->targets[i]);
	if (!l)
		return;
	free(l->targets);
	free(l->pairs);
	free(l->parameters);
	free(l->pair_of);
	free(l);
	model->learners = NULL;
}
