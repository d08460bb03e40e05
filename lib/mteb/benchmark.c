#include "mteb/benchmark.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/mem.h"
#include "text/yaml_entries.h"

/* Parts. --------------------------------------------------------------------------- */

/* How many names there are: 1 of none, for the default. */
static size_t
count_of(const struct tree *names)
{
	return !names || names->kind == TREE_STRING ? 1 : names->count;
}

static const char *
name_at(const struct tree *names, size_t i, const char *otherwise)
{
	if (!names)
		return otherwise;
	if (names->kind == TREE_STRING)
		return names->string;
	return names->kind == TREE_OBJECT ? names->items[i]->key
					  : names->items[i]->string;
}

static void
set_size(
    struct task_part *part, const struct registry_task *task, size_t at, size_t count)
{
	const struct tree *sizes = task->sizes;

	if (count == 1)
		memcpy(part->size, task->size, sizeof part->size);
	if (sizes && sizes->count != count)
		tree_die(sizes, "%s: there are %zu sizes of %zu subsets in all splits",
		    task->name, sizes->count, count);
	if (sizes && sizes->items[at]->kind != TREE_NULL)
		registry_size(part->size, sizes->items[at]);
}

struct task_parts
task_parts(const struct registry_task *task)
{
	size_t splits = count_of(task->splits), subsets = count_of(task->subsets);
	struct task_parts parts = { mem_new(splits * subsets, sizeof *parts.items), 0 };

	for (size_t s = 0; s < splits; s++)
		for (size_t i = 0; i < subsets; i++) {
			struct task_part *part = &parts.items[parts.count];
			*part = (struct task_part){ name_at(task->splits, s, "test"),
				name_at(task->subsets, i, "default"), task->languages,
				{ 0 } };
			if (task->subsets && task->subsets->kind == TREE_OBJECT &&
			    task->subsets->items[i]->kind != TREE_NULL)
				part->languages = task->subsets->items[i];
			set_size(part, task, parts.count++, splits * subsets);
		}
	return parts;
}

char *
task_part_subset(const struct task_part *part)
{
	char *name = mem_string(part->subset);

	for (char *at = name; *at; at++)
		if (!isalnum((unsigned char)*at) && !(*at & 0x80) &&
		    !strchr("._-+@", *at))
			*at = '_';
	return name;
}

char *
task_part_name(const struct task_part *part)
{
	char *subset = task_part_subset(part),
	     *name = mem_format("%s@%s", subset, part->split);
	free(subset);
	return name;
}

bool
task_has_split(const struct registry_task *task, const char *split)
{
	for (size_t s = 0; s < count_of(task->splits); s++)
		if (!strcmp(name_at(task->splits, s, "test"), split))
			return true;
	return false;
}

/* Benchmarks. ---------------------------------------------------------------------- */

static bool
is_in(const struct tree *names, const char *name)
{
	if (!names)
		return false;
	for (size_t i = 0; i < count_of(names); i++)
		if (!strcasecmp(name_at(names, i, ""), name))
			return true;
	return false;
}

void
benchmark_check(const struct tree *benchmark)
{
	static const char *const keys[] = { "also", "tasks", NULL }, *const limits[] = {
		"subsets", "splits", NULL
	};

	tree_only(benchmark, keys);
	registry_names(benchmark, "also", NULL);
	const struct tree *tasks = tree_need(benchmark, "tasks");
	if (tasks->kind != TREE_LIST || !tasks->count)
		tree_die(tasks, "tasks: a list of names is expected");
	for (size_t i = 0; i < tasks->count; i++) {
		const struct tree *own = tasks->items[i];
		if (own->kind == TREE_STRING)
			continue;
		if (own->kind != TREE_OBJECT || own->count != 1)
			tree_die(own,
			    "tasks: names are expected, or NAME: { subsets: ..., splits: ... }");
		tree_only(own->items[0], limits);
		registry_names(own->items[0], "subsets", NULL);
		registry_names(own->items[0], "splits", NULL);
	}
}

/* The benchmarks of a file of the registry, all read; NULL: none. */
static const struct tree *
benchmarks_of(struct tree *file)
{
	struct tree *all = tree_get(file, "benchmarks");

	if (!all || !all->count || all->items[0]->kind != TREE_UNREAD)
		return all;
	yaml_entries(all);
	for (size_t i = 0; i < all->count; i++)
		benchmark_check(all->items[i]);
	return all;
}

const struct tree *
benchmark_find(const struct registry *registry, const char *name)
{
	for (size_t f = registry->file_count; f-- > 0;) {
		const struct tree *all = benchmarks_of(registry->files[f]);
		for (size_t i = 0; all && i < all->count; i++)
			if (!strcasecmp(all->items[i]->key, name) ||
			    is_in(tree_get(all->items[i], "also"), name))
				return all->items[i];
	}
	return NULL;
}

