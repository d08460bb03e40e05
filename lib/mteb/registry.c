#include "mteb/registry.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/mem.h"
#include "mteb/benchmark.h"
#include "text/yaml.h"
#include "text/yaml_entries.h"

struct registry *
registry_new(bool v2)
{
	struct registry *registry = mem_zero(1, sizeof *registry);

	registry->names = strings_new();
	registry->v2 = v2;
	return registry;
}

/* The node of a type, given in any case, in the last of the first `files` files that has it. */
static const struct tree *
type_node(const struct registry *registry, const char *name, size_t files)
{
	for (size_t f = files; f-- > 0;) {
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
	const struct tree *node = type_node(registry, name, registry->file_count);

	return node ? node->key : NULL;
}

/* Sets the texts of both sides from a key's text, or its { query: ..., document: ... }. */
static void
set_sides(const char *texts[REGISTRY_SIDES], const struct tree *node, const char *key)
{
	static const char *const sides[] = { "query", "document", NULL };
	const struct tree *value = tree_get(node, key);

	if (!value)
		return;
	if (value->kind == TREE_OBJECT)
		tree_only(value, sides);
	for (int i = 0; i < REGISTRY_SIDES; i++)
		texts[i] = value->kind == TREE_OBJECT ? tree_string(value, sides[i], NULL)
						      : tree_string(node, key, NULL);
}

void
registry_size(int64_t size[2], const struct tree *node)
{
	const struct tree *const *at = &node;
	size_t count = 1;

	if (node->kind == TREE_LIST) {
		at = (const struct tree *const *)node->items;
		count = node->count;
	}
	if (node->kind == TREE_LIST && count != 2)
		tree_die(
		    node, "a size is a number, or two of them: [queries, documents]");
	for (size_t i = 0; i < count; i++) {
		if (!tree_is_whole(at[i]) || at[i]->integer < 1)
			tree_die(at[i],
			    "a size is a whole number, or two of them: [queries, documents]");
		size[i] = at[i]->integer;
	}
}

static void
set_sizes(struct registry_task *task, const struct tree *node)
{
	const struct tree *size = tree_get(node, "size"),
			  *sizes = tree_get(node, "sizes");

	if (size)
		registry_size(task->size, size);
	if (!sizes)
		return;
	if (sizes->kind != TREE_LIST)
		tree_die(sizes,
		    "sizes: a list is expected, a size for each subset in each split");
	for (size_t i = 0; i < sizes->count; i++)
		if (sizes->items[i]->kind != TREE_NULL)
			registry_size((int64_t[2]){ 0 }, sizes->items[i]);
	task->sizes = sizes;
}

const struct tree *
registry_names(const struct tree *node, const char *key, const struct tree *otherwise)
{
	const struct tree *names = tree_get(node, key);

	for (size_t i = 0; names && names->kind == TREE_LIST && i < names->count; i++)
		if (names->items[i]->kind != TREE_STRING)
			tree_die(names->items[i], "%s: names are expected", key);
	if (names && names->kind != TREE_LIST && names->kind != TREE_STRING)
		tree_die(names, "%s: a name or a list of names is expected", key);
	return names ? names : otherwise;
}

/* The key's list of whole numbers; `before` if the key is absent. */
static const struct tree *
numbers_of(const struct tree *node, const char *key, const struct tree *before)
{
	const struct tree *numbers = tree_get(node, key);

	if (numbers && numbers->kind != TREE_LIST)
		tree_die(numbers, "%s: a list of whole numbers is expected", key);
	for (size_t i = 0; numbers && i < numbers->count; i++)
		if (!tree_is_whole(numbers->items[i]))
			tree_die(
			    numbers->items[i], "%s: whole numbers are expected", key);
	return numbers ? numbers : before;
}

static void
set_fast(struct registry_task *task, const struct tree *node)
{
	static const char *const layouts[] = { "none", "sets", "rows", NULL };
	const struct tree *documents = tree_get(node, "documents");
	bool all = documents && documents->kind == TREE_STRING &&
		   !strcmp(documents->string, "all");

	task->fast =
	    (enum registry_fast)tree_word(node, "fast", layouts, (int)task->fast);
	if (!documents)
		return;
	task->documents = all ? 0 : tree_real(node, "documents", 0);
	if (!all && !(task->documents > 0))
		tree_die(documents, "documents: a number, a share or 'all' is expected");
}

static void
set_subsets(struct registry_task *task, const struct tree *node)
{
	const struct tree *subsets = tree_get(node, "subsets");

	if (!subsets)
		return;
	if (subsets->kind != TREE_OBJECT || !subsets->count)
		tree_die(subsets,
		    "subsets: names with their languages are expected: { en: eng-Latn }");
	for (size_t i = 0; i < subsets->count; i++)
		registry_names(subsets, subsets->items[i]->key, NULL);
	task->subsets = subsets;
}

/* Overrides the settings by those of a node, of a type or a task. */
static void
set_task(
    const struct registry *registry, struct registry_task *task, const struct tree *node)
{
	static const char *const protocols[] = { "any", "v1", "v2", NULL },
				 *const groups[] = { "robustness", "pairs", "levels",
					 "subqueries", NULL };

	task->main = tree_string(node, "main", task->main);
	if (registry->v2)
		task->main = tree_string(node, "main_v2", task->main);
	task->splits = registry_names(node, "split", task->splits);
	task->subsets = registry_names(node, "subset", task->subsets);
	set_subsets(task, node);
	task->path = tree_string(node, "path", task->path);
	task->data_revision = tree_string(node, "revision", task->data_revision);
	task->part_of = tree_string(node, "part_of", task->part_of);
	task->family = tree_string(node, "family", task->family);
	task->train = tree_string(node, "train", task->train);
	if (tree_get(node, "groups"))
		task->groups = groups[tree_word(node, "groups", groups, 0)];
	task->cuts = numbers_of(node, "at", task->cuts);
	task->experiments =
	    tree_integer_or(node, "experiments", task->experiments, 1, 1000);
	task->samples = tree_integer_or(node, "samples", task->samples, 1, 1000000);
	task->folds = tree_integer_or(node, "folds", task->folds, 2, 1000);
	task->ignore_identical =
	    tree_boolean(node, "ignore_identical_ids", task->ignore_identical);
	set_sides(task->prompt, node, "prompt");
	set_sides(task->instruction, node, "instruction");
	task->protocol = tree_word(node, "protocol", protocols, task->protocol);
	set_sizes(task, node);
	set_fast(task, node);
	task->languages = registry_names(node, "languages", task->languages);
	task->in = registry_names(node, "in", task->in);
}

/* The settings of a type. */
static struct registry_task *
of_type(const struct registry *registry, const char *name, const struct tree *type)
{
	struct registry_task *task = mem_new(1, sizeof *task);

	*task = (struct registry_task){
		.name = name,
		.type = type->key,
		.train = "train",
		.documents = 0.04 /* mteb's */
	};
	set_task(registry, task, type);
	if (!task->main)
		tree_die(type, "the type '%s' has no main metric", type->key);
	return task;
}

static const char *const task_keys[] = { "type", "main", "main_v2", "prompt",
	"instruction", "split", "subset", "subsets", "path", "revision", "samples",
	"groups", "experiments", "train", "at", "ignore_identical_ids", "size", "sizes",
	"part_of", "family", "folds", "in", "fast", "documents", "protocol", "languages",
	NULL };

const char *
registry_name(const struct registry *registry, size_t number)
{
	return strings_get(registry->names, (int64_t)number);
}

struct registry_task *
registry_task(const struct registry *registry, size_t number)
{
	struct registry_entry *entry = &registry->entries[number];

	if (entry->task)
		return entry->task;
	const struct tree *node = yaml_entry(entry->node);
	tree_only(node, task_keys);
	const char *type = tree_string(node, "type", NULL);
	const struct tree *known =
	    type ? type_node(registry, type, entry->file + 1) : NULL;
	if (!known)
		tree_die(node, "%s: type: %s", node->key,
		    type ? "there is no such type" : "it is missing");
	struct registry_task *task =
	    of_type(registry, registry_name(registry, number), known);
	task->languages =
	    registry_names(registry->files[entry->file], "languages", task->languages);
	set_task(registry, task, node);
	return entry->task = task;
}

void
registry_read_all(const struct registry *registry)
{
	struct tree *tasks =
	    registry->file_count ? tree_get(registry->files[0], "tasks") : NULL;

	if (tasks)
		yaml_entries(tasks);
	for (size_t i = 0; i < registry->count; i++)
		registry_task(registry, i);
}

struct registry_task *
registry_find(const struct registry *registry, const char *name)
{
	int64_t number = strings_find(registry->names, name, strlen(name));

	return number >= 0 ? registry_task(registry, (size_t)number) : NULL;
}

/* The entry of the name, new or emptied. */
static struct registry_entry *
add(struct registry *registry, const char *name)
{
	bool fresh;
	size_t number = (size_t)strings_add(registry->names, name, strlen(name), &fresh);

	if (fresh)
		registry->entries = mem_grow(registry->entries, &registry->capacity,
		    ++registry->count, sizeof *registry->entries);
	else
		free(registry->entries[number].task);
	registry->entries[number] = (struct registry_entry){ 0 };
	return &registry->entries[number];
}

const struct registry_task *
registry_add(struct registry *registry, const char *name, const char *type)
{
	static const char fast[] = "-fast";
	size_t length = strlen(type), rest = strlen(fast);
	bool is_fast = length > rest && !strcmp(type + length - rest, fast);
	char *plain = mem_format("%.*s", (int)(is_fast ? length - rest : length), type);
	const struct tree *node = type_node(registry, plain, registry->file_count);

	if (!node)
		die("%s: '%s' is not a type of task", name, type);
	free(plain);
	struct registry_entry *entry = add(registry, name);
	struct registry_task *task = entry->task = of_type(
	    registry, registry_name(registry, (size_t)(entry - registry->entries)), node);
	task->fast = is_fast ? REGISTRY_FAST_SETS : task->fast;
	return task;
}

void
registry_read(struct registry *registry, const char *path)
{
	static const char *const top[] = { "types", "tasks", "benchmarks", "languages",
		NULL };
	size_t number = registry->file_count;
	struct tree *file = number ? yaml_read(path) : yaml_read_entries(path);

	registry->files = mem_grow(registry->files, &registry->file_capacity, number + 1,
	    sizeof *registry->files);
	registry->files[registry->file_count++] = file;
	tree_only(file, top);
	struct tree *types = tree_get(file, "types"), *tasks = tree_get(file, "tasks"),
		    *benchmarks = tree_get(file, "benchmarks");
	if ((types && types->kind != TREE_OBJECT) ||
	    (tasks && tasks->kind != TREE_OBJECT) ||
	    (benchmarks && benchmarks->kind != TREE_OBJECT))
		tree_die(file,
		    "types, tasks and benchmarks: lines of NAME: { ... } are expected");
	for (size_t i = 0; benchmarks && i < benchmarks->count; i++)
		if (benchmarks->items[i]->kind != TREE_UNREAD)
			benchmark_check(benchmarks->items[i]);
	for (size_t i = 0; types && i < types->count; i++)
		tree_only(yaml_entry(types->items[i]), task_keys + 1);
	for (size_t i = 0; tasks && i < tasks->count; i++) {
		struct tree *node = tasks->items[i];
		struct registry_entry *entry = add(registry, node->key);
		entry->node = node;
		entry->file = number;
		if (node->kind != TREE_UNREAD)
			registry_task(registry, (size_t)(entry - registry->entries));
	}
}

char *
registry_scorer(const struct registry_task *task)
{
	char *scorer =
	    mem_format("%s%s", task->type, task->fast == REGISTRY_NO_FAST ? "" : "-fast");

	for (char *at = scorer; *at; at++)
		*at = (char)tolower((unsigned char)*at);
	return scorer;
}

bool
registry_means(const struct registry_task *task, const char *word)
{
	const struct tree *in = task->in;
	bool is_in = in && in->kind == TREE_STRING && !strcmp(in->string, word);

	for (size_t i = 0; in && in->kind == TREE_LIST && i < in->count; i++)
		is_in |= !strcmp(in->items[i]->string, word);
	return is_in || !strcasecmp(task->name, word) || !strcasecmp(task->type, word) ||
	       (task->part_of && !strcasecmp(task->part_of, word));
}

void
registry_free(struct registry *registry)
{
	for (size_t i = 0; i < registry->count; i++)
		free(registry->entries[i].task);
	strings_free(registry->names);
	for (size_t i = 0; i < registry->file_count; i++)
		tree_free(registry->files[i]);
	free(registry->entries);
	free(registry->files);
	free(registry);
}
