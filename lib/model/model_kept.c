/* Files beside the weights that keep what opening a folder made of them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/model_internal.h"

/* Under which name such a file says what it was made of. */
static const char note[] = "int8_of";

struct kept {
	char *path, *of;
	struct safetensors *file; /* NULL: there is none that can be used */
};

struct kept *
kept_open(const struct model *model, const char *name, const char *of, bool renew)
{
	struct kept *kept = mem_zero(1, sizeof *kept);

	kept->path = mem_format("%s/%s", model->folder, name);
	kept->of = mem_string(of);
	if (access(kept->path, F_OK))
		return kept;
	kept->file = safetensors_open(kept->path);
	of = safetensors_note(kept->file, note);
	if (of && !strcmp(of, kept->of))
		return kept;
	size_t weights = strcspn(kept->of, " ");
	warn("%s: was not made of the weights of %s%s; %s", kept->path, model->dir,
	    of && !strncmp(of, kept->of, weights) ? " for a program like this one" : "",
	    renew ? "it is made anew" : "it is not used (--weights-cache makes it anew)");
	safetensors_close(kept->file);
	kept->file = NULL;
	return kept;
}

const char *
kept_file(const struct kept *kept)
{
	return kept->file ? kept->path : NULL;
}

const void *
kept_find(const struct kept *kept, const struct safetensor *wanted)
{
	const struct safetensor *tensor = safetensors_need(kept->file, wanted->name);

	if (tensor->dtype != wanted->dtype || tensor->rank != wanted->rank ||
	    memcmp(tensor->shape, wanted->shape,
		(size_t)wanted->rank * sizeof *wanted->shape) != 0)
		die("%s: tensor '%s' is not the rows that are expected; remove the file",
		    kept->path, wanted->name);
	return tensor->data;
}

struct safetensors_writer *
kept_begin(const struct kept *kept, const struct safetensor *tensors, int count)
{
	return safetensors_create(kept->path, tensors, count, note, kept->of);
}

void
kept_finish(struct kept *kept, struct safetensors_writer *writer)
{
	safetensors_finish(writer);
	kept->file = safetensors_open(kept->path);
}

void
kept_inform(const struct model *model, const struct kept *kept, size_t bytes)
{
	inform("%s: %zu MB of weights in eight bits, %s %s", model->dir, bytes >> 20,
	    kept->file ? "mapped from" : "not kept in", kept->path);
}

void
kept_close(struct kept *kept)
{
	if (!kept)
		return;
	safetensors_close(kept->file);
	free(kept->path);
	free(kept->of);
	free(kept);
}