const struct tree *
benchmark_need(const struct registry *registry, const char *name)
{
	const struct tree *found = benchmark_find(registry, name);

	if (!found)
		die("there is no benchmark '%s'; 'leaderboard list' prints all", name);
	return found;
}

const char *
benchmark_task(const struct tree *item)
{
	return item->kind == TREE_OBJECT ? item->items[0]->key : item->string;
}

bool
benchmark_has(
    const struct tree *benchmark, const char *task, const struct task_part *part)
{
	const struct tree *tasks = tree_get(benchmark, "tasks");

	for (size_t i = 0; i < tasks->count; i++) {
		const struct tree *item = tasks->items[i],
				  *own =
				      item->kind == TREE_OBJECT ? item->items[0] : NULL;
		if (strcmp(benchmark_task(item), task) != 0)
			continue;
		if (!part || !own)
			return true;
		const struct tree *subsets = tree_get(own, "subsets"),
				  *splits = tree_get(own, "splits");
		return (!subsets || is_in(subsets, part->subset)) &&
		       (!splits || is_in(splits, part->split));
	}
	return false;
}

bool
benchmark_means(const struct registry *registry, const struct registry_task *task,
    const struct task_part *part, const char *word)
{
	const struct tree *benchmark = benchmark_find(registry, word);

	return registry_means(task, word) ||
	       (benchmark &&
		   (benchmark_has(benchmark, task->name, part) ||
		       (task->part_of && benchmark_has(benchmark, task->part_of, NULL))));
}

/* Lists. --------------------------------------------------------------------------- */

static void
print_benchmarks(const struct registry *registry, FILE *out)
{
	fputs("benchmark\talso\ttasks\n", out);
	for (size_t f = 0; f < registry->file_count; f++) {
		const struct tree *all = benchmarks_of(registry->files[f]);
		for (size_t i = 0; all && i < all->count; i++) {
			const struct tree *also = tree_get(all->items[i], "also");
			fprintf(out, "%s\t", all->items[i]->key);
			for (size_t n = 0; also && n < count_of(also); n++)
				fprintf(out, "%s%s", n ? ", " : "", name_at(also, n, ""));
			fprintf(out, "\t%zu\n", tree_get(all->items[i], "tasks")->count);
		}
	}
}

/* Prints the number of parts that the words mean, and the first languages of these. */
static void
print_parts(const struct registry *registry, const struct registry_task *task,
    char *const *words, int count, FILE *out)
{
	enum { SHOWN = 3 };
	struct task_parts parts = task_parts(task);
	struct strings *languages = strings_new();
	size_t met = 0;

	for (size_t p = 0; p < parts.count; p++) {
		bool meant = false;
		for (int w = 0; w < count; w++)
			meant |=
			    benchmark_means(registry, task, &parts.items[p], words[w]);
		if (!meant)
			continue;
		met++;
		const struct tree *names = parts.items[p].languages;
		for (size_t i = 0; names && i < count_of(names); i++) {
			const char *name = name_at(names, i, "");
			strings_add(languages, name, strlen(name), NULL);
		}
	}
	fprintf(out, "%zu\t", met);
	for (int64_t i = 0; i < strings_count(languages) && i < SHOWN; i++)
		fprintf(out, "%s%s", i ? ", " : "", strings_get(languages, i));
	fprintf(out, "%s\t", strings_count(languages) > SHOWN ? ", ..." : "");
	strings_free(languages);
	free(parts.items);
}

void
benchmark_list(const struct registry *registry, char *const *words, int count, FILE *out)
{
	if (!count) {
		print_benchmarks(registry, out);
		return;
	}
	bool *met = mem_zero((size_t)count, sizeof *met);
	registry_read_all(registry);
	fputs("task\ttype\tmain score\tparts\tlanguages\tHub\n", out);
	for (size_t i = 0; i < registry->count; i++) {
		const struct registry_task *task = registry_task(registry, i);
		bool meant = false;
		for (int w = 0; w < count; w++)
			if (benchmark_means(registry, task, NULL, words[w]))
				meant = met[w] = true;
		if (!meant)
			continue;
		fprintf(out, "%s\t%s\t%s\t", task->name, task->type, task->main);
		print_parts(registry, task, words, count, out);
		fprintf(out, "%s\n", task->path ? task->path : "");
	}
	for (int w = 0; w < count; w++)
		if (!met[w])
			die("there is no task, type or benchmark '%s'; 'leaderboard list' prints the benchmarks",
			    words[w]);
	free(met);
}
