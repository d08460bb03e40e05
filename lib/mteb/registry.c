#include "mteb/registry.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/mem.h"
#include "text/yaml.h"

struct registry *
registry_new(bool v2)
{
	struct registry *registry = mem_zero(1, sizeof *registry);

	registry->v2 = v2;
	return registry;
}

/* The node of a type, in the last file that has it; in any case. */
static const struct tree *
type_node(const struct registry *registry, const char *name)
{
	for (size_t f = registry->file_count; f-- > 0;) {
		const struct tree *types = tree_get(registry->files[f], "types");
		for (size_t i = 0; types && i < types->count; i++)
			if (!strcasecmp(types->items[i]->key, name))
				return types->items[i];
	}
	return NULL;
}

const char *
registry_type(const struct registry *registry, const char *name)
{
	const struct tree *node = type_node(registry, name);

	return node ? node->key : NULL;
}

static void
set_prompts(struct registry_task *task, const struct tree *node)
{
	static const char *const sides[] = { "query", "document", NULL };
	const struct tree *prompt = tree_get(node, "prompt");

	if (!prompt)
		return;
	if (prompt->kind == TREE_OBJECT)
		tree_only(prompt, sides);
	for (int i = 0; i < REGISTRY_SIDES; i++)
		task->prompt[i] = prompt->kind == TREE_OBJECT
				      ? tree_string(prompt, sides[i], NULL)
				      : tree_string(node, "prompt", NULL);
}

static void
set_size(struct registry_task *task, const struct tree *node)
{
	const struct tree *size = tree_get(node, "size");

	if (!size)
		return;
	if (size->kind == TREE_INTEGER) {
		task->size[0] = tree_integer_in(node, "size", 1, INT64_MAX);
		return;
	}
	if (size->kind != TREE_LIST || size->count != 2)
		tree_die(size, "size is a number, or two of them: [queries, documents]");
	for (int i = 0; i < 2; i++) {
		if (size->items[i]->kind != TREE_INTEGER || size->items[i]->integer < 1)
			tree_die(size->items[i], "size: whole numbers are expected");
		task->size[i] = size->items[i]->integer;
	}
}

static void
set_in(struct registry_task *task, const struct tree *node)
{
	const struct tree *in = tree_get(node, "in");

	for (size_t i = 0; in && in->kind == TREE_LIST && i < in->count; i++)
		if (in->items[i]->kind != TREE_STRING)
			tree_die(in->items[i], "in: names of benchmarks are expected");
	if (in && in->kind != TREE_LIST && in->kind != TREE_STRING)
		tree_die(in, "in: a name or a list of names is expected");
	task->in = in ? in : task->in;
}

/* What a node says, of a type or of a task, goes over what is there. */
static void
set_task(
    const struct registry *registry, struct registry_task *task, const struct tree *node)
{
	task->main = tree_string(node, "main", task->main);
	if (registry->v2)
		task->main = tree_string(node, "main_v2", task->main);
	task->split = tree_string(node, "split", task->split);
	task->subset = tree_string(node, "subset", task->subset);
	task->part_of = tree_string(node, "part_of", task->part_of);
	if (tree_get(node, "samples"))
		task->samples = tree_integer_in(node, "samples", 1, 1000000);
	task->ignore_identical =
	    tree_boolean(node, "ignore_identical_ids", task->ignore_identical);
	set_prompts(task, node);
	set_size(task, node);
	set_in(task, node);
}

static struct registry_task *
find(const struct registry *registry, const char *name)
{
	for (size_t i = 0; i < registry->count; i++)
		if (!strcmp(registry->tasks[i]->name, name))
			return registry->tasks[i];
	return NULL;
}

const struct registry_task *
registry_find(const struct registry *registry, const char *name)
{
	return find(registry, name);
}

static struct registry_task *
add(struct registry *registry, const char *name, const struct tree *type)
{
	struct registry_task *task = find(registry, name);

	if (!task) {
		registry->tasks = mem_grow(registry->tasks, &registry->capacity,
		    registry->count + 1, sizeof *registry->tasks);
		task = mem_new(1, sizeof *task);
		registry->tasks[registry->count++] = task;
		name = mem_string(name);
	} else {
		name = task->name;
	}
	*task = (struct registry_task){
		.name = name, .type = type->key, .split = "test", .subset = "default"
	};
	set_task(registry, task, type);
	if (!task->main)
		tree_die(type, "the type '%s' has no main metric", type->key);
	return task;
}

const struct registry_task *
registry_add(struct registry *registry, const char *name, const char *type)
{
	const struct tree *node = type_node(registry, type);

	if (!node)
		die("%s: '%s' is no type of task", name, type);
	return add(registry, name, node);
}

void
registry_read(struct registry *registry, const char *path)
{
	static const char *const top[] = { "types", "tasks", NULL };
	static const char *const keys[] = { "type", "main", "main_v2", "prompt", "split",
		"subset", "samples", "ignore_identical_ids", "size", "part_of", "in",
		NULL };
	struct tree *file = yaml_read(path);

	registry->files = mem_grow(registry->files, &registry->file_capacity,
	    registry->file_count + 1, sizeof *registry->files);
	registry->files[registry->file_count++] = file;
	tree_only(file, top);
	const struct tree *types = tree_get(file, "types"),
			  *tasks = tree_get(file, "tasks");
	if ((types && types->kind != TREE_OBJECT) ||
	    (tasks && tasks->kind != TREE_OBJECT))
		tree_die(file, "types and tasks: lines of NAME: { ... } are expected");
	for (size_t i = 0; types && i < types->count; i++)
		tree_only(types->items[i], keys + 1);
	for (size_t i = 0; tasks && i < tasks->count; i++) {
		const struct tree *node = tasks->items[i];
		tree_only(node, keys);
		const char *type = tree_string(node, "type", NULL);
		const struct tree *known = type ? type_node(registry, type) : NULL;
		if (!known)
			tree_die(node, "%s: type: %s", node->key,
			    type ? "there is no such type" : "it is missing");
		set_task(registry, add(registry, node->key, known), node);
	}
}

bool
registry_means(const struct registry_task *task, const char *word)
{
	const struct tree *in = task->in;
	bool is_in = in && in->kind == TREE_STRING && !strcmp(in->string, word);

	for (size_t i = 0; in && in->kind == TREE_LIST && i < in->count; i++)
		is_in |= !strcmp(in->items[i]->string, word);
	return is_in || !strcmp(task->name, word) || !strcasecmp(task->type, word) ||
	       (task->part_of && !strcmp(task->part_of, word));
}

void
registry_free(struct registry *registry)
{
	for (size_t i = 0; i < registry->count; i++) {
		free((char *)registry->tasks[i]->name);
		free(registry->tasks[i]);
	}
	for (size_t i = 0; i < registry->file_count; i++)
		tree_free(registry->files[i]);
	free(registry->tasks);
	free(registry->files);
	free(registry);
}
