#include "mteb/data_folder.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>

#include "base/err.h"
#include "base/mem.h"
#include "folder/model_folder.h"
#include "stream/documents.h"
#include "text/datafile.h"

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

/* Whether the rest of a folder's name is a subset of the task. */
static bool
is_subset(const struct registry_task *task, const char *rest)
{
	struct task_parts parts = task_parts(task);
	bool found = false;

	for (size_t i = 0; i < parts.count && !found; i++) {
		char *subset =
		    plain(parts.items[i].subset, strlen(parts.items[i].subset));
		found = !strcmp(rest, subset);
		free(subset);
	}
	free(parts.items);
	return found;
}

/* How folders are matched, the surest first. */
enum match { BY_EXACT_NAME, BY_NAME, BY_NAME_WITHOUT_TYPE, BY_PATH, MATCHES };

/* Whether a folder's name, or else its plain name, matches a task. */
static bool
is_called(const char *folder, const struct registry_task *task, enum match match)
{
	size_t length = strlen(task->name), type = strlen(task->type);
	const char *called = task->name;

	if (match == BY_EXACT_NAME)
		return !strcmp(folder, task->name);
	if (match == BY_PATH) {
		const char *slash = task->path ? strrchr(task->path, '/') : NULL;
		called = slash ? slash + 1 : "";
		length = strlen(called);
	} else if (match == BY_NAME_WITHOUT_TYPE) {
		if (length <= type || strcmp(task->name + length - type, task->type) != 0)
			return false;
		length -= type;
	}
	char *name = plain(called, length);
	size_t size = strlen(name);
	bool same =
	    size && !strncmp(folder, name, size) &&
	    (!folder[size] || (match != BY_PATH && is_subset(task, folder + size)));

	free(name);
	return same;
}

/* False if no task of this name matches: to know its settings takes longer. */
static bool
may_be_called(const char *folder, const char *name, enum match match)
{
	if (match == BY_EXACT_NAME)
		return !strcmp(folder, name);
	while (*name && !isalnum((unsigned char)*name))
		name++;
	return match == BY_PATH || tolower((unsigned char)*name) == *folder;
}

/* The last part of a folder's name in a cache of the Hugging Face Hub, datasets--OWNER--NAME; else the whole. */
static const char *
without_owner(const char *folder)
{
	const char *owner =
	    strncmp(folder, "datasets--", 10) ? NULL : strstr(folder + 10, "--");

	return owner ? owner + 2 : folder;
}

/* A name that only the Hub has is tried for folders of its cache, or where a benchmark is chosen: it may be any word. */
static const struct registry_task *
search(const struct registry *registry, const struct tree *benchmark, const char *folder,
    const char *type)
{
	const char *own = without_owner(folder);
	int matches = benchmark || own != folder ? MATCHES : BY_PATH;
	char *name = plain(own, strlen(own));
	const struct registry_task *found = NULL;

	for (int in = benchmark ? 1 : 0; in >= 0 && !found; in--)
		for (int match = 0; match < matches && !found; match++) {
			if (match == BY_PATH)
				registry_read_all(registry);
			for (size_t i = 0; i < registry->count && !found; i++) {
				const char *called = registry_name(registry, i),
					   *wanted = match == BY_EXACT_NAME ? own : name;
				if (!may_be_called(wanted, called, (enum match)match) ||
				    (in && !benchmark_has(benchmark, called, NULL)))
					continue;
				const struct registry_task *task =
				    registry_task(registry, i);
				if ((!type || !strcmp(task->type, type)) &&
				    is_called(wanted, task, (enum match)match))
					found = task;
			}
		}
	free(name);
	return found;
}

/* Files. --------------------------------------------------------------------------- */

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

