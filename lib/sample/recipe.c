#include "sample/recipe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "text/json.h"
#include "text/yaml.h"

enum { BATCH_MOST = 1 << 30 };

const char *const recipe_batchings[] = { "homogeneous", "heterogeneous", "static", NULL };
const char *const recipe_duplicates[] = { "mark", "apart", "keep", NULL };
const char *const recipe_sides[] = { "query", "document", NULL };
static const char *const samplings[] = { "proportional", "uniform", NULL };

/* A number above 0; `otherwise` if the key is not given. */
static double
positive(const struct tree *object, const char *key, double otherwise)
{
	double value = tree_real(object, key, otherwise);

	if (tree_get(object, key) && !(value > 0 && value <= 1e6))
		tree_die(tree_get(object, key),
		    "'%s' is %g; it must be above 0 and at most 1e6", key, value);
	return value;
}

/* Reads one string for both sides, or an object with one for each. */
static void
read_sides(const struct tree *task, const char *key, const char *sides[SIDES])
{
	const struct tree *node = tree_get(task, key);

	if (node && node->kind == TREE_OBJECT)
		tree_only(node, recipe_sides);
	for (int side = 0; side < SIDES; side++)
		sides[side] = node && node->kind == TREE_OBJECT
				  ? tree_string(node, recipe_sides[side], NULL)
				  : tree_string(task, key, NULL);
}

/* A task, a task for each side, or a list of tasks. */
static void
read_experts(const struct tree *node, struct recipe_task *task)
{
	const struct tree *experts = tree_get(node, "experts");

	if (!experts || experts->kind != TREE_LIST) {
		read_sides(node, "experts", task->expert);
		return;
	}
	for (size_t i = 0; i < experts->count; i++)
		if (experts->items[i]->kind != TREE_STRING)
			tree_die(
			    experts->items[i], "a list of 'experts' has names of tasks");
	if (!experts->count)
		tree_die(experts, "the list of 'experts' is empty");
	task->drawn = experts;
}

static const char *
required(const struct tree *object, const char *key)
{
	const char *text = tree_string(object, key, NULL);

	if (!text)
		tree_die(object, "'%s' is missing", key);
	if (!*text)
		tree_die(tree_get(object, key), "'%s' is empty", key);
	return text;
}

static void
read_files(const struct tree *node, struct recipe_source *source)
{
	struct tree *file = tree_need(node, "file");

	if (file->kind != TREE_LIST) {
		source->files = mem_new(1, sizeof *source->files);
		source->files[source->file_count++] = required(node, "file");
		return;
	}
	if (!file->count)
		tree_die(file, "'file' is an empty list");
	source->files = mem_new(file->count, sizeof *source->files);
	for (size_t i = 0; i < file->count; i++) {
		if (file->items[i]->kind != TREE_STRING)
			tree_die(file->items[i], "a file name must be a string");
		source->files[source->file_count++] = file->items[i]->string;
	}
}

/* A field's name, or a list index as text. */
static const char *
name_of(struct tree *field, const char *key)
{
	if (field->kind == TREE_INTEGER && field->integer >= 0) {
		field->kind = TREE_STRING;
		field->string = mem_format("%lld", (long long)field->integer);
		field->length = strlen(field->string);
	}
	if (field->kind != TREE_STRING)
		tree_die(field, "'%s' must name a field", key);
	if (!field->length)
		tree_die(field, "'%s' is empty", key);
	return field->string;
}

static const char *
field_of(const struct tree *node, const char *key)
{
	struct tree *field = tree_get(node, key);

	return field ? name_of(field, key) : NULL;
}

/* Adds a field name unless it is there; the list ends with NULL. */
static void
add_name(const char ***names, size_t *count, const char *name)
{
	for (size_t i = 0; i < *count; i++)
		if (!strcmp((*names)[i], name))
			return;
	*names = mem_resize(*names, *count + 2, sizeof **names);
	(*names)[(*count)++] = name;
	(*names)[*count] = NULL;
}

