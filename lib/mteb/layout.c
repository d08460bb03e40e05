#include "mteb/layout.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/mem.h"
#include "text/datafile.h"

const char *const layout_files[] = { "train", "test", "queries", "corpus", "qrels" };

/* Names. --------------------------------------------------------------------------- */

/* Letters and digits only, in lower case; of `count` bytes. */
static char *
plain(const char *name, size_t count)
{
	char *made = mem_new(count + 1, 1);
	size_t length = 0;

	for (size_t i = 0; i < count; i++)
		if (isalnum((unsigned char)name[i]))
			made[length++] = (char)tolower((unsigned char)name[i]);
	made[length] = 0;
	return made;
}

/* Whether a folder's plain name is that of a task. */
static bool
is_called(const char *folder, const struct benchmark_task *task, bool whole)
{
	size_t length = strlen(task->name), type = strlen(task->type);

	if (!whole && length > type && !strcmp(task->name + length - type, task->type))
		length -= type;
	char *name = plain(task->name, length),
	     *subset = plain(task->subset, strlen(task->subset));
	size_t size = strlen(name);
	bool same = !strncmp(folder, name, size) &&
		    (!folder[size] || !strcmp(folder + size, subset));

	free(name);
	free(subset);
	return same;
}

static const struct benchmark_task *
search(const struct benchmark *benchmark, const char *folder, const char *type)
{
	char *name = plain(folder, strlen(folder));
	const struct benchmark_task *found = NULL;

	for (int whole = 1; whole >= 0 && !found; whole--)
		for (size_t i = 0; i < benchmark->count && !found; i++)
			if ((!type || !strcmp(benchmark->tasks[i]->type, type)) &&
			    is_called(name, benchmark->tasks[i], whole))
				found = benchmark->tasks[i];
	free(name);
	return found;
}

/* Files. --------------------------------------------------------------------------- */

static bool
is(const char *path, mode_t kind)
{
	struct stat about;

	return !stat(path, &about) && (about.st_mode & S_IFMT) == kind;
}

/* DIR/STEM with one of the endings that are read; NULL: there is none. */
static char *
file_of(const char *dir, const char *stem)
{
	static const char *const endings[] = { "jsonl", "ndjson", "json", "tsv", "csv" };
	static const char *const packed[] = { "", ".gz", ".zst" };

	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		for (size_t j = 0; j < sizeof packed / sizeof *packed; j++) {
			char *path =
			    mem_format("%s/%s.%s%s", dir, stem, endings[i], packed[j]);
			if (is(path, S_IFREG))
				return path;
			free(path);
		}
	return NULL;
}

static bool
has_data(const char *dir)
{
	static const char *const stems[] = { "test", "train", "dev", "validation",
		"corpus" };

	for (size_t i = 0; i < sizeof stems / sizeof *stems; i++) {
		char *path = file_of(dir, stems[i]);
		if (!path)
			continue;
		free(path);
		return true;
	}
	return false;
}

static void
need(struct layout_set *set, enum layout_file which, const char *stem)
{
	char *subset = mem_format("%s/%s", set->folder, set->task->subset);

	set->files[which] = file_of(subset, stem);
	if (!set->files[which])
		set->files[which] = file_of(set->folder, stem);
	if (!set->files[which] && !set->fault)
		set->fault =
		    mem_format("%s: there is no %s.jsonl (.tsv, .csv; .gz, .zst)",
			set->folder, stem);
	free(subset);
}

static void
need_files(struct layout_set *set)
{
	const struct benchmark_task *task = set->task;

	if (!strcmp(task->type, "Retrieval")) {
		char *qrels = mem_format("qrels/%s", task->split);
		need(set, LAYOUT_QUERIES, "queries");
		need(set, LAYOUT_CORPUS, "corpus");
		need(set, LAYOUT_QRELS, qrels);
		free(qrels);
		return;
	}
	need(set, LAYOUT_TEST, task->split);
	if (!strcmp(task->type, "Classification"))
		need(set, LAYOUT_TRAIN, "train");
}

/* Folders. ------------------------------------------------------------------------- */

static void
add(struct layout *layout, const struct benchmark_task *task, const char *folder)
{
	for (size_t i = 0; i < layout->count; i++)
		if (layout->sets[i].task == task)
			die("%s: is there twice, in %s and in %s", task->name,
			    layout->sets[i].folder, folder);
	layout->sets = mem_grow(
	    layout->sets, &layout->capacity, layout->count + 1, sizeof *layout->sets);
	struct layout_set *set = &layout->sets[layout->count++];
	*set = (struct layout_set){ .task = task, .folder = mem_string(folder) };
	need_files(set);
}

