#include "model/weights_cache.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/lock.h"
#include "base/mem.h"
#include "folder/fingerprint.h"
#include "model/model_struct.h"

/* The metadata key that says what the file was made of. */
static const char note[] = "int8_of";

struct weights_cache {
	char *path, *of;
	const struct safetensors *weights; /* borrowed */
	struct safetensors *file;	   /* NULL: there is none that can be used */
	struct lock *lock;		   /* while it is made; NULL: it is not */
};

/* The value of that key: made_of; the weights' sizes and times; their hash. */
static char *
describe(const struct weights_cache *kept)
{
	char *state = safetensors_state(kept->weights);
	char *text = mem_format(
	    "%s; %s; %016" PRIx64, kept->of, state, fingerprint_whole(kept->weights));

	free(state);
	return text;
}

/* Weights whose files have other times are hashed in whole: the fingerprint that made_of begins with need not cover all
 * values. */
static bool
is_of(const struct weights_cache *kept, const char *made)
{
	char *state = safetensors_state(kept->weights);
	char *start = mem_format("%s; %s; ", kept->of, state);
	bool same = !strncmp(made, start, strlen(start));

	free(start);
	free(state);
	if (!same && !strncmp(made, kept->of, strlen(kept->of))) {
		const char *hash = strrchr(made, ' ');
		char *ours = mem_format(" %016" PRIx64, fingerprint_whole(kept->weights));
		same = hash && !strcmp(hash, ours);
		free(ours);
	}
	return same;
}

/* Opens the file if it exists and was made of the weights. */
static void
use(struct weights_cache *kept, const char *dir, bool renew)
{
	if (access(kept->path, F_OK))
		return;
	kept->file = safetensors_open(kept->path);
	const char *of = safetensors_note(kept->file, note);
	if (of && is_of(kept, of))
		return;
	size_t weights = strcspn(kept->of, " ");
	warn("%s: was not made of the weights of %s%s; %s", kept->path, dir,
	    of && !strncmp(of, kept->of, weights) ? " for a program like this one" : "",
	    renew ? "it is made anew" : "it is not used (--weights-cache makes it anew)");
	safetensors_close(kept->file);
	kept->file = NULL;
}

struct weights_cache *
weights_cache_open(
    const struct model *model, const char *name, const char *of, bool renew)
{
	struct weights_cache *kept = mem_zero(1, sizeof *kept);

	kept->path = mem_format("%s/%s", model->folder, name);
	kept->of = mem_string(of);
	kept->weights = model->file;
	use(kept, model->dir, renew);
	if (!renew || kept->file)
		return kept;
	bool waited;
	kept->lock = lock_wait(kept->path, &waited);
	if (waited)
		use(kept, model->dir, renew);
	if (kept->file) {
		lock_end(kept->lock);
		kept->lock = NULL;
	}
	return kept;
}

const char *
weights_cache_path(const struct weights_cache *kept)
{
	return kept->file ? kept->path : NULL;
}

const void *
weights_cache_find(const struct weights_cache *kept, const struct safetensor *wanted)
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
weights_cache_begin(
    const struct weights_cache *kept, const struct safetensor *tensors, int count)
{
	char *of = describe(kept);
	struct safetensors_writer *writer =
	    safetensors_create(kept->path, tensors, count, note, of);

	free(of);
	return writer;
}

void
weights_cache_finish(struct weights_cache *kept, struct safetensors_writer *writer)
{
	safetensors_finish(writer);
	lock_end(kept->lock);
	kept->lock = NULL;
	kept->file = safetensors_open(kept->path);
}

void
weights_cache_inform(
    const struct model *model, const struct weights_cache *kept, size_t bytes)
{
	inform("%s: %zu MB of weights in eight bits, %s %s", model->dir, bytes >> 20,
	    kept->file ? "mapped from" : "not kept in", kept->path);
}

void
weights_cache_close(struct weights_cache *kept)
{
	if (!kept)
		return;
	lock_end(kept->lock);
	safetensors_close(kept->file);
	free(kept->path);
	free(kept->of);
	free(kept);
}