/* One field, or a list of them. */
static void
read_names_of(
    const struct tree *node, const char *key, const char ***names, size_t *count)
{
	struct tree *value = tree_get(node, key);
	bool several = value && value->kind == TREE_LIST;

	if (several && !value->count)
		tree_die(value, "'%s' is an empty list", key);
	for (size_t i = 0; several && i < value->count; i++)
		add_name(names, count, name_of(value->items[i], key));
	if (value && !several)
		add_name(names, count, name_of(value, key));
}

/* Adds the list fields of the task type, under the recipe's or the usual names. */
static void
add_typed(struct recipe_source *source, size_t *count)
{
	const char ***names = &source->each.names;

	for (int f = 0; f < TASK_FIELDS; f++) {
		const struct task_field *field = task_fields + f;
		bool is_mark = field->use == TASK_MARK;
		if (!field->each || strcmp(field->type, source->type->name))
			continue;
		if (!is_mark && source->field[field->use]) {
			add_name(names, count, source->field[field->use]);
			continue;
		}
		for (int i = 0; is_mark && i < source->where_count; i++)
			add_name(names, count, comparison_name(source->where[i]));
		for (int n = 0; n < TASK_NAMES && field->names[n]; n++)
			add_name(names, count, field->names[n]);
	}
}

static void
read_each(const struct tree *node, struct recipe_source *source)
{
	size_t count = 0;

	source->each.needed = tree_get(node, "each");
	read_names_of(node, "each", &source->each.names, &count);
	if (!source->each.needed && source->type)
		add_typed(source, &count);
}

static void
read_negatives(const struct tree *node, struct recipe_source *source)
{
	size_t count = 0;

	read_names_of(node, "negatives", &source->negatives, &count);
	source->max_negatives =
	    tree_integer_or(node, "max_negatives", INT32_MAX, 0, INT32_MAX);
	if (tree_get(node, "max_negatives") && source->max_negatives && !count)
		tree_die(
		    tree_get(node, "max_negatives"), "'max_negatives' needs 'negatives'");
}

static void
read_scores(const struct tree *node, struct recipe_source *source)
{
	size_t count = 0;

	source->score = field_of(node, "score");
	read_names_of(node, "negative_scores", &source->negative_scores, &count);
	source->scale = positive(node, "scale", 1);
	if (count && !source->negatives)
		tree_die(tree_get(node, "negative_scores"),
		    "'negative_scores' needs 'negatives'");
	if (!source->score && (count || tree_get(node, "scale")))
		tree_die(tree_get(node, count ? "negative_scores" : "scale"),
		    "'%s' needs 'score'", count ? "negative_scores" : "scale");
}

static void
read_type(const struct tree *node, struct recipe_source *source)
{
	const char *words[TASK_TYPES + 1] = { NULL };

	for (int t = 0; t < TASK_TYPES; t++)
		words[t] = task_types[t].name;
	int type = tree_word(node, "type", words, TASK_TYPES);
	if (type == TASK_TYPES)
		return;
	source->type = task_types + type;
	if (source->type->folder != (source->beir != NULL))
		tree_die(tree_get(node, "type"), "a data set of type %s is %s",
		    words[type],
		    source->beir ? "a 'file'; a BEIR folder is of type Retrieval"
				 : "a folder, which 'beir' names");
}

/* Dies if the data set has one of these keys. */
static void
refuse(const struct tree *node, const char *const *keys, const char *why)
{
	for (; *keys; keys++)
		if (tree_get(node, *keys))
			tree_die(tree_get(node, *keys), "'%s' %s", *keys, why);
}

