#include "model/weights.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/experts.h"
#include "model/tensor_search.h"

/* The index of a tensor, which is added if it is new; -1: an optional one is not in the file. */
static int
tensor_of(struct tensor_search *search, const char *name, struct parameter wanted,
    bool optional)
{
	struct weights *weights = search->weights;
	const struct safetensor *stored = NULL;
	int64_t shape[3];
	char *full = NULL;

	if (search->file && !(stored = tensor_search_find(search, name, &full))) {
		if (optional)
			return -1;
		die("%s: tensor '%s%s' is missing; config.json asks for it, with the shape %s",
		    safetensors_name(search->file), search->prefix, name,
		    weights_shape_text(shape, parameter_shape(shape, &wanted)));
	}
	wanted.layer = search->layer;
	if (full && search->weights->wrapper)
		tensor_search_unwrap(search, full);
	if (!full)
		full = mem_format("%s%s", wanted.predicts ? "" : search->prefix, name);
	/* parts of one tensor follow each other closely */
	for (int i = weights->count - 1; i >= 0 && i > weights->count - BLOCK_PARAMETERS;
	     i--)
		if (!strcmp(weights->tensors[i].name, full)) {
			free(full);
			return i;
		}
	wanted.name = full;
	return weights_add(weights, stored,
	    search->file ? safetensors_name(search->file) : NULL, wanted);
}

/* Whether the output matrix is not tied to the embeddings: config.json says so, or their values differ (transformers 5). */
static bool
own_output(const struct tensor_search *search)
{
	const struct safetensor *tokens = tensor_search_held_stem(search, STEM_TOKENS);
	const struct safetensor *output = tensor_search_held_stem(search, STEM_OUTPUT);

	if (!search->file || !output)
		return !search->file && search->spec->untied;
	return search->spec->untied || !tokens || !tensor_search_equal(tokens, output);
}

/* The parameters outside the blocks, from `first` on. */
static void
match_stem(struct tensor_search *search, bool predicts, int first)
{
	struct weights *weights = search->weights;

	for (int i = first; i < STEM_PARAMETERS; i++) {
		enum stem_parameter which = (enum stem_parameter)i;
		struct parameter wanted = { .expert = -1,
			.predicts = which >= STEM_MLM_DENSE,
			.floats = which == STEM_TASKS,
			.whole = which == STEM_TOKENS && !search->spec->layers };
		char room[NAME_ROOM];
		const char *name = tensor_search_name(room, search->names->stem, which);
		bool has =
		    spec_stem_shape(search->spec, which, &wanted.rows, &wanted.columns);
		weights->stem[which].tensor = -1;
		/* an untied output matrix counts, whatever config.json says */
		bool may = which == STEM_OUTPUT && search->file;
		if (!name || !(has || may) || (wanted.predicts && !predicts))
			continue;
		if (which != STEM_OUTPUT || own_output(search))
			weights->stem[which].tensor =
			    tensor_of(search, name, wanted, wanted.predicts);
	}
}

static bool
of_mlp(enum block_parameter which)
{
	return which >= BLOCK_UP && which <= BLOCK_DOWN_BIAS;
}

/* The shape of a parameter of a block, or of the upcycled token experts' MLP that replaces it. */
static bool
shape_of(const struct spec *spec, int layer, enum block_parameter which, int64_t *rows,
    int64_t *columns)
{
	if (spec->layer[layer].mixture && spec->mixture.upcycled && of_mlp(which))
		return spec_mixture_shape(
		    spec, (enum mlp_parameter)(which - BLOCK_UP), rows, columns);
	return spec_block_shape(spec, layer, which, rows, columns);
}

/* The name of a parameter after "LAYERS.LAYER."; to be freed. */
static char *
name_in_block(const struct tensor_search *search, int layer, enum block_parameter which)
{
	const struct tensor_names *names = search->names;
	const struct spec *spec = search->spec;
	const char *modules[BLOCK_PARAMETERS];
	char room[NAME_ROOM];

	memcpy(modules, names->block, sizeof modules);
	if (!spec->gated && names->plain)
		modules[BLOCK_UP] = names->plain;
	if (spec->mixture.upcycled)
		modules[BLOCK_ROUTER] = "router";
	if (spec->layer[layer].conv) {
		modules[BLOCK_Q] = names->conv_in;
		modules[BLOCK_OUT] = names->conv_out;
	}
	if (which == BLOCK_MIXTURE_BIAS)
		return mem_string(names->mixture_bias);
	const char *name = tensor_search_name(room, modules, which);
	/* the dense MLP stands beside token experts */
	if (spec->layer[layer].mixture && spec->layer[layer].inner && of_mlp(which))
		return mem_format("%s%s", spec->mixture.shared, name + strlen("mlp"));
	return mem_string(name);
}

