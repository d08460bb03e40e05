#include "model/adapter_places.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/family/family.h"
#include "model/model_struct.h"

/* A pair whose places are looked for. */
struct placing {
	const struct model *model;
	const struct adapter *adapter;
	const struct adapter_pair *pair;
	const unsigned char *marks; /* of adapters_layers */
	struct adapter_places *places;
};

static void
add(struct placing *placing, int tensor, int64_t to, int64_t from, int64_t rows)
{
	struct adapter_places *places = placing->places;

	places->at =
	    mem_grow(places->at, &places->room, places->count + 1, sizeof *places->at);
	places->at[places->count++] = (struct adapter_place){ .pair = placing->pair,
		.tensor = tensor,
		.to = to,
		.from = from,
		.rows = rows };
}

_Noreturn static void
die_of_shape(
    const struct placing *placing, const char *name, int64_t rows, int64_t columns)
{
	const struct adapter_pair *pair = placing->pair;

	die("%s: 'lora_B' and 'lora_A' of '%s' make [%lld, %lld]; the tensor '%s' of %s is [%lld, %lld]",
	    adapter_name(placing->adapter), pair->module, (long long)pair->b->shape[0],
	    (long long)pair->a->shape[1], name, placing->model->dir, (long long)rows,
	    (long long)columns);
}

/* Finds the tensor of the module's name; false: there is none. */
static bool
place_by_name(struct placing *placing)
{
	const struct weights *weights = &placing->model->weights;
	const struct adapter_pair *pair = placing->pair;
	int found = -1;

	for (int i = 0; i < weights->own; i++) {
		if (!adapter_means(pair->module, weights->tensors[i].name))
			continue;
		if (found >= 0)
			die("%s: the module '%s' may be '%s' or '%s' of %s",
			    adapter_name(placing->adapter), pair->module,
			    weights->tensors[found].name, weights->tensors[i].name,
			    placing->model->dir);
		found = i;
	}
	if (found < 0)
		return false;
	const struct parameter *p = &weights->tensors[found];
	if (p->rows != pair->b->shape[0] || p->columns != pair->a->shape[1])
		die_of_shape(placing, p->name, p->rows, p->columns);
	if (!placing->marks[found])
		die("%s: changes '%s' of %s, which is not a linear layer of its blocks",
		    adapter_name(placing->adapter), p->name, placing->model->dir);
	add(placing, found, 0, 0, p->rows);
	return true;
}

static const char *
after_dot(const char *name)
{
	const char *dot = strchr(name, '.');

	return dot ? dot + 1 : NULL;
}

/* The part of a module's name after the number of its block, in these names; sets the block.  NULL: the name is not one of
 * them. */
static const char *
in_block(const struct tensor_names *names, const char *module, int *layer)
{
	for (const char *at = module; at; at = after_dot(at)) {
		char *end;
		if (strncmp(at, names->layers, strlen(names->layers)))
			continue;
		at += strlen(names->layers);
		*layer = (int)strtol(at, &end, 10);
		if (end > at && end - at < 6 && *end == '.')
			return end + 1;
	}
	return NULL;
}

/* Whether the names call this matrix of a block `last`. */
static bool
is_called(const struct tensor_names *names, int which, const char *last)
{
	return (names->block[which] && !strcmp(names->block[which], last)) ||
	       (which == BLOCK_UP && names->plain && !strcmp(names->plain, last));
}

/* Dies if the tensor is a task expert's: the module of the dense model would change the first expert alone. */
static void
refuse_expert(const struct placing *placing, const struct parameter *p)
{
	const struct model *model = placing->model;

	if (p->expert >= 0)
		die("%s: changes '%s', of which each task expert of %s has its own; an adapter names one of them, as in '%.*s'",
		    adapter_name(placing->adapter), placing->pair->module, model->dir,
		    (int)(strlen(p->name) - strlen(".weight")), p->name);
}

/* Finds the matrices of a block that these names join in the module, one below the other: each is some rows of a tensor of
 * another name. */
static bool
place_by_parameters(struct placing *placing, const struct tensor_names *names)
{
	const struct model *model = placing->model;
	const struct adapter_pair *pair = placing->pair;
	int64_t rows, columns, from = 0;
	int layer;
	const char *last = in_block(names, pair->module, &layer);

	if (!last || layer < 0 || layer >= model->spec.layers)
		return false;
	for (int i = 0; i < BLOCK_PARAMETERS; i++) {
		/* gate and up change places where the names say so */
		bool swapped = names->gate_first && (i == BLOCK_UP || i == BLOCK_GATE);
		int which = swapped ? BLOCK_UP + BLOCK_GATE - i : i;
		const struct tensor_slice *part =
		    &model->weights.blocks[model_block_index(model, layer, -1)][which];
		if (!is_called(names, which, last) ||
		    !spec_block_shape(&model->spec, layer, (enum block_parameter)which,
			&rows, &columns) ||
		    part->tensor < 0 || !placing->marks[part->tensor])
			continue;
		const struct parameter *p = &model->weights.tensors[part->tensor];
		refuse_expert(placing, p);
		if (from + rows > pair->b->shape[0] || columns != pair->a->shape[1])
			die_of_shape(placing, p->name, p->rows, p->columns);
		add(placing, part->tensor, (int64_t)part->offset / columns, from, rows);
		from += rows;
	}
	if (from && from != pair->b->shape[0])
		die("%s: 'lora_B' of '%s' has %lld rows; %s needs %lld",
		    adapter_name(placing->adapter), pair->module,
		    (long long)pair->b->shape[0], model->dir, (long long)from);
	return from > 0;
}

