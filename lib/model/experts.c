#include "model/experts.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"

static const char letters[] =
    ".abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

bool
experts_task_valid(const char *task)
{
	size_t length = strlen(task);

	return length > 0 && length < 64 && strspn(task, letters) == length;
}

bool
experts_name_valid(const char *name)
{
	return experts_task_valid(name) && !strchr(name, '.');
}

static void
names(struct spec *spec, const struct tree *list)
{
	if (list->kind != TREE_LIST || list->count < 1 || list->count > SPEC_EXPERTS)
		tree_die(list, "'names' of task_experts must list 1 to %d names",
		    SPEC_EXPERTS);
	for (size_t i = 0; i < list->count; i++) {
		const struct tree *name = list->items[i];
		if (name->kind != TREE_STRING || !experts_name_valid(name->string))
			tree_die(name,
			    "a task expert's name must be up to 63 letters, digits, '_' or '-'");
		for (int j = 0; j < spec->experts; j++)
			if (!strcmp(spec->expert_names[j], name->string))
				tree_die(name, "two task experts are called '%s'",
				    name->string);
		spec->expert_names[spec->experts++] = name->string;
	}
}

static int
expert_called(const struct spec *spec, const char *name)
{
	int i = spec->experts + spec->loras - 1;

	if (spec->experts && !strcmp(name, EXPERTS_ANY))
		return EXPERT_BY_TEXT;
	while (i >= 0 && strcmp(spec->expert_names[i], name))
		i--;
	return i;
}

static void
tasks(struct spec *spec, const struct tree *rows)
{
	if (rows && rows->kind != TREE_OBJECT)
		tree_die(rows,
		    "'tasks' of task_experts must be an object: the expert of each task");
	for (size_t i = 0; rows && i < rows->count; i++) {
		const struct tree *row = rows->items[i];
		if (!experts_task_valid(row->key))
			tree_die(row,
			    "a task's name must be up to 63 letters, digits, '_', '-' or '.', not '%s'",
			    row->key);
		if (row->kind != TREE_STRING)
			tree_die(row, "the task '%s' must have the name of an expert",
			    row->key);
		if (expert_called(spec, row->string) < 0)
			tree_die(row, "the task '%s' has the expert '%s'; there are %s",
			    row->key, row->string, experts_list(spec));
	}
	spec->tasks = rows;
}

int
experts_find(const struct spec *spec, const char *task)
{
	return expert_called(spec, tree_string(spec->tasks, task, task));
}

int
experts_choose(const struct spec *spec, int expert, const int32_t *ids, int64_t length)
{
	if (expert != EXPERT_BY_TEXT)
		return expert;
	return (int)(rng_hash(0, ids, (size_t)length * sizeof *ids) %
		     (uint64_t)spec->experts);
}

char *
experts_list(const struct spec *spec)
{
	char *list = mem_string("");

	for (int i = 0; i < spec->experts + spec->loras; i++)
		list = mem_list(list, spec->expert_names[i]);
	for (size_t i = 0; spec->tasks && i < spec->tasks->count; i++) {
		char *word =
		    mem_format(i ? "%s" : "and the tasks %s", spec->tasks->items[i]->key);
		list = mem_list(list, word);
		free(word);
	}
	return list;
}

struct tree *
experts_assign(const struct spec *spec, const struct tree *rows, const char *dir)
{
	struct tree *all = spec->tasks ? tree_copy(spec->tasks) : tree_object();

	for (size_t i = 0; rows && i < rows->count; i++) {
		const char *task = rows->items[i]->key, *expert = rows->items[i]->string;
		if (*expert && expert_called(spec, expert) < 0)
			die("%s: the task '%s' cannot have the expert '%s'; there are %s",
			    dir, task, expert, experts_list(spec));
		if (!*expert && !tree_get(all, task))
			die("%s: the task '%s' has no row that could be taken out; there are %s",
			    dir, task, experts_list(spec));
		if (*expert)
			tree_set(all, task, tree_of_string(expert));
		else
			tree_remove(all, task);
	}
	return all;
}

void
experts_configure(struct spec *spec, const struct tree *config)
{
	static const char *const known[] = { "names", "norms", "layers", "tasks", NULL };
	const struct tree *own = tree_get(config, "task_experts");

	if (!own)
		return;
	if (spec->loras)
		tree_die(own, "a model with LoRAs for tasks cannot have 'task_experts'");
	tree_only(own, known);
	names(spec, tree_need(own, "names"));
	tasks(spec, tree_get(own, "tasks"));
	spec->expert_norms = tree_boolean(own, "norms", true);
	const struct tree *layers = spec_blocks(spec, own);
	for (size_t i = 0; i < layers->count; i++) {
		const struct tree *layer = layers->items[i];
		if (spec->layer[layer->integer].mixture)
			tree_die(layer,
			    "block %lld has token experts, it cannot have task experts",
			    (long long)layer->integer);
		spec->layer[layer->integer].experts = true;
	}
}

struct tree *
experts_tree(const struct spec *spec)
{
	struct tree *own = tree_object();
	struct tree *list = tree_set(own, "names", tree_list());

	for (int i = 0; i < spec->experts; i++)
		tree_add(list, tree_of_string(spec->expert_names[i]));
	tree_set(own, "norms", tree_of_boolean(spec->expert_norms));
	struct tree *layers = tree_set(own, "layers", tree_list());
	for (int i = 0; i < spec->layers; i++)
		if (spec->layer[i].experts)
			tree_add(layers, tree_of_integer(i));
	if (spec->tasks && spec->tasks->count)
		tree_set(own, "tasks", tree_copy(spec->tasks));
	return own;
}

bool
experts_own(const struct spec *spec, int layer, enum block_parameter which)
{
	bool first = which == BLOCK_NORM1 || which == BLOCK_NORM1_BIAS;
	bool norm = first || which == BLOCK_NORM2 || which == BLOCK_NORM2_BIAS ||
		    which == BLOCK_DOWN_NORM;

	if (first && spec->prenorm) /* it belongs to the attention, which is shared */
		return false;
	return spec->experts && spec->layer[layer].experts && which >= BLOCK_NORM1 &&
	       (spec->expert_norms || !norm);
}

char *
experts_tensor(const char *tensor, const char *name)
{
	const char *last = strrchr(tensor, '.');
	int stem = last ? (int)(last - tensor) + 1 : 0;

	return mem_format("%.*sexperts.%s.%s", stem, tensor, name, tensor + stem);
}
