/* What a checkpoint calls its tensors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/weights_internal.h"

size_t
search_outer_prefix(const char *prefix, size_t length)
{
	do
		length--;
	while (length && prefix[length - 1] != '.');
	return length;
}

const struct safetensor *
search_find(const struct search *search, const char *name, char **full)
{
	/* older spellings; then heads, which stand outside of what the prefix names */
	static const char *const spellings[][2] = { { "", "" }, { ".weight", ".gamma" },
		{ ".bias", ".beta" }, { ".weight", WEIGHTS_BESIDE "original" },
		{ "transform.layer_norm.", "transform.LayerNorm." },
		{ "predictions.decoder.bias", "predictions.bias" },
		{ "lm_head.decoder.bias", "lm_head.bias" },
		{ "embedding.weight", "embeddings" } };

	for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
		const char *at = strstr(name, spellings[i][0]);
		if (!at)
			continue;
		for (size_t length = strlen(search->prefix);;
		     length = search_outer_prefix(search->prefix, length)) {
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
search_held(const struct search *search, const char *name)
{
	char *full = NULL;
	const struct safetensor *tensor =
	    search->file ? search_find(search, name, &full) : NULL;

	free(full);
	return tensor;
}

const char *
search_name(char room[NAME_ROOM], const char *const *modules, int which)
{
	bool weight = modules[which];

	if (!weight && (!which || !modules[which - 1]))
		return NULL;
	snprintf(room, NAME_ROOM, "%s.%s", modules[weight ? which : which - 1],
	    weight ? "weight" : "bias");
	return room;
}

const struct safetensor *
search_held_stem(const struct search *search, enum stem_parameter which)
{
	char room[NAME_ROOM];

	return search_held(search, search_name(room, search->names->stem, which));
}

char *
search_block_name(const struct search *search, int layer, const char *last)
{
	const char *inner = search->names->inner ? search->names->inner : "";

	return mem_format("%s%d.%s%s", search->names->layers,
	    search->spec->layer[layer].stored, inner, last);
}

/* Of a wrapper's prefix, what stands before one of the family's: "module." of "module.bert.". */
static size_t
foreign_length(const struct search *search)
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
search_written_prefix(const struct search *search)
{
	return search->prefix + foreign_length(search);
}

void
search_unwrap(const struct search *search, char *name)
{
	size_t length = foreign_length(search);

	while (length && strncmp(name, search->prefix, length))
		length = search_outer_prefix(search->prefix, length);
	memmove(name, name + length, strlen(name) - length + 1);
}

bool
search_equal(const struct safetensor *a, const struct safetensor *b)
{
	return a->dtype == b->dtype && a->count == b->count &&
	       !memcmp(a->data, b->data, a->count * dtype_size(a->dtype));
}

/* Whether the file has embeddings that these names are not for. */
static bool
differs(const struct search *search)
{
	const char *name = search->names->unless;
	const struct safetensor *own = name ? search_held(search, name) : NULL;

	return own && !search_equal(own, search_held_stem(search, STEM_TOKENS));
}

/* "PREFIX" of a name that is PREFIX and `last`, to be freed; NULL: it is another. */
static char *
prefix_of(const char *name, const char *last)
{
	size_t length = strlen(name), n = strlen(last);

	if (length <= n || strcmp(name + length - n, last) || name[length - n - 1] != '.')
		return NULL;
	return mem_format("%.*s", (int)(length - n), name);
}

/* Whether the file has tensors of these names, the first block's queries and the tokens' embeddings, under one prefix
 * that no family knows: that of a wrapper, such as "module." of torch's DataParallel or "0.auto_model." of a whole
 * sentence-transformers model. */
static bool
find_wrapper(struct search *search, const char *queries)
{
	char room[NAME_ROOM];
	const char *tokens = search_name(room, search->names->stem, STEM_TOKENS);
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

/* The weight of the first block's queries, without the prefix; to be freed. */
static char *
queries_of(const struct search *search)
{
	char *module = search_block_name(search, 0, search->names->block[BLOCK_Q]);
	char *weight = mem_format("%s.weight", module);

	free(module);
	return weight;
}

/* Whether the file has names of one of the family's prefixes. */
static bool
find_prefix(struct search *search, const char *queries)
{
	for (const char *const *prefix = search->names->prefixes; *prefix; prefix++) {
		search->prefix = *prefix;
		if (search_held_stem(search, STEM_TOKENS) &&
		    search_held(search, queries) && !differs(search))
			return true;
	}
	return false;
}

void
search_choose_names(struct search *search)
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
