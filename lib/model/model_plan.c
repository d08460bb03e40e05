/* The tensors of a checkpoint and the parameters of a specification, matched. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/experts.h"
#include "model/model_internal.h"

/* What plan_make works with. */
struct search {
	struct plan *plan;
	const struct safetensors *file;
	const char *name;   /* of the file, for messages */
	const char *prefix; /* of the checkpoint's names */
};

static const struct safetensor *
find(const struct search *search, const char *name, char **full)
{
	/* older spellings; then heads, which have no prefix */
	static const char *const spellings[][2] = { { "", "" }, { ".weight", ".gamma" },
		{ ".bias", ".beta" },
		{ "transform.layer_norm.", "transform.LayerNorm." } };

	for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
		const char *at = strstr(name, spellings[i][0]);
		if (!at)
			continue;
		for (int bare = 0; bare < 2; bare++) {
			char *other = mem_format("%s%.*s%s%s", bare ? "" : search->prefix,
			    (int)(at - name), name, spellings[i][1],
			    at + strlen(spellings[i][0]));
			const struct safetensor *tensor =
			    safetensors_find(search->file, other);
			if (tensor) {
				*full = other;
				return tensor;
			}
			free(other);
		}
	}
	return NULL;
}

/* "[2, 3]" */
static char *
shape_text(const int64_t *shape, int rank)
{
	char text[256] = "[";
	size_t n = 1;

	for (int i = 0; i < rank && n < sizeof text - 24; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%lld", i ? ", " : "",
		    (long long)shape[i]);
	return mem_format("%s]", text);
}

int
plan_shape(int64_t *shape, const struct parameter *tensor)
{
	int rank = 0;

	if (tensor->stack)
		shape[rank++] = tensor->stack;
	shape[rank++] = tensor->stack ? tensor->rows / tensor->stack : tensor->rows;
	if (tensor->columns)
		shape[rank++] = tensor->columns;
	return rank;
}

static void
check_tensor(
    const char *file, const struct safetensor *tensor, const struct parameter *wanted)
{
	int64_t shape[3];
	int rank = plan_shape(shape, wanted);

	if (tensor->rank != rank ||
	    memcmp(tensor->shape, shape, (size_t)rank * sizeof *shape))
		die("%s: tensor '%s' has the shape %s; config.json asks for %s", file,
		    tensor->name, shape_text(tensor->shape, tensor->rank),
		    shape_text(shape, rank));
	if (!dtype_is_float(tensor->dtype))
		die("%s: tensor '%s' is of type %s; a floating type is expected", file,
		    tensor->name, dtype_name(tensor->dtype));
}

int
plan_add(struct plan *plan, const struct safetensor *stored, const char *file,
    struct parameter wanted)
{
	int index = plan->count++;
	size_t count = (size_t)plan->count;

	if (stored)
		check_tensor(file, stored, &wanted);
	wanted.offset = plan->size;
	wanted.count = mem_multiply((size_t)wanted.rows,
	    wanted.columns ? (size_t)wanted.columns : 1, wanted.name);
	wanted.decay = wanted.rows > 1 && wanted.columns > 1;
	plan->tensors =
	    mem_grow(plan->tensors, &plan->room, count, sizeof *plan->tensors);
	plan->stored =
	    mem_grow(plan->stored, &plan->stored_room, count, sizeof *plan->stored);
	plan->stored[index] = stored;
	plan->tensors[index] = wanted;
	plan->size = mem_add(plan->size, (wanted.count + 15) & ~(size_t)15, "parameters");
	return index;
}

/* The tensor's number in the plan; it is added when it is new.  -1: it is not in the file,
 * and need not be. */
static int
tensor_of(struct search *search, const char *name, struct parameter wanted, bool optional)
{
	struct plan *plan = search->plan;
	const struct safetensor *stored = NULL;
	int64_t shape[3];
	char *full = NULL;

	if (search->file && !(stored = find(search, name, &full))) {
		if (optional)
			return -1;
		die("%s: tensor '%s%s' is missing; config.json asks for it, with the "
		    "shape %s",
		    search->name, search->prefix, name,
		    shape_text(shape, plan_shape(shape, &wanted)));
	}
	if (!full)
		full = mem_string(name);
	/* parts of one tensor follow each other closely */
	for (int i = plan->count - 1; i >= 0 && i > plan->count - BLOCK_PARAMETERS; i--)
		if (!strcmp(plan->tensors[i].name, full)) {
			free(full);
			return i;
		}
	wanted.name = full;
	return plan_add(plan, stored, search->name, wanted);
}