/* The order of parameters in one tensor. */
static int
rank(const struct tensor_names *names, int which)
{
	if (names->gate_first && (which == BLOCK_UP || which == BLOCK_GATE))
		return BLOCK_UP + BLOCK_GATE - which;
	if (names->gate_first && (which == BLOCK_UP_BIAS || which == BLOCK_GATE_BIAS))
		return BLOCK_UP_BIAS + BLOCK_GATE_BIAS - which;
	return which;
}

/* Rows of the tensor of a parameter; sets `before`, the rows above the parameter. */
static int64_t
rows_together(const struct tensor_search *search, int layer, enum block_parameter which,
    int64_t *before)
{
	const struct tensor_names *names = search->names;
	int64_t all = 0, rows, columns;
	char room[NAME_ROOM], other[NAME_ROOM];

	*before = 0;
	if (!tensor_search_name(room, names->block, which)) {
		shape_of(search->spec, layer, which, &rows, &columns);
		return rows;
	}
	for (int i = 0; i < BLOCK_PARAMETERS; i++) {
		if (!tensor_search_name(other, names->block, i) || strcmp(other, room) ||
		    !shape_of(
			search->spec, layer, (enum block_parameter)i, &rows, &columns))
			continue;
		all += rows;
		*before += rank(names, i) < rank(names, which) ? rows : 0;
	}
	return all;
}

/* Matches a parameter of a block, or of the expert of that name; `wanted` lacks rows and columns. */
static struct tensor_slice
match_parameter(struct tensor_search *search, int layer, enum block_parameter which,
    const char *expert, struct parameter wanted)
{
	struct tensor_slice part;
	int64_t before;

	shape_of(search->spec, layer, which, &wanted.rows, &wanted.columns);
	char *last = name_in_block(search, layer, which);
	char *name = tensor_search_block_name(search, layer, last);
	char *full = expert ? experts_tensor(name, expert) : NULL;
	wanted.rows = rows_together(search, layer, which, &before);
	wanted.constant = wanted.frozen = which == BLOCK_FACTOR;
	if (which == BLOCK_CONV) { /* [C, 1, taps] in the file */
		wanted.stack = wanted.rows;
		wanted.floats = true;
	}
	part.tensor = tensor_of(search, full ? full : name, wanted, false);
	part.offset = (size_t)(before * (wanted.columns ? wanted.columns : 1));
	free(last);
	free(name);
	free(full);
	return part;
}

/* A block's part of a tensor of all blocks' per-layer embeddings; tensor -1: the parameter is the block's own. */
static struct tensor_slice
part_of_stem(const struct tensor_search *search, int layer, enum block_parameter which)
{
	const struct tensor_slice *stem = search->weights->stem;
	size_t size = (size_t)search->spec->layer_embedding * (size_t)search->spec->width;

	if (which == BLOCK_LAYER_IN)
		return (struct tensor_slice){ stem[STEM_LAYERS].tensor,
			(size_t)layer * size };
	return which == BLOCK_LAYER_IN_NORM ? stem[STEM_LAYERS_NORM]
					    : (struct tensor_slice){ .tensor = -1 };
}