static int
by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int
not_hidden(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* A folder called `name` in one called `parent` (NULL: in DATA); whether it is a set. */
static bool
take(struct layout *layout, struct benchmark *benchmark, const char *path,
    const char *parent, const char *name)
{
	const char *type = parent ? benchmark_type(benchmark, parent) : NULL;
	char *joined = mem_format("%s%s", parent ? parent : "", name);
	bool data = has_data(path);
	const struct benchmark_task *task = search(benchmark, name, type);

	if (!task && parent && !type)
		task = search(benchmark, joined, NULL);
	free(joined);
	if (!task && data) {
		char *corpus = file_of(path, "corpus");
		if (!type && corpus)
			type = "Retrieval";
		free(corpus);
		if (type)
			task = benchmark_add(benchmark, name, type);
		else
			warn("%s: is left out: its type is not known; put it into a "
			     "folder called by its type, or a line into tasks.yaml "
			     "beside it",
			    path);
	}
	if (task && (data || parent || !benchmark_type(benchmark, name)))
		add(layout, task, path);
	return task || data;
}

static void
walk(struct layout *layout, struct benchmark *benchmark, const char *dir,
    const char *parent)
{
	struct dirent **entries;
	int count = scandir(dir, &entries, not_hidden, by_name);

	if (count < 0)
		die("%s: the folder of data sets cannot be read:", dir);
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		char *path = mem_format("%s/%s", dir, name);
		if (is(path, S_IFDIR) && !take(layout, benchmark, path, parent, name) &&
		    !parent)
			walk(layout, benchmark, path, name);
		free(path);
		free(entries[i]);
	}
	free(entries);
}

static int
by_task(const void *a, const void *b)
{
	const struct layout_set *x = a, *y = b;

	return strcmp(x->task->name, y->task->name);
}

struct layout *
layout_find(struct benchmark *benchmark, const char *dir)
{
	struct layout *layout = mem_zero(1, sizeof *layout);

	walk(layout, benchmark, dir, NULL);
	if (layout->count)
		qsort(layout->sets, layout->count, sizeof *layout->sets, by_task);
	return layout;
}

void
layout_free(struct layout *layout)
{
	for (size_t i = 0; i < layout->count; i++) {
		for (int f = 0; f < LAYOUT_FILES; f++)
			free(layout->sets[i].files[f]);
		free(layout->sets[i].folder);
		free(layout->sets[i].fault);
	}
	free(layout->sets);
	free(layout);
}

/* Fields. -------------------------------------------------------------------------- */

enum { PEEK = 100, NAMES = 4 };

/* A text of a type, by the names that files have for it, ours first. */
static const struct text {
	const char *type, *names[NAMES];
} texts[] = {
	{ "STS", { "sentence1", "sent1", "text1" } },
	{ "STS", { "sentence2", "sent2", "text2" } },
	{ "PairClassification", { "sentence1", "sent1", "text1" } },
	{ "PairClassification", { "sentence2", "sent2", "text2" } },
	{ "Classification", { "text", "sentence" } },
	{ "Clustering", { "sentences", "text", "sentence" } },
	{ "Reranking", { "query" } },
	{ "Reranking", { "positive" } },
	{ "Reranking", { "negative" } },
	{ "Summarization", { "human_summaries" } },
	{ "Summarization", { "machine_summaries" } },
	{ "queries", { "text", "query" } },
	{ "corpus", { "title" } },
	{ "corpus", { "text" } },
};
enum { TEXTS = sizeof texts / sizeof *texts };

/* Which of its names each text goes by, or -1, in the first records. */
static void
look(int *found, const char *path)
{
	struct datafile *file = datafile_open(path, DATAFILE_GUESS);
	const struct tree *record;

	for (int t = 0; t < TEXTS; t++)
		found[t] = -1;
	for (int i = 0; i < PEEK && (record = datafile_next(file)); i++)
		for (int t = 0; t < TEXTS; t++)
			for (int n = 0; n < NAMES && texts[t].names[n] && found[t] < 0;
			     n++)
				if (tree_get(record, texts[t].names[n]))
					found[t] = n;
	datafile_close(file);
}

static char *
appended(char *options, const char *name, const char *found)
{
	bool same = !strcmp(name, found);
	char *longer = mem_format("%s%s-f %s%s%s", options, *options ? " " : "", name,
	    same ? "" : "=", same ? "" : found);

	free(options);
	return longer;
}

char *
layout_fields(const char *type, const char *path)
{
	int found[TEXTS], count = 0;
	bool corpus = !strcmp(type, "corpus");
	char *options = mem_string("");

	for (int t = 0; t < TEXTS; t++)
		count += !strcmp(texts[t].type, type);
	if (!count)
		die_usage("'%s' is no type whose texts lie in one file", type);
	look(found, path);
	for (int t = 0; t < TEXTS; t++) {
		const char *const *names = texts[t].names;
		if (strcmp(texts[t].type, type) || (corpus && !strcmp(names[0], "title")))
			continue;
		if (found[t] < 0)
			die("%s: there is no '%s' in its first records", path, names[0]);
		if (corpus && found[t - 1] >= 0)
			options = appended(options, "document", "title+text");
		else
			options = appended(options,
			    count == 1 ? names[found[t]] : names[0], names[found[t]]);
	}
	return options;
}