static int
not_hidden(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Folders. ------------------------------------------------------------------------- */

/* Whether the set's own folder holds the subset's files: mteb has one subset, or the folder is named by it. */
static bool
is_own(const struct data_set *set, const struct task_part *part)
{
	const char *last = strrchr(set->folder, '/');
	struct task_parts parts = task_parts(set->task);
	bool only = true;

	for (size_t i = 1; i < parts.count; i++)
		only &= !strcmp(parts.items[i].subset, parts.items[0].subset);
	free(parts.items);
	if (only)
		return true;
	last = last ? last + 1 : set->folder;
	char *name = plain(last, strlen(last)),
	     *subset = plain(part->subset, strlen(part->subset));
	size_t length = strlen(name), rest = strlen(subset);
	bool ends = length > rest && !strcmp(name + length - rest, subset);
	if (ends) { /* the name without it is the task's */
		name[length - rest] = 0;
		ends = is_called(name, set->task, BY_NAME) ||
		       is_called(name, set->task, BY_NAME_WITHOUT_TYPE);
	}
	free(name);
	free(subset);
	return ends;
}

/* Whether there is a Parquet file in the folder, at most `deep` below it. */
static bool
has_parquet(const char *dir, int deep)
{
	struct dirent **entries;
	int count = scandir(dir, &entries, not_hidden, alphasort);
	bool found = false;

	for (int i = 0; i < count; i++) {
		char *path = mem_format("%s/%s", dir, entries[i]->d_name);
		const char *dot = strrchr(entries[i]->d_name, '.');
		found =
		    found || (dot && !strcmp(dot, ".parquet")) ||
		    (deep && documents_is_folder(path) && has_parquet(path, deep - 1));
		free(path);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return found;
}

/* Finds the files of each part, and keeps the parts that are there, or the first. */
static void
find_parts(struct data_set *set, const struct registry *registry)
{
	struct task_parts parts = task_parts(set->task);

	set->parts = mem_new(parts.count, sizeof *set->parts);
	for (size_t i = 0; i < parts.count; i++) {
		struct data_part *part = &set->parts[set->count];
		*part = (struct data_part){ .part = parts.items[i] };
		data_files_find(
		    part, registry, set->task, set->folder, is_own(set, &parts.items[i]));
		if (!part->absent || parts.count == 1) {
			set->count++;
			continue;
		}
		set->absent++;
		data_files_free(part);
	}
	if (!set->count) {
		char *subset = task_part_subset(&parts.items[0]);
		set->parts[0] = (struct data_part){ .part = parts.items[0],
			.absent = true,
			.fault = mem_format(
			    "%s: there are no files of any of its %zu parts, such as %s/%s.jsonl",
			    set->folder, parts.count, subset, parts.items[0].split) };
		free(subset);
		set->count = 1;
	}
	if (set->parts[0].absent && has_parquet(set->folder, 3)) {
		free(set->parts[0].fault);
		set->parts[0].fault = mem_format(
		    "%s: its rows are Parquet files, which are not read; motes(7), DATA FOLDERS, has a line that converts them",
		    set->folder);
	}
	free(parts.items);
}

/* Dies if the folder has a set of that name. */
static void
check_new(const struct data_folder *folder, const char *name, const char *path)
{
	for (size_t i = 0; i < folder->count; i++)
		if (!strcmp(folder->sets[i].task->name, name))
			die("%s: is there twice, in %s and in %s", name,
			    folder->sets[i].folder, path);
}

static void
add(struct data_folder *folder, const struct registry *registry,
    const struct registry_task *task, const char *path)
{
	check_new(folder, task->name, path);
	folder->sets = mem_grow(
	    folder->sets, &folder->capacity, folder->count + 1, sizeof *folder->sets);
	struct data_set *set = &folder->sets[folder->count++];
	*set = (struct data_set){ .task = task, .folder = mem_string(path) };
	find_parts(set, registry);
}

/* The folders that are read, and into what. */
struct walk {
	struct data_folder *folder;
	struct registry *registry;
	const struct tree *benchmark;
};

/* The snapshot of the branch main in a folder of the Hugging Face Hub's cache, else the newest one, else the folder; the
 * caller frees it. */
static char *
snapshot_of(const char *path)
{
	char *main = model_folder_snapshot(path, "main");
	if (main)
		return main;
	char *snapshots = mem_format("%s/snapshots", path);
	struct dirent **entries;
	int count = scandir(snapshots, &entries, not_hidden, alphasort);
	char *newest = NULL;
	struct timespec time = { 0 };

	for (int i = 0; i < count; i++) {
		char *own = mem_format("%s/%s", snapshots, entries[i]->d_name);
		struct stat about;
		bool newer = !stat(own, &about) && S_ISDIR(about.st_mode) &&
			     (!newest || about.st_mtim.tv_sec > time.tv_sec);
		if (newer) {
			free(newest);
			newest = mem_string(own);
			time = about.st_mtim;
		}
		free(own);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	free(snapshots);
	return newest ? newest : mem_string(path);
}

/* Adds the folder `name` in `parent` (NULL: in DATA); returns whether it is a set. */
static bool
take(const struct walk *walk, const char *path, const char *parent, const char *name)
{
	struct registry *registry = walk->registry;
	const char *type = parent ? registry_type(registry, parent) : NULL;
	char *joined = mem_format("%s%s", parent ? parent : "", name);
	bool data = has_data(path);
	const struct registry_task *task = search(registry, walk->benchmark, name, type);

	if (!task && parent && !type)
		task = search(registry, walk->benchmark, joined, NULL);
	free(joined);
	if (!task && data) {
		char *corpus = datafile_find(path, "corpus");
		if (!type && corpus)
			type = "Retrieval";
		free(corpus);
		check_new(walk->folder, name, path);
		if (type)
			task = registry_add(registry, name, type);
		else
			warn(
			    "%s: is left out: its type is not known; put it into a folder named by its type, or add a line to tasks.yaml beside it",
			    path);
	}
	if (task && (data || parent || !registry_type(registry, name))) {
		char *rows = snapshot_of(path);
		add(walk->folder, registry, task, rows);
		free(rows);
	}
	return task || data;
}

static void
read_folder(const struct walk *walk, const char *dir, const char *parent)
{
	struct dirent **entries;
	int count = scandir(dir, &entries, not_hidden, alphasort);

	if (count < 0)
		die("%s: the folder of data sets cannot be read:", dir);
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		char *path = mem_format("%s/%s", dir, name);
		if (documents_is_folder(path) && !take(walk, path, parent, name) &&
		    !parent)
			read_folder(walk, path, name);
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
data_folder_read(struct registry *registry, const struct tree *benchmark, const char *dir)
{
	struct data_folder *folder = mem_zero(1, sizeof *folder);

	read_folder(&(struct walk){ folder, registry, benchmark }, dir, NULL);
	if (folder->count)
		qsort(folder->sets, folder->count, sizeof *folder->sets, by_task);
	return folder;
}

bool
data_set_means(const struct registry *registry, const struct data_set *set,
    const struct data_part *part, const char *word)
{
	const char *last = strrchr(set->folder, '/');

	return benchmark_means(registry, set->task, &part->part, word) ||
	       !strcasecmp(last ? last + 1 : set->folder, word);
}

void
data_folder_free(struct data_folder *folder)
{
	for (size_t i = 0; i < folder->count; i++) {
		for (size_t p = 0; p < folder->sets[i].count; p++)
			data_files_free(&folder->sets[i].parts[p]);
		free(folder->sets[i].parts);
		free(folder->sets[i].folder);
	}
	free(folder->sets);
	free(folder);
}
