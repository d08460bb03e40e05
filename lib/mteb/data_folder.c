#include "mteb/data_folder.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/mem.h"
#include "text/datafile.h"

const char *const data_file_names[] = { "train", "test", "queries", "corpus", "qrels",
	"top_ranked" };

/* Names. --------------------------------------------------------------------------- */

/* The letters and digits of the first `count` bytes, in lower case; the caller frees it. */
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

/* Whether a folder's plain name matches a task; whole: with the name's type. */
static bool
is_called(const char *folder, const struct registry_task *task, bool whole)
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

static const struct registry_task *
search(const struct registry *registry, const char *folder, const char *type)
{
	char *name = plain(folder, strlen(folder));
	const struct registry_task *found = NULL;

	for (int whole = 1; whole >= 0 && !found; whole--)
		for (size_t i = 0; i < registry->count && !found; i++)
			if ((!type || !strcmp(registry->tasks[i]->type, type)) &&
			    is_called(name, registry->tasks[i], whole))
				found = registry->tasks[i];
	free(name);
	return found;
}

/* Files. --------------------------------------------------------------------------- */

static bool
is_folder(const char *path)
{
	struct stat about;

	return !stat(path, &about) && S_ISDIR(about.st_mode);
}

static bool
has_data(const char *dir)
{
	static const char *const stems[] = { "test", "train", "dev", "validation",
		"corpus" };

	for (size_t i = 0; i < sizeof stems / sizeof *stems; i++) {
		char *path = datafile_find(dir, stems[i]);
		if (!path)
			continue;
		free(path);
		return true;
	}
	return false;
}

/* A file of the subset's folder, else of the set's; NULL: absent. */
static char *
find_file(const struct data_set *set, const char *stem)
{
	char *subset = mem_format("%s/%s", set->folder, set->task->subset);
	char *path = datafile_find(subset, stem);

	free(subset);
	return path ? path : datafile_find(set->folder, stem);
}

static void
need(struct data_set *set, enum data_file which, const char *stem)
{
	set->files[which] = find_file(set, stem);
	if (!set->files[which] && !set->fault)
		set->fault = mem_format(
		    "%s: there is no %s.jsonl (.tsv, .csv; .gz, .zst, .xz, .bz2)",
		    set->folder, stem);
}

/* Whether the rows of a file are sets of texts, as on the Hub. */
static bool
has_sets(const char *path)
{
	struct datafile *file = datafile_open(path, DATAFILE_GUESS);
	const struct tree *record = datafile_next(file);
	const struct tree *texts = record ? tree_get(record, "sentences") : NULL;
	bool sets = texts && texts->kind == TREE_LIST;

	datafile_close(file);
	return sets;
}

/* Why these files do not allow mteb's way of scoring; NULL: they do. */
static char *
unsupported(const struct registry *registry, const struct data_set *set)
{
	const struct registry_task *task = set->task;
	size_t length = strlen(task->name);
	int protocol = registry->v2 ? 2 : 1;

	if (set->files[DATA_TOP_RANKED] && protocol == 1)
		return mem_string(
		    "a corpus and top_ranked are scored only by protocol v2; say PROTOCOL=v2, or give rows of query, positive and negative");
	if (set->files[DATA_TOP_RANKED] && !strncmp(task->main, "max_over_", 9))
		return mem_format(
		    "its %s needs rows of query, positive and negative", task->main);
	if (task->fast == REGISTRY_FAST_ROWS && has_sets(set->files[DATA_TEST]))
		return mem_format(
		    "%s: mteb samples or splits these sets first; write the result, one text per row, with 'sentences' and 'labels'",
		    set->files[DATA_TEST]);
	if (task->fast == REGISTRY_NO_FAST && !strcmp(task->type, "Clustering") &&
	    length > 3 && !strcmp(task->name + length - 3, ".v2"))
		return mem_format(
		    "mteb scores sets of this name by clustering-fast; say how in tasks.yaml: %s: { type: Clustering, fast: sets }",
		    task->name);
	return NULL;
}

/* Whether the set is reranking in mteb 2's layout, with a corpus of candidates. */
static bool
is_reranked_corpus(const struct data_set *set)
{
	char *corpus =
	    strcmp(set->task->type, "Reranking") != 0 ? NULL : find_file(set, "corpus");
	bool there = corpus != NULL;

	free(corpus);
	return there;
}