static struct binding
bind(struct search *search, const struct place *place, const char *expert_name,
    int expert, int64_t rows, int64_t columns, bool optional)
{
	struct parameter wanted = { .rows =
					place->tensor_rows ? place->tensor_rows : rows,
		.columns = columns,
		.stack = place->stack,
		.expert = expert };
	char *name = expert_name ? experts_tensor(place->name, expert_name)
				 : mem_string(place->name);
	struct binding binding = { .tensor = tensor_of(search, name, wanted, optional) };

	binding.offset = (size_t)(place->first_row * (columns ? columns : 1));
	free(name);
	return binding;
}

static void
bind_stem(struct search *search, const struct spec *spec, const struct family *family,
    enum model_mode mode)
{
	struct plan *plan = search->plan;

	for (int which = 0; which < STEM_PARAMETERS; which++) {
		int64_t rows, columns;
		struct place place = { .name = "" };
		bool mlm = which >= STEM_MLM_DENSE;
		bool has =
		    spec_stem_shape(spec, (enum stem_parameter)which, &rows, &columns);
		plan->stem[which].tensor = -1;
		/* a bias of the head that the configuration leaves open is taken when it is there */
		if (mlm ? mode == MODEL_ENCODE || (!has && !search->file) : !has)
			continue;
		family->stem(spec, (enum stem_parameter)which, &place);
		if (!*place.name)
			continue;
		struct binding *to = &plan->stem[which];
		*to = bind(search, &place, NULL, -1, rows, columns, mlm);
		if (to->tensor >= 0)
			plan->tensors[to->tensor].mlm = mlm;
	}
}

static void
bind_block(struct search *search, const struct spec *spec, const struct family *family,
    int layer, int expert)
{
	struct plan *plan = search->plan;
	size_t row = (size_t)layer * (size_t)(spec->experts ? spec->experts : 1);
	struct binding *to = plan->blocks[row + (size_t)(expert > 0 ? expert : 0)];

	for (int i = 0; i < BLOCK_PARAMETERS; i++) {
		enum block_parameter which = (enum block_parameter)i;
		int64_t rows, columns;
		struct place place = { .name = "" };
		bool own = experts_own(spec, layer, which);
		to[which].tensor = -1;
		if (!spec_block_shape(spec, layer, which, &rows, &columns))
			continue;
		if (!own && expert > 0) {
			to[which] = plan->blocks[row][which];
			continue;
		}
		family->block(spec, layer, which, &place);
		to[which] = bind(search, &place, own ? spec->expert_names[expert] : NULL,
		    own ? expert : -1, rows, columns, false);
	}
}

static bool
holds(const struct search *search, const struct place *place)
{
	char *full = NULL;
	bool is = search->file && find(search, place->name, &full);

	free(full);
	return is;
}

/* Where all experts of a layer are one tensor, as transformers 5 has them in memory:
 * experts.gate_up_proj [E, 2 I, C], the gate first, and experts.down_proj [E, C, I]. */
static void
stack_experts(const struct search *search, const struct spec *spec, int expert,
    enum mixture_parameter which, struct place *place)
{
	const char *part = which == MIXTURE_DOWN ? "down_proj" : "gate_up_proj";
	int64_t rows =
	    which == MIXTURE_DOWN ? spec->width : 2 * (int64_t)spec->mixture.inner;
	const char *at = strstr(place->name, ".experts.");
	struct place stacked;

	if (!at || holds(search, place))
		return;
	place_at(&stacked, "%.*s.experts.%s", (int)(at - place->name), place->name, part);
	if (!holds(search, &stacked))
		return;
	stacked.first_row =
	    expert * rows + (which == MIXTURE_UP ? spec->mixture.inner : 0);
	stacked.tensor_rows = spec->mixture.count * rows;
	stacked.stack = spec->mixture.count;
	*place = stacked;
}

