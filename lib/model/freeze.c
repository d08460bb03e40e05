#include "model/freeze.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

/* Whether a glob fits a tensor's name, as model_save writes it or as the file has it. */
static bool
fits(const char *glob, const char *name, const struct safetensor *stored)
{
	return !fnmatch(glob, name, 0) || (stored && !fnmatch(glob, stored->name, 0));
}

/* A tensor that the transformer lacks, such as a pooler, never learns. */
static bool
fits_extra(const char *glob, const struct weights *weights)
{
	for (int i = 0; i < weights->extra_count; i++)
		if (!fnmatch(glob, weights->extra[i].name, 0))
			return true;
	return false;
}

static void
apply(struct model *model, const char *glob)
{
	struct weights *weights = &model->weights;
	bool frozen = *glob != '!', found;

	glob += !frozen;
	found = fits_extra(glob, weights);
	for (int i = 0; i < weights->count; i++) {
		struct parameter *p = &weights->tensors[i];
		if (!fits(glob, p->name, weights->stored[i]))
			continue;
		p->frozen = frozen || p->constant;
		found = true;
	}
	if (!found)
		die("--freeze: %s has no weight '%s'; names are like '%s'", model->dir,
		    glob, weights->tensors[0].name);
}

static void
report(const struct model *model)
{
	const struct weights *weights = &model->weights;
	size_t all = 0, frozen = 0;

	for (int i = 0; i < weights->count; i++) {
		all += weights->tensors[i].count;
		frozen += weights->tensors[i].frozen ? weights->tensors[i].count : 0;
	}
	inform("%s: %zu of %zu parameters learn", model->dir, all - frozen, all);
}

void
freeze_weights(struct model *model, const char *const *patterns)
{
	for (; *patterns; patterns++) {
		char *list = mem_string(*patterns), *rest = NULL;
		const char *glob = strtok_r(list, ",", &rest);
		do
			apply(model, glob ? glob : "");
		while ((glob = strtok_r(NULL, ",", &rest)));
		free(list);
	}
	report(model);
}