/* Reads the files or folder, and the fields of query and document. */
static void
read_fields(struct tree *node, struct recipe_source *source)
{
	static const char *const of_files[] = { "file", "label", "names", "negatives",
		"max_negatives", "each", "group", "score", NULL };
	static const char *const of_folders[] = { "split", NULL };
	static const char *const of_pairs[] = { "document", "names", "negatives",
		"max_negatives", "part_by", "group", "type", "score", NULL };
	static const char *const of_groups[] = { "negatives", "max_negatives", "score",
		NULL };

	source->label = field_of(node, "label");
	if (tree_get(node, "beir")) {
		refuse(node, of_files, "does not apply to a BEIR folder");
		source->beir = required(node, "beir");
		source->split = tree_string(node, "split", NULL);
	} else {
		refuse(node, of_folders, "applies only to a BEIR folder");
		if (source->label)
			refuse(node, of_pairs, "does not apply to pairs of one label");
		read_files(node, source);
	}
	for (int side = 0; side < SIDES; side++)
		source->field[side] = field_of(node, recipe_sides[side]);
	read_type(node, source);
	source->group = tree_integer_or(
	    node, "group", source->type ? source->type->group : 0, 1, INT32_MAX);
	if (source->group)
		refuse(node, of_groups, "does not apply to groups");
	read_negatives(node, source);
	read_scores(node, source);
}

static void
read_names(const struct tree *node, struct recipe_source *source)
{
	const struct tree *names = source->names = tree_get(node, "names");

	if (!names)
		return;
	if ((names->kind != TREE_OBJECT && names->kind != TREE_LIST) || !names->count)
		tree_die(names,
		    "'names' must be a mapping of values to names, or a list of the names of 0, 1, 2 ...");
	for (size_t i = 0; i < names->count; i++)
		if (names->items[i]->kind != TREE_STRING)
			tree_die(names->items[i], "a name must be a string; quote it");
	if (source->field[SIDE_DOCUMENT] && strchr(source->field[SIDE_DOCUMENT], '+'))
		tree_die(names, "'names' are of one field, 'document' joins several");
}

static void
add_condition(
    struct recipe_source *source, const struct tree *node, const char *condition)
{
	size_t count = (size_t)source->where_count++;
	char *place = mem_format("%s:%d", node->file, node->line);

	source->where = mem_resize(source->where, count + 1, sizeof(struct comparison *));
	source->where[count] = comparison_new(place, condition);
	free(place);
}

/* "label=1", a list of such, or {label: 1}. */
static void
read_where(const struct tree *node, struct recipe_source *source)
{
	const struct tree *where = tree_get(node, "where");
	bool several = where && where->kind != TREE_STRING;

	source->has_where = where;
	if (where && !several)
		add_condition(source, where, where->string);
	if (several && where->kind != TREE_LIST && where->kind != TREE_OBJECT)
		tree_die(where,
		    "'where' must be a condition such as label=1, or a list of them");
	for (size_t i = 0; several && i < where->count; i++) {
		const struct tree *item = where->items[i];
		bool text = item->kind == TREE_STRING;
		if (item->kind == TREE_LIST || item->kind == TREE_OBJECT ||
		    item->kind == TREE_NULL || (where->kind == TREE_LIST && !text))
			tree_die(item, "a condition is a string such as label=1");
		if (where->kind == TREE_LIST) {
			add_condition(source, item, item->string);
			continue;
		}
		char *value = text ? mem_string(item->string) : json_text(item, 0);
		char *condition = mem_format("%s=%s", item->key, value);
		add_condition(source, item, condition);
		free(condition);
		free(value);
	}
}

/* Reads a percentage: the first hash after that share of all hashes; 0 for 100. */
static bool
read_percent(const char *text, size_t length, uint64_t *hash, double *percent)
{
	if (!number_read(text, length, percent) || !(*percent >= 0 && *percent <= 100))
		return false;
	*hash = *percent < 100 ? (uint64_t)(*percent / 100 * 0x1p64) : 0;
	return true;
}