static void
add_beside(struct placing *placing, int extra)
{
	struct adapter_places *places = placing->places;

	places->beside = mem_grow(places->beside, &places->beside_room,
	    places->beside_count + 1, sizeof *places->beside);
	places->beside[places->beside_count++] =
	    (struct adapter_beside){ placing->pair, extra };
}

/* Finds a module on which no embedding depends, a pooler or a head for another task, which the model may lack. */
static bool
place_beside(struct placing *placing)
{
	const struct weights *weights = &placing->model->weights;
	const struct adapter_pair *pair = placing->pair;

	for (int i = 0; i < weights->extra_count; i++) {
		const struct safetensor *extra = &weights->extra[i];
		if (!adapter_means(pair->module, extra->name))
			continue;
		if (extra->rank != 2 || extra->shape[0] != pair->b->shape[0] ||
		    extra->shape[1] != pair->a->shape[1])
			die_of_shape(placing, extra->name, extra->shape[0],
			    extra->rank > 1 ? extra->shape[1] : 0);
		add_beside(placing, i);
		return true;
	}
	for (const char *at = pair->module; at; at = after_dot(at))
		for (const char *const *head = weights->names->heads; *head; head++)
			if (!strncmp(at, *head, strlen(*head))) {
				add_beside(placing, -1);
				return true;
			}
	return false;
}

static void
place(struct placing *placing)
{
	const struct tensor_names *names = placing->model->spec.names;

	if (place_by_name(placing))
		return;
	for (; names; names = names->otherwise)
		if (place_by_parameters(placing, names))
			return;
	if (!place_beside(placing))
		die("%s: changes the module '%s'; %s has no tensor '%s.weight'",
		    adapter_name(placing->adapter), placing->pair->module,
		    placing->model->dir, placing->pair->module);
	inform("%s: changes '%s', on which no embedding of %s depends",
	    adapter_name(placing->adapter), placing->pair->module, placing->model->dir);
}

static int
by_place(const void *a, const void *b)
{
	const struct adapter_place *x = a, *y = b;

	return x->tensor != y->tensor ? (x->tensor > y->tensor) - (x->tensor < y->tensor)
				      : (x->to > y->to) - (x->to < y->to);
}

struct adapter_places
adapter_places_find(const struct model *model, const struct adapter *adapter)
{
	struct adapter_places places = { 0 };
	unsigned char *marks = adapters_layers(model);
	struct placing placing = {
		.model = model, .adapter = adapter, .marks = marks, .places = &places
	};

	for (int i = 0; i < adapter_count(adapter); i++) {
		placing.pair = adapter_at(adapter, i);
		place(&placing);
	}
	if (places.count)
		qsort(places.at, places.count, sizeof *places.at, by_place);
	for (size_t i = 1; i < places.count; i++) {
		const struct adapter_place *last = &places.at[i - 1], *next = last + 1;
		if (next->tensor == last->tensor && next->to < last->to + last->rows)
			die("%s: '%s' and '%s' change the same rows of '%s' of %s",
			    adapter_name(adapter), last->pair->module, next->pair->module,
			    model->weights.tensors[next->tensor].name, model->dir);
	}
	free(marks);
	return places;
}

void
adapter_places_free(struct adapter_places *places)
{
	free(places->at);
	free(places->beside);
}

size_t
adapter_places_together(const struct adapter_places *places, size_t first)
{
	size_t end = first + 1;

	while (end < places->count && places->at[end].tensor == places->at[first].tensor)
		end++;
	return end - first;
}

/* Joins pairs of several rows to one: A of all, one below the other; B scaled, zero in the columns of other pairs. */
static struct linear_pair
stacked(struct adapters *adapters, const struct adapter_place *places, size_t count,
    const struct parameter *p)
{
	size_t rank = 0, columns = (size_t)p->columns, rows = (size_t)p->rows, before = 0;

	for (size_t i = 0; i < count; i++)
		rank += (size_t)places[i].pair->rank;
	float *a = mem_new(rank * columns, sizeof *a);
	float *b = mem_zero(rows * rank, sizeof *b);
	for (size_t i = 0; i < count; i++) {
		const struct adapter_pair *pair = places[i].pair;
		size_t own = (size_t)pair->rank;
		float *low = safetensors_floats(pair->b);
		tensor_to_f32(
		    a + before * columns, pair->a->data, pair->a->dtype, pair->a->count);
		for (size_t row = 0; row < (size_t)places[i].rows; row++)
			for (size_t r = 0; r < own; r++)
				b[((size_t)places[i].to + row) * rank + before + r] =
				    (float)(pair->scale *
					    (double)
						low[((size_t)places[i].from + row) * own +
						    r]);
		before += own;
		free(low);
	}
	struct linear_pair made = { .a = nn_f32(
					adapters_copy(adapters, a, rank * columns)),
		.b = nn_f32(adapters_copy(adapters, b, rows * rank)),
		.rank = rank,
		.scale = 1 };
	free(a);
	free(b);
	return made;
}

struct linear_pair
adapter_places_pair(struct adapters *adapters, const struct adapter_place *places,
    size_t count, const struct parameter *p)
{
	const struct adapter_pair *pair = places->pair;

	if (count > 1 || places->rows != p->rows)
		return stacked(adapters, places, count, p);
	struct nn_matrix b = adapters_mapped(adapters, pair->b);
	return (struct linear_pair){ .a = adapters_mapped(adapters, pair->a),
		.b = nn_matrix_from(b, (size_t)places->from, (size_t)pair->rank),
		.rank = (size_t)pair->rank,
		.scale = (float)pair->scale };
}
