#include "mteb/zero_shot.h"

#include <string.h>

static const struct tree *
training_sets(const struct tree *meta)
{
	const struct tree *sets = meta ? tree_get(meta, "training_datasets") : NULL;

	return sets && (sets->kind == TREE_LIST || sets->kind == TREE_OBJECT) ? sets
									      : NULL;
}

/* A task without a family is one by itself. */
static const char *
family_of(const struct registry *registry, const char *name)
{
	const struct registry_task *task = registry_find(registry, name);

	return task && task->family ? task->family : name;
}

bool
zero_shot_known(const struct tree *meta)
{
	return training_sets(meta) != NULL;
}

bool
zero_shot_trained(
    const struct registry *registry, const struct tree *meta, const char *task)
{
	const struct tree *sets = training_sets(meta);
	const char *family = family_of(registry, task);

	for (size_t i = 0; sets && i < sets->count; i++) {
		const struct tree *set = sets->items[i];
		const char *name = sets->kind == TREE_OBJECT  ? set->key
				   : set->kind == TREE_STRING ? set->string
							      : NULL;
		if (name && !strcmp(family_of(registry, name), family))
			return true;
	}
	return false;
}