/* "0-80%" */
static void
read_part(const struct tree *node, struct recipe_source *source)
{
	const char *text = tree_string(node, "part", "0-100%");
	size_t length = strlen(text), first = strcspn(text, "-");
	double percent[2];
	uint64_t *part = source->part;

	if (first + 2 > length || text[length - 1] != '%' ||
	    !read_percent(text, first, part, percent) ||
	    !read_percent(text + first + 1, length - first - 2, part + 1, percent + 1) ||
	    percent[0] >= percent[1])
		tree_die(tree_get(node, "part"),
		    "'part' is '%s'; it must be a range of percent such as 0-80%% or 80-100%%",
		    text);
	part[1]--; /* the last one of the part */
	source->part_by =
	    (enum recipe_side)tree_word(node, "part_by", recipe_sides, SIDE_QUERY);
}

static void
add_source(struct recipe *recipe, struct tree *node, double task_weight)
{
	static const char *const keys[] = { "name", "type", "file", "beir", "split",
		"each", "query", "document", "label", "names", "group", "negatives",
		"max_negatives", "score", "negative_scores", "scale", "where", "part",
		"part_by", "sample", "first", "weight", NULL };
	size_t count = (size_t)recipe->source_count;

	tree_only(node, keys);
	recipe->sources = mem_resize(recipe->sources, count + 1, sizeof *recipe->sources);
	struct recipe_source *source = recipe->sources + recipe->source_count++;
	*source = (struct recipe_source){ .node = node, .task = recipe->task_count - 1 };
	source->name = required(node, "name");
	for (size_t i = 0; i < count; i++)
		if (!strcmp(recipe->sources[i].name, source->name))
			tree_die(node, "the data set '%s' is there twice", source->name);
	read_fields(node, source);
	read_names(node, source);
	read_where(node, source);
	read_each(node, source);
	read_part(node, source);
	if (tree_get(node, "part_by") && !tree_get(node, "part") &&
	    !tree_get(node, "sample"))
		tree_die(tree_get(node, "part_by"), "'part_by' needs 'part' or 'sample'");
	source->sample = tree_integer_or(node, "sample", INT64_MAX, 1, INT64_MAX);
	source->first = tree_integer_or(node, "first", INT64_MAX, 1, INT64_MAX);
	source->weight = task_weight * positive(node, "weight", 1);
}

static void
add_task(struct recipe *recipe, struct tree *node)
{
	static const char *const keys[] = { "datasets", "batching", "temperature",
		"prompts", "experts", "weight", "sampling", NULL };
	const struct tree *top = recipe->tree;

	tree_only(node, keys);
	recipe->tasks = mem_resize(
	    recipe->tasks, (size_t)recipe->task_count + 1, sizeof *recipe->tasks);
	struct recipe_task *task = recipe->tasks + recipe->task_count++;
	*task = (struct recipe_task){
		.name = node->key, .first = recipe->source_count, .node = node
	};
	int batching = tree_word(top, "batching", recipe_batchings, BATCHING_HOMOGENEOUS);
	task->batching =
	    (enum recipe_batching)tree_word(node, "batching", recipe_batchings, batching);
	if (task->batching == BATCHING_STATIC && !recipe->is_static)
		tree_die(tree_get(node, "batching"),
		    "static batches mix all tasks; give 'batching: static' at the top");
	task->uniform = tree_word(node, "sampling", samplings, 0);
	task->temperature = positive(node, "temperature", recipe->temperature);
	read_sides(node, "prompts", task->prompt);
	read_experts(node, task);
	struct tree *list = tree_need(node, "datasets");
	if (list->kind != TREE_LIST || !list->count)
		tree_die(list, "'datasets' must be a list of at least one data set");
	for (size_t i = 0; i < list->count; i++)
		add_source(recipe, list->items[i], positive(node, "weight", 1));
	task->last = recipe->source_count;
}