static void
match_block(struct tensor_search *search, int layer, int expert)
{
	const struct spec *spec = search->spec;
	struct tensor_slice(*blocks)[BLOCK_PARAMETERS] = search->weights->blocks;
	size_t row = (size_t)layer * (size_t)(spec->experts ? spec->experts : 1);
	struct tensor_slice *to = blocks[row + (size_t)(expert > 0 ? expert : 0)];

	search->layer = layer;
	if (layer && spec->layer[layer].stored == spec->layer[layer - 1].stored) {
		memcpy(to, blocks[row - 1], sizeof *blocks);
		return;
	}
	for (int i = 0; i < BLOCK_PARAMETERS; i++) {
		enum block_parameter which = (enum block_parameter)i;
		bool own = experts_own(spec, layer, which);
		int64_t rows, columns;
		to[which].tensor = -1;
		if (!spec_block_shape(spec, layer, which, &rows, &columns))
			continue;
		to[which] = part_of_stem(search, layer, which);
		if (to[which].tensor >= 0)
			continue;
		if (!own && expert > 0)
			to[which] = blocks[row][which];
		else
			to[which] = match_parameter(search, layer, which,
			    own ? spec->expert_names[expert] : NULL,
			    (struct parameter){ .expert = own ? expert : -1 });
	}
}

/* Matches a matrix of an expert in the tensor of all experts of the layer. */
static struct tensor_slice
match_stacked(struct tensor_search *search, int layer, int expert,
    enum mlp_parameter which, struct parameter wanted)
{
	bool plain = which == MLP_UP && !search->spec->gated;
	const char *last = search->names->stacked[plain ? MLP_GATE : which];
	char *name = tensor_search_block_name(search, layer, last);
	struct tensor_slice part = { .offset = (size_t)(expert * wanted.rows *
							wanted.columns) };

	wanted.stack = search->spec->mixture.count;
	wanted.rows *= wanted.stack;
	wanted.flat = true;
	part.tensor = tensor_of(search, name, wanted, false);
	free(name);
	return part;
}

/* Matches a matrix of an expert in its own tensor, or in one of all experts of the layer, as transformers 5 has them:
 * experts.gate_up_proj [E, 2 I, C], the gate first, and experts.down_proj [E, C, I]. */
static struct tensor_slice
match_apart(struct tensor_search *search, int layer, int expert, enum mlp_parameter which,
    struct parameter wanted)
{
	const struct tensor_names *names = search->names;
	const struct spec_mixture *mixture = &search->spec->mixture;
	bool down = which == MLP_DOWN;
	struct tensor_slice part = { 0 };

	char *name = mem_format("%s%d.%s%d.%s.weight", names->layers, layer,
	    names->expert, expert, names->mixture[which]);
	char *stacked = mem_format("%s%d.%s%s", names->layers, layer, names->expert,
	    down ? "down_proj" : "gate_up_proj");
	if (search->file && !tensor_search_held(search, name) &&
	    tensor_search_held(search, stacked)) {
		int64_t rows = down ? wanted.rows : 2 * wanted.rows;
		int64_t before = expert * rows + (which == MLP_UP ? wanted.rows : 0);
		part.offset = (size_t)(before * wanted.columns);
		wanted.rows = mixture->count * rows;
		wanted.stack = mixture->count;
		part.tensor = tensor_of(search, stacked, wanted, false);
	} else {
		part.tensor = tensor_of(search, name, wanted, false);
	}
	free(name);
	free(stacked);
	return part;
}

/* Matches a parameter of a token expert: named as the dense MLP's with the expert's number (upcycled), or by the family. */
static struct tensor_slice
match_mixture(
    struct tensor_search *search, int layer, int expert, enum mlp_parameter which)
{
	struct parameter wanted = { .expert = -1 };
	char number[16];

	if (!spec_mixture_shape(search->spec, which, &wanted.rows, &wanted.columns))
		return (struct tensor_slice){ .tensor = -1 };
	if (search->spec->mixture.upcycled) {
		snprintf(number, sizeof number, "%d", expert);
		return match_parameter(search, layer,
		    (enum block_parameter)(BLOCK_UP + which), number, wanted);
	}
	return search->names->stacked[MLP_UP]
		   ? match_stacked(search, layer, expert, which, wanted)
		   : match_apart(search, layer, expert, which, wanted);
}

static void
match_layer(struct tensor_search *search, int layer)
{
	const struct spec *spec = search->spec;

	search->layer = layer;
	for (int expert = 0; expert < spec->mixture.count; expert++)
		for (int i = 0; i < MLP_PARAMETERS; i++) {
			struct tensor_slice *to =
			    &search->weights
				 ->mixtures[layer * spec->mixture.count + expert][i];
			to->tensor = -1;
			if (spec->layer[layer].mixture)
				*to = match_mixture(
				    search, layer, expert, (enum mlp_parameter)i);
		}
}