static void
bind_mixture(struct search *search, const struct spec *spec, const struct family *family,
    int layer, int expert)
{
	struct plan *plan = search->plan;
	struct binding *to = plan->experts[layer * spec->mixture.count + expert];

	for (int i = 0; i < MIXTURE_PARAMETERS; i++) {
		enum mixture_parameter which = (enum mixture_parameter)i;
		int64_t rows, columns;
		struct place place = { .name = "" };
		to[which].tensor = -1;
		if (!spec->layer[layer].mixture)
			continue;
		spec_mixture_shape(spec, which, &rows, &columns);
		family->mixture(spec, layer, expert, which, &place);
		stack_experts(search, spec, expert, which, &place);
		to[which] = bind(search, &place, NULL, -1, rows, columns, false);
	}
}

/* Tensors that no model here needs, and that are no sign of a mistake. */
static bool
known_extra(const char *name)
{
	static const char *const parts[] = { "cls.", "pooler.", "position_ids",
		"inv_freq", "head.", "classifier.", "decoder.", "score.", NULL };

	for (const char *const *part = parts; *part; part++)
		if (strstr(name, *part))
			return true;
	return false;
}

static void
report_extra(const struct search *search)
{
	const struct plan *plan = search->plan;
	int extra = 0;
	const char *example = NULL;

	if (safetensors_count(search->file) == plan->count)
		return;
	for (int i = 0; i < safetensors_count(search->file); i++) {
		const struct safetensor *tensor = safetensors_at(search->file, i);
		int j = 0;
		while (j < plan->count && plan->stored[j] != tensor)
			j++;
		if (j < plan->count || known_extra(tensor->name))
			continue;
		extra++;
		example = tensor->name;
	}
	if (extra)
		warn("%s: %d tensors are not used, '%s' for one; does config.json belong "
		     "to them?",
		    search->name, extra, example);
}

/* The names and the prefix that the file uses; the first ones when it uses none. */
static const struct family *
names_of(struct search *search, const struct spec *spec, const struct family *family)
{
	struct place tokens, queries;

	for (const struct family *names = family; names; names = names->otherwise)
		for (const char *const *prefix = names->prefixes; *prefix; prefix++) {
			search->prefix = *prefix;
			names->stem(spec, STEM_TOKENS, &tokens);
			names->block(spec, 0, BLOCK_Q, &queries);
			if (holds(search, &tokens) && holds(search, &queries))
				return names;
		}
	search->prefix = family->prefixes[0];
	return family;
}

/* Whether q, k and v are one tensor. */
static bool
fused(const struct plan *plan)
{
	const struct binding *first = plan->blocks[0];

	return first[BLOCK_Q].tensor == first[BLOCK_K].tensor &&
	       first[BLOCK_Q].tensor == first[BLOCK_V].tensor;
}

void
plan_make(struct plan *plan, const struct spec *spec, const struct family *family,
    const struct safetensors *file, const char *name, enum model_mode mode)
{
	struct search search = { plan, file, name, family->prefixes[0] };
	int experts = spec->experts ? spec->experts : 1;

	*plan = (struct plan){ 0 };
	plan->blocks =
	    mem_zero((size_t)spec->layers * (size_t)experts, sizeof *plan->blocks);
	if (file)
		family = names_of(&search, spec, family);
	bind_stem(&search, spec, family, mode);
	for (int layer = 0; layer < spec->layers; layer++)
		for (int expert = 0; expert < experts; expert++)
			bind_block(
			    &search, spec, family, layer, spec->experts ? expert : -1);
	plan->fused = fused(plan);
	if (spec->mixture.count)
		plan->experts =
		    mem_zero((size_t)spec->layers * (size_t)spec->mixture.count,
			sizeof *plan->experts);
	for (int layer = 0; layer < spec->layers; layer++)
		for (int expert = 0; expert < spec->mixture.count; expert++)
			bind_mixture(&search, spec, family, layer, expert);
	plan->own = plan->count;
	if (file)
		report_extra(&search);
}

void
plan_free(struct plan *plan)
{
	for (int i = 0; i < plan->count; i++)
		free((char *)plan->tensors[i].name);
	free(plan->tensors);
	free(plan->stored);
	free(plan->blocks);
	free(plan->experts);
}