struct recipe *
recipe_open(const char *path)
{
	static const char *const keys[] = { "tasks", "seed", "batch", "epochs",
		"duplicates", "drop_last", "temperature", "batching", "sampling", NULL };
	struct recipe *recipe = mem_zero(1, sizeof *recipe);
	struct tree *tree = recipe->tree = yaml_read(path);

	tree_only(tree, keys);
	recipe->seed = (uint64_t)tree_integer_or(tree, "seed", 0, 0, INT64_MAX);
	recipe->batch = tree_integer_or(tree, "batch", 512, 1, BATCH_MOST);
	recipe->epochs = tree_integer_or(tree, "epochs", 0, 1, INT32_MAX);
	recipe->drop_last = tree_boolean(tree, "drop_last", false);
	recipe->duplicates = (enum recipe_duplicates)tree_word(
	    tree, "duplicates", recipe_duplicates, DUPLICATES_MARK);
	recipe->temperature = positive(tree, "temperature", 0);
	recipe->uniform = tree_word(tree, "sampling", samplings, 0);
	recipe->is_static =
	    tree_word(tree, "batching", recipe_batchings, 0) == BATCHING_STATIC;
	struct tree *tasks = tree_need(tree, "tasks");
	if (tasks->kind != TREE_OBJECT || !tasks->count)
		tree_die(tasks,
		    "'tasks' must be a mapping of at least one task name to its settings");
	for (size_t i = 0; i < tasks->count; i++)
		add_task(recipe, tasks->items[i]);
	return recipe;
}

void
recipe_batch_as(struct recipe *recipe, enum recipe_batching batching)
{
	recipe->is_static = batching == BATCHING_STATIC;
	for (int i = 0; i < recipe->task_count; i++)
		recipe->tasks[i].batching = batching;
}

static void
tell_unused(const struct tree *node, const char *key, const char *batching)
{
	const struct tree *value = tree_get(node, key);

	if (value)
		warn("%s:%d: '%s' does not apply to %s batches", value->file, value->line,
		    key, batching);
}

void
recipe_tell_unused(const struct recipe *recipe)
{
	const char *mixed = recipe_batchings[BATCHING_STATIC];

	if (recipe->is_static)
		tell_unused(recipe->tree, "sampling", mixed);
	for (int t = 0; t < recipe->task_count; t++) {
		const struct recipe_task *task = recipe->tasks + t;
		if (recipe->is_static)
			tell_unused(task->node, "temperature", mixed);
		if (recipe->is_static)
			tell_unused(task->node, "sampling", mixed);
		else if (task->batching == BATCHING_HETEROGENEOUS)
			tell_unused(
			    task->node, "sampling", recipe_batchings[task->batching]);
	}
}

static void
free_source(struct recipe_source *source)
{
	for (int i = 0; i < source->where_count; i++)
		comparison_free(source->where[i]);
	free(source->where);
	free(source->files);
	free(source->each.names);
	free(source->negatives);
	free(source->negative_scores);
}

void
recipe_choose(struct recipe *recipe, const char *const *names, int count)
{
	int tasks = 0, sources = 0;

	for (int n = 0; n < count; n++) {
		int i = 0;
		while (i < recipe->task_count && strcmp(recipe->tasks[i].name, names[n]))
			i++;
		if (i == recipe->task_count)
			die("%s: there is no task '%s' in it", recipe->tree->file,
			    names[n]);
	}
	for (int i = 0; i < recipe->task_count; i++) {
		struct recipe_task task = recipe->tasks[i];
		bool wanted = false;
		for (int n = 0; n < count; n++)
			wanted |= !strcmp(task.name, names[n]);
		int first = sources;
		for (int s = task.first; s < task.last; s++) {
			if (wanted) {
				recipe->sources[sources] = recipe->sources[s];
				recipe->sources[sources++].task = tasks;
			} else {
				free_source(recipe->sources + s);
			}
		}
		task.first = first;
		task.last = sources;
		if (wanted)
			recipe->tasks[tasks++] = task;
	}
	recipe->task_count = tasks;
	recipe->source_count = sources;
}

void
recipe_close(struct recipe *recipe)
{
	for (int i = 0; i < recipe->source_count; i++)
		free_source(recipe->sources + i);
	free(recipe->sources);
	free(recipe->tasks);
	tree_free(recipe->tree);
	free(recipe);
}