void
weights_match(struct weights *weights, const struct spec *spec,
    const struct safetensors *file, bool predicts)
{
	struct tensor_search search = { weights, spec, file, spec->names,
		spec->names->prefixes[0], -1 };
	size_t layers = (size_t)spec->layers, count = (size_t)spec->mixture.count;
	int experts = spec->experts ? spec->experts : 1;

	*weights = (struct weights){ 0 };
	weights->blocks = mem_zero(layers * (size_t)experts, sizeof *weights->blocks);
	weights->mixtures =
	    count ? mem_zero(layers * count, sizeof *weights->mixtures) : NULL;
	if (file)
		tensor_search_choose_names(&search);
	else if (spec->names->init_prefix)
		search.prefix = spec->names->init_prefix;
	if (count && !spec->mixture.upcycled && !search.names->stacked[MLP_UP] &&
	    !search.names->expert)
		die("%s: has the names of transformers 5, which has no token experts in such a model",
		    safetensors_name(file));
	match_stem(&search, predicts, 0);
	for (int layer = 0; layer < spec->layers; layer++)
		for (int expert = 0; expert < experts; expert++)
			match_block(&search, layer, spec->experts ? expert : -1);
	for (int layer = 0; layer < spec->layers; layer++)
		match_layer(&search, layer);
	weights->own = weights->count;
	weights->names = search.names;
	weights->prefix = tensor_search_written_prefix(&search);
	if (file && safetensors_count(file) != weights->count)
		tensor_search_judge_extra(&search, predicts);
}

const char *
weights_prefix(const struct weights *weights)
{
	return weights->wrapper ? weights->wrapper : weights->prefix;
}

/* A search by the names that weights_match found. */
static struct tensor_search
search_again(
    struct weights *weights, const struct spec *spec, const struct safetensors *file)
{
	return (struct tensor_search){ weights, spec, file, weights->names,
		weights_prefix(weights), -1 };
}

void
weights_match_prediction(
    struct weights *weights, const struct spec *spec, const struct safetensors *file)
{
	struct tensor_search search = search_again(weights, spec, file);

	match_stem(&search, true, STEM_MLM_DENSE);
}

const struct safetensor *
weights_output(
    struct weights *weights, const struct spec *spec, const struct safetensors *file)
{
	struct tensor_search search = search_again(weights, spec, file);
	const struct safetensor *found = tensor_search_held_stem(
	    &search, own_output(&search) ? STEM_OUTPUT : STEM_TOKENS);
	if (!found || (spec->untied && !tensor_search_held_stem(&search, STEM_OUTPUT)))
		die("%s: has no output matrix ('%s.weight')", safetensors_name(file),
		    search.names->stem[STEM_OUTPUT]);
	return found;
}

bool
weights_fused(const struct weights *weights)
{
	const struct tensor_slice *first = weights->blocks[0];

	return first[BLOCK_Q].tensor == first[BLOCK_K].tensor &&
	       first[BLOCK_Q].tensor == first[BLOCK_V].tensor;
}

static void
free_extra(struct weights *weights)
{
	for (int i = 0; i < weights->extra_count; i++)
		free((char *)weights->extra[i].name);
	free(weights->extra);
	weights->extra = NULL;
	weights->extra_count = 0;
}

void
weights_free(struct weights *weights)
{
	free_extra(weights);
	for (int i = 0; i < weights->count; i++)
		free((char *)weights->tensors[i].name);
	free(weights->tensors);
	free(weights->stored);
	free(weights->blocks);
	free(weights->mixtures);
	free(weights->wrapper);
}

const char *
weights_classifier_prefix(const struct weights *weights)
{
	const char *const *prefix = weights->names->prefixes;

	if (*weights->prefix)
		return weights->prefix;
	while (*prefix && !**prefix)
		prefix++;
	return *prefix ? *prefix : "";
}

void
weights_of_classifier(struct weights *weights)
{
	const char *prefix = weights_classifier_prefix(weights);

	free_extra(weights);
	for (int i = 0; i < weights->own && !*weights->prefix; i++) {
		const char **name = &weights->tensors[i].name;
		char *whole = mem_format("%s%s", prefix, *name);
		free((char *)*name);
		*name = whole;
	}
}
