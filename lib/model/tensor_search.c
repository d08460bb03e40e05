#include "model/tensor_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

size_t
tensor_search_outer_prefix(const char *prefix, size_t length)
{
	do
		length--;
	while (length && prefix[length - 1] != '.');
	return length;
}

const struct safetensor *
tensor_search_find(const struct tensor_search *search, const char *name, char **full)
{
	/* older spellings; heads may stand outside of the prefix */
	static const char *const spellings[][2] = { { "", "" }, { ".weight", ".gamma" },
		{ ".bias", ".beta" }, { ".weight", WEIGHTS_BESIDE "original" },
		{ "transform.layer_norm.", "transform.LayerNorm." },
		{ "predictions.decoder.bias", "predictions.bias" },
		{ "lm_head.decoder.bias", "lm_head.bias" },
		{ "latents.weight", "latents" },
		{ "layer_scalar.weight", "layer_scalar" },
		{ "embedding.weight", "embeddings" }, { "embedding.weight", "weight" } };

	for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
		const char *at = strstr(name, spellings[i][0]);
		if (!at)
			continue;
		for (size_t length = strlen(search->prefix);;
		     length = tensor_search_outer_prefix(search->prefix, length)) {
			char *other = mem_format("%.*s%.*s%s%s", (int)length,
			    search->prefix, (int)(at - name), name, spellings[i][1],
			    at + strlen(spellings[i][0]));
			const struct safetensor *tensor =
			    safetensors_find(search->file, other);
			if (tensor) {
				*full = other;
				return tensor;
			}
			free(other);
			if (!length)
				break;
		}
	}
	return NULL;
}

const struct safetensor *
tensor_search_held(const struct tensor_search *search, const char *name)
{
	char *full = NULL;
	const struct safetensor *tensor =
	    search->file ? tensor_search_find(search, name, &full) : NULL;

	free(full);
	return tensor;
}

const char *
tensor_search_name(char room[NAME_ROOM], const char *const *modules, int which)
{
	bool weight = modules[which];

	if (!weight && (!which || !modules[which - 1]))
		return NULL;
	snprintf(room, NAME_ROOM, "%s.%s", modules[weight ? which : which - 1],
	    weight ? "weight" : "bias");
	return room;
}

const struct safetensor *
tensor_search_held_stem(const struct tensor_search *search, enum stem_parameter which)
{
	char room[NAME_ROOM];

	return tensor_search_held(
	    search, tensor_search_name(room, search->names->stem, which));
}

char *
tensor_search_block_name(const struct tensor_search *search, int layer, const char *last)
{
	const char *inner = search->names->inner ? search->names->inner : "";

	return mem_format("%s%d.%s%s", search->names->layers,
	    search->spec->layer[layer].stored, inner, last);
}

/* Length of a wrapper's prefix before one of the family's: of "module." in "module.bert.". */
static size_t
foreign_length(const struct tensor_search *search)
{
	const char *wrapper = search->weights->wrapper;
	size_t length = wrapper ? strlen(wrapper) : 0, found = length;

	for (const char *const *own = search->names->prefixes; *own; own++) {
		size_t n = strlen(*own);
		if (n < length && !strcmp(wrapper + length - n, *own) &&
		    wrapper[length - n - 1] == '.' && length - n < found)
			found = length - n;
	}
	return found;
}

const char *
tensor_search_written_prefix(const struct tensor_search *search)
{
	return search->prefix + foreign_length(search);
}

void
tensor_search_unwrap(const struct tensor_search *search, char *name)
{
	size_t length = foreign_length(search);

	while (length && strncmp(name, search->prefix, length))
		length = tensor_search_outer_prefix(search->prefix, length);
	memmove(name, name + length, strlen(name) - length + 1);
}

bool
tensor_search_equal(const struct safetensor *a, const struct safetensor *b)
{
	return a->dtype == b->dtype && a->count == b->count &&
	       !memcmp(a->data, b->data, safetensors_bytes(a));
}

/* Whether the names do not apply to the file (tensor_names.unless). */
static bool
differs(const struct tensor_search *search)
{
	const char *name = search->names->unless;
	const struct safetensor *own = name ? tensor_search_held(search, name) : NULL;

	return own &&
	       !tensor_search_equal(own, tensor_search_held_stem(search, STEM_TOKENS));
}

/* The part of a name before `last`, to be freed; NULL: the name does not end in it. */
static char *
prefix_of(const char *name, const char *last)
{
	size_t length = strlen(name), n = strlen(last);

	if (length <= n || strcmp(name + length - n, last) || name[length - n - 1] != '.')
		return NULL;
	return mem_format("%.*s", (int)(length - n), name);
}

/* Finds the first block's queries and the tokens' embeddings under one prefix that no family has: a wrapper's, such as
 * "module." of torch's DataParallel or "0.auto_model." of a sentence-transformers model. */
static bool
find_wrapper(struct tensor_search *search, const char *queries)
{
	char room[NAME_ROOM];
	const char *tokens = tensor_search_name(room, search->names->stem, STEM_TOKENS);
	char *found = NULL;

	for (int i = 0; i < safetensors_count(search->file); i++) {
		char *prefix = prefix_of(safetensors_at(search->file, i)->name, queries);
		char *beside = mem_format("%s%s", prefix ? prefix : "", tokens);
		bool both = prefix && safetensors_find(search->file, beside);
		if (both && found)
			die("%s: has two such models, with the names '%s...' and '%s...'; take one out",
			    safetensors_name(search->file), found, prefix);
		if (both)
			found = prefix;
		else
			free(prefix);
		free(beside);
	}
	if (!found)
		return false;
	search->prefix = found;
	if (differs(search)) {
		free(found);
		return false;
	}
	inform("%s: the names of its tensors begin with '%s'",
	    safetensors_name(search->file), found);
	search->weights->wrapper = found;
	return true;
}

/* The name of the first block's query weights, without the prefix; to be freed. */
static char *
queries_of(const struct tensor_search *search)
{
	const struct tensor_names *names = search->names;
	bool conv = search->spec->layer[0].conv && names->conv_in;
	char *module = tensor_search_block_name(
	    search, 0, conv ? names->conv_in : names->block[BLOCK_Q]);
	char *weight = mem_format("%s.weight", module);

	free(module);
	return weight;
}

/* Finds the prefix of the family that the file has. */
static bool
find_prefix(struct tensor_search *search, const char *queries)
{
	for (const char *const *prefix = search->names->prefixes; *prefix; prefix++) {
		search->prefix = *prefix;
		if (tensor_search_held_stem(search, STEM_TOKENS) &&
		    tensor_search_held(search, queries) && !differs(search))
			return true;
	}
	return false;
}

void
tensor_search_choose_names(struct tensor_search *search)
{
	const struct tensor_names *first = search->names;
	bool found = !search->spec->layers;

	for (int wrapped = 0; !found && wrapped < 2; wrapped++)
		for (search->names = first; search->names && !found;
		     search->names = found ? search->names : search->names->otherwise) {
			char *queries = queries_of(search);
			found = wrapped ? find_wrapper(search, queries)
					: find_prefix(search, queries);
			free(queries);
		}
	if (found)
		return;
	search->names = first;
	search->prefix = first->prefixes[0];
}