static void
need_corpus(struct data_set *set)
{
	const char *split = set->task->split;
	char *qrels = mem_format("qrels/%s", split),
	     *top_ranked = mem_format("top_ranked/%s", split);

	need(set, DATA_QUERIES, "queries");
	need(set, DATA_CORPUS, "corpus");
	need(set, DATA_QRELS, qrels);
	if (!strcmp(set->task->type, "Reranking")) {
		set->files[DATA_TOP_RANKED] = find_file(set, top_ranked);
		if (!set->files[DATA_TOP_RANKED])
			need(set, DATA_TOP_RANKED, "top_ranked");
	}
	free(top_ranked);
	free(qrels);
}

static void
need_files(const struct registry *registry, struct data_set *set)
{
	const struct registry_task *task = set->task;

	if (!strcmp(task->type, "Retrieval") || is_reranked_corpus(set)) {
		need_corpus(set);
	} else {
		need(set, DATA_TEST, task->split);
		if (!strcmp(task->type, "Classification"))
			need(set, DATA_TRAIN, "train");
	}
	if (!set->fault)
		set->fault = unsupported(registry, set);
}

/* Folders. ------------------------------------------------------------------------- */

static void
add(struct data_folder *folder, const struct registry *registry,
    const struct registry_task *task, const char *path)
{
	for (size_t i = 0; i < folder->count; i++)
		if (folder->sets[i].task == task)
			die("%s: is there twice, in %s and in %s", task->name,
			    folder->sets[i].folder, path);
	folder->sets = mem_grow(
	    folder->sets, &folder->capacity, folder->count + 1, sizeof *folder->sets);
	struct data_set *set = &folder->sets[folder->count++];
	*set = (struct data_set){ .task = task, .folder = mem_string(path) };
	need_files(registry, set);
}

static int
not_hidden(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Adds the folder `name` in `parent` (NULL: in DATA); returns whether it is a set. */
static bool
take(struct data_folder *folder, struct registry *registry, const char *path,
    const char *parent, const char *name)
{
	const char *type = parent ? registry_type(registry, parent) : NULL;
	char *joined = mem_format("%s%s", parent ? parent : "", name);
	bool data = has_data(path);
	const struct registry_task *task = search(registry, name, type);

	if (!task && parent && !type)
		task = search(registry, joined, NULL);
	free(joined);
	if (!task && data) {
		char *corpus = datafile_find(path, "corpus");
		if (!type && corpus)
			type = "Retrieval";
		free(corpus);
		if (type)
			task = registry_add(registry, name, type);
		else
			warn(
			    "%s: is left out: its type is not known; put it into a folder named by its type, or add a line to tasks.yaml beside it",
			    path);
	}
	if (task && (data || parent || !registry_type(registry, name)))
		add(folder, registry, task, path);
	return task || data;
}

static void
walk(struct data_folder *folder, struct registry *registry, const char *dir,
    const char *parent)
{
	struct dirent **entries;
	int count = scandir(dir, &entries, not_hidden, alphasort);

	if (count < 0)
		die("%s: the folder of data sets cannot be read:", dir);
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		char *path = mem_format("%s/%s", dir, name);
		if (is_folder(path) && !take(folder, registry, path, parent, name) &&
		    !parent)
			walk(folder, registry, path, name);
		free(path);
		free(entries[i]);
	}
	free(entries);
}

static int
by_task(const void *a, const void *b)
{
	const struct data_set *x = a, *y = b;

	return strcmp(x->task->name, y->task->name);
}

struct data_folder *
data_folder_read(struct registry *registry, const char *dir)
{
	struct data_folder *folder = mem_zero(1, sizeof *folder);

	walk(folder, registry, dir, NULL);
	if (folder->count)
		qsort(folder->sets, folder->count, sizeof *folder->sets, by_task);
	return folder;
}

bool
data_set_means(const struct data_set *set, const char *word)
{
	const char *last = strrchr(set->folder, '/');

	return registry_means(set->task, word) ||
	       !strcasecmp(last ? last + 1 : set->folder, word);
}

void
data_folder_free(struct data_folder *folder)
{
	for (size_t i = 0; i < folder->count; i++) {
		for (int f = 0; f < DATA_FILES; f++)
			free(folder->sets[i].files[f]);
		free(folder->sets[i].folder);
		free(folder->sets[i].fault);
	}
	free(folder->sets);
	free(folder);
}
