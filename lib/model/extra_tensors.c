/* Tensors of a checkpoint that are no parameters. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/tensor_search.h"

static bool
starts_with(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

/* Whether the tensor is of a head for another task, or of a pooler. */
static bool
of_head(const struct tensor_search *search, const char *name)
{
	for (size_t length = strlen(search->prefix);;
	     length = tensor_search_outer_prefix(search->prefix, length)) {
		const char *const *head = search->names->heads;
		while (*head && (strncmp(name, search->prefix, length) ||
				    !starts_with(name + length, *head)))
			head++;
		if (*head)
			return true;
		if (!length)
			break;
	}
	return false;
}

/* Whether the tensor is a table that follows from config.json. */
static bool
follows(const char *name)
{
	const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;

	return !strcmp(last, "position_ids") || !strcmp(last, "inv_freq");
}

/* Whether the tensor is A or B of a task's LoRA, of a tensor that the file has. */
static bool
of_lora(const struct tensor_search *search, const char *name)
{
	const char *at = strstr(name, WEIGHTS_BESIDE "0.lora_");
	bool found = false;

	if (at && search->spec->loras) {
		char *original =
		    mem_format("%.*s" WEIGHTS_BESIDE "original", (int)(at - name), name);
		found = safetensors_find(search->file, original);
		free(original);
	}
	return found;
}

/* Whether the tensor's block is beyond config.json's number of blocks. */
static bool
beyond(const struct tensor_search *search, const char *name)
{
	const char *layers = search->names->layers;
	const struct spec *spec = search->spec;
	int last = spec->layers ? spec->layer[spec->layers - 1].stored : -1;

	return starts_with(name, layers) &&
	       strtol(name + strlen(layers), NULL, 10) > last;
}

/* Whether the tensor repeats a parameter under another name: kept, it would not learn with the parameter. */
static bool
repeats(const struct tensor_search *search, const struct safetensor *tensor)
{
	static const enum stem_parameter tied[] = { STEM_TOKENS, STEM_OUTPUT,
		STEM_OUTPUT_BIAS };
	const struct weights *weights = search->weights;

	for (size_t i = 0; i < sizeof tied / sizeof *tied; i++) {
		int own = weights->stem[tied[i]].tensor;
		if (own >= 0 && tensor_search_equal(tensor, weights->stored[own]))
			return true;
	}
	return false;
}

static void
keep(const struct tensor_search *search, const struct safetensor *tensor)
{
	struct weights *weights = search->weights;
	char *name = mem_string(tensor->name);

	weights->extra = mem_resize(
	    weights->extra, (size_t)weights->extra_count + 1, sizeof *weights->extra);
	tensor_search_unwrap(search, name);
	weights->extra[weights->extra_count] = *tensor;
	weights->extra[weights->extra_count++].name = name;
}

void
tensor_search_judge_extra(const struct tensor_search *search, bool written)
{
	const struct weights *weights = search->weights;
	const char *file = safetensors_name(search->file), *example = NULL;
	int extra = 0;

	for (int i = 0; i < safetensors_count(search->file); i++) {
		const struct safetensor *tensor = safetensors_at(search->file, i);
		const char *name = tensor->name;
		int j = 0;
		while (j < weights->count && weights->stored[j] != tensor)
			j++;
		bool head = search->spec->beside && !strcmp(name, search->spec->beside);
		if (j < weights->count || head || of_lora(search, name) || follows(name))
			continue;
		if (of_head(search, name)) {
			if (!written || !repeats(search, tensor))
				keep(search, tensor);
			continue;
		}
		if (starts_with(name, search->prefix))
			name += strlen(search->prefix);
		if (!beyond(search, name))
			die("%s: tensor '%s' is not supported for such a model, and embeddings may depend on it; take it out if they do not",
			    file, tensor->name);
		extra++;
		example = tensor->name;
	}
	if (extra)
		warn(
		    "%s: %d tensors are not used, '%s' for one; does config.json belong to them?",
		    file, extra, example);
}
