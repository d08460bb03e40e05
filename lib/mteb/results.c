#include "mteb/results.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/input.h"
#include "base/mem.h"
#include "score/measure/stats.h"
#include "text/json.h"

enum { DECIMALS = 6 };

/* Writing. ------------------------------------------------------------------------- */

static struct tree *
rounded(const struct tree *value)
{
	struct tree *copy = tree_copy(value);

	if (copy->kind == TREE_REAL)
		copy->real = stats_round(copy->real, DECIMALS);
	for (size_t i = 0; copy->kind == TREE_LIST && i < copy->count; i++)
		if (copy->items[i]->kind == TREE_REAL)
			copy->items[i]->real =
			    stats_round(copy->items[i]->real, DECIMALS);
	return copy;
}

/* Whether the set's size in the report differs from the registry's, if that has one; then warns. */
static bool
other_size(const struct registry_task *task, const struct tree *settings)
{
	static const char *const counts[][5] = {
		{ "queries", "pairs", "test", "rows", "texts" }, { "documents" }
	};
	bool other = false;

	for (int side = 0; side < 2; side++)
		for (int i = 0; i < 5 && counts[side][i] && task->size[side]; i++) {
			const char *text = tree_string(settings, counts[side][i], NULL);
			long long count = text ? atoll(text) : 0;
			if (!text || count == (long long)task->size[side])
				continue;
			warn("%s: has %lld %s, mteb's has %lld: another set of that name",
			    task->name, count, counts[side][i],
			    (long long)task->size[side]);
			other = true;
		}
	return other;
}

static struct tree *
languages_of(const struct registry_task *task)
{
	const struct tree *named = task->languages;

	if (named && named->kind == TREE_LIST)
		return tree_copy(named);
	struct tree *list = tree_list();
	if (named)
		tree_add(list, tree_of_string(named->string));
	return list;
}

/* Dies unless the report is of the type and protocol by which mteb scores the task. */
static void
check_scorer(const struct registry_task *task, const struct tree *report)
{
	const struct tree *settings = tree_get(report, "settings");
	const char *type = tree_string(report, "task_type", NULL),
		   *protocol = tree_string(settings, "protocol", NULL);
	char *scorer = registry_scorer(task), wanted[8];

	snprintf(wanted, sizeof wanted, "v%d", task->protocol);
	bool reranked = type && !strcmp(type, "retrieval") &&
			tree_get(settings, "candidates") &&
			!strcmp(task->type, "Reranking");
	if (type && strcmp(type, scorer) != 0 && !reranked)
		die("%s: mteb scores it by %s, and this is a report of %s", task->name,
		    scorer, type);
	if (task->protocol && protocol && strcmp(protocol, wanted) != 0)
		die("%s: mteb scores it by protocol %s alone, and this is a report of %s",
		    task->name, wanted, protocol);
	free(scorer);
}

static struct tree *
score_entry(const struct registry_task *task, const struct tree *report)
{
	const struct tree *scores = tree_need(report, "scores");
	const struct tree *main = tree_get(scores, task->main);
	struct tree *entry = tree_object();

	if (!main || (main->kind != TREE_REAL && main->kind != TREE_INTEGER))
		tree_die(scores, "%s: has no value of %s, its main score", task->name,
		    task->main);
	tree_set(entry, "main_score", rounded(main));
	for (size_t i = 0; i < scores->count; i++)
		if (strcmp(scores->items[i]->key, "main_score"))
			tree_set(entry, scores->items[i]->key, rounded(scores->items[i]));
	tree_set(entry, "hf_subset", tree_of_string(task->subset));
	tree_set(entry, "languages", languages_of(task));
	return entry;
}

struct tree *
results_of(const struct registry_task *task, const struct tree *report)
{
	const struct tree *settings = tree_get(report, "settings");

	check_scorer(task, report);
	struct tree *file = tree_object(), *scores = tree_object(), *list = tree_list(),
		    *motes = tree_object();

	tree_add(list, score_entry(task, report));
	tree_set(scores, task->split, list);
	tree_set(motes, "version", tree_of_string(MOTES_VERSION));
	tree_set(motes, "task_type", tree_of_string(task->type));
	tree_set(motes, "main_score", tree_of_string(task->main));
	tree_set(motes, "other_size", tree_of_boolean(other_size(task, settings)));
	if (settings)
		tree_set(motes, "settings", tree_copy(settings));
	tree_set(file, "dataset_revision", tree_of_string("local"));
	tree_set(file, "task_name", tree_of_string(task->name));
	tree_set(file, "mteb_version", tree_of_null());
	tree_set(file, "scores", scores);
	tree_set(file, "evaluation_time", tree_of_null());
	tree_set(file, "kg_co2_emissions", tree_of_null());
	tree_set(file, "motes", motes);
	return file;
}

struct tree *
results_report(const char *path)
{
	struct input *input = input_open(path);
	const char *name = strcmp(path, "-") != 0 ? path : "<stdin>";
	char *text = NULL;
	size_t room = 0, length = 0, got;

	do {
		text = mem_grow(text, &room, length + (1 << 16), 1);
		got = input_read(input, text + length, room - length);
		length += got;
	} while (got);
	if (!length)
		die("%s: empty, not a report; did the program before it fail?", name);
	struct tree *report = json_parse(text, length, name, 1);
	input_close(input);
	free(text);
	return report;
}

/* Reading. ------------------------------------------------------------------------- */

/* The registry's split; of a task not in it "test" or the only one. */
static const struct tree *
find_split(const struct tree *scores, const struct registry_task *task)
{
	const struct tree *split = tree_get(scores, task ? task->split : "test");

	return !split && !task && scores->count == 1 ? scores->items[0] : split;
}

/* A member's text, or NULL if absent or of another type, as other writers' files may have it. */
static const char *
text_of(const struct tree *object, const char *key)
{
	const struct tree *node =
	    object && object->kind == TREE_OBJECT ? tree_get(object, key) : NULL;

	return node && node->kind == TREE_STRING ? node->string : NULL;
}

static double
number_of(const struct tree *object, const char *key)
{
	const struct tree *node =
	    object->kind == TREE_OBJECT ? tree_get(object, key) : NULL;

	if (node && node->kind == TREE_INTEGER)
		return (double)node->integer;
	return node && node->kind == TREE_REAL ? node->real : NAN;
}

/* The score of the registry's subset, or the mean over all subsets; not finite: no score. */
static double
main_score(const struct tree *split, const struct registry_task *task)
{
	double sum = 0;

	for (size_t i = 0; i < split->count; i++) {
		const struct tree *entry = split->items[i];
		const char *subset = text_of(entry, "hf_subset");
		double value = number_of(entry, "main_score");
		if (task && subset && !strcmp(subset, task->subset))
			return value;
		sum += value;
	}
	return sum / (double)split->count;
}

static char *
copied(const char *text)
{
	return text ? mem_string(text) : NULL;
}

/* The protocol in mteb-score's settings: 1, 2, or 0: unknown. */
static int
protocol_of(const struct tree *motes)
{
	const char *protocol =
	    motes ? text_of(tree_get(motes, "settings"), "protocol") : NULL;

	return !protocol ? 0 : !strcmp(protocol, "v2") ? 2 : !strcmp(protocol, "v1");
}

/* Whether a setting of mteb-score is a size of the set. */
static bool
is_size(const char *key)
{
	static const char *const sizes[] = { "queries", "documents", "pairs", "positive",
		"rows", "sets", "texts", "train", "test", "labels", "drawn", NULL };

	for (int i = 0; sizes[i]; i++)
		if (!strcmp(key, sizes[i]))
			return true;
	return false;
}

/* The settings that are sizes, or the others, joined by commas, without the main metric.  NULL: none. */
static char *
settings_of(const struct tree *motes, bool sizes)
{
	const struct tree *settings = motes ? tree_get(motes, "settings") : NULL;
	char *line = NULL;

	if (!settings || settings->kind != TREE_OBJECT)
		return NULL;
	for (size_t i = 0; i < settings->count; i++) {
		const char *key = settings->items[i]->key,
			   *value = text_of(settings, key);
		if (!value || is_size(key) != sizes || !strcmp(key, "main"))
			continue;
		char *longer = mem_format("%s%s%s %s", line ? line : "", line ? ", " : "",
		    sizes ? value : key, sizes ? key : value);
		free(line);
		line = longer;
	}
	return line;
}

static long long
time_of(const char *path)
{
	struct stat status;

	return stat(path, &status) ? 0 : (long long)status.st_mtime;
}

/* Adds a file's main score; returns NULL, or why it has none, freed by the caller. */
static char *
take_file(struct results *results, const struct registry *registry,
    const struct tree *file, const char *name, const char *path)
{
	const struct registry_task *task = registry_find(registry, name);
	const struct tree *scores = tree_get(file, "scores"),
			  *motes = tree_get(file, "motes"), *split = NULL;

	if (scores && scores->kind == TREE_OBJECT)
		split = find_split(scores, task);
	if (!split || split->kind != TREE_LIST || !split->count)
		return mem_format(
		    "there are no scores of the split '%s'", task ? task->split : "test");
	double value = main_score(split, task);
	if (!isfinite(value))
		return mem_string("there is no main_score that is a number");
	motes = motes && motes->kind == TREE_OBJECT ? motes : NULL;
	results->items = mem_grow(results->items, &results->capacity, results->count + 1,
	    sizeof *results->items);
	results->items[results->count++] = (struct task_result){ .task = mem_string(name),
		.type = copied(text_of(motes, "task_type")),
		.metric = copied(text_of(motes, "main_score")),
		.main = value,
		.protocol = task && task->protocol ? 0 : protocol_of(motes),
		.other = tree_boolean(motes, "other_size", false),
		.path = mem_string(path),
		.time = time_of(path),
		.size = settings_of(motes, true),
		.settings = settings_of(motes, false) };
	return NULL;
}

static void
read_file(struct results *results, const struct registry *registry, const char *path)
{
	struct tree *file = json_read(path);
	const char *name = text_of(file, "task_name");
	char *why;

	if (name)
		why = take_file(results, registry, file, name, path);
	else if (text_of(file, "mteb_dataset_name"))
		why = mem_string(
		    "it is of an mteb before 1.11; load and save it with a newer one");
	else
		why = mem_string("there is no task_name: not a result of mteb");
	if (why)
		warn("%s: is left out: %s", path, why);
	free(why);
	tree_free(file);
}

/* A component of a path, counted from its end. */
static char *
part_of(const char *dir, int from_end)
{
	char *path = realpath(dir, NULL), *cut;

	if (!path)
		die("%s: cannot be read:", dir);
	for (cut = strrchr(path, '/'); from_end-- && cut && cut != path;
	     cut = strrchr(path, '/'))
		*cut = 0;
	char *part = mem_string(cut ? cut + 1 : path);
	free(path);
	return part;
}

static void
read_names(struct results *results, const char *dir)
{
	struct tree *meta = json_find(dir, "model_meta.json");
	const char *model = text_of(meta, "name"), *revision = text_of(meta, "revision");

	results->model = model ? mem_string(model) : part_of(dir, 1);
	results->revision = revision ? mem_string(revision) : part_of(dir, 0);
	tree_free(meta);
}

static int
is_score(const struct dirent *entry)
{
	const char *name = entry->d_name, *dot = strrchr(name, '.');

	return *name != '.' && dot && !strcmp(dot, ".json") &&
	       strcmp(name, "model_meta.json") != 0;
}

static int
by_task(const void *a, const void *b)
{
	return strcmp(
	    ((const struct task_result *)a)->task, ((const struct task_result *)b)->task);
}

/* The protocol of all results with a known one; 0: unknown, or they differ. */
static int
common_protocol(const struct results *results)
{
	int common = 0;

	for (size_t i = 0; i < results->count; i++) {
		int own = results->items[i].protocol;
		if (own && common && own != common)
			return 0;
		common = own ? own : common;
	}
	return common;
}

/* Adds the folders with a model_meta.json in `dir`, at most `deep` below it, to a list, after spaces. */
static char *
add_folders(char *list, const char *dir, int deep, int *count)
{
	struct dirent **entries;
	int entry_count = scandir(dir, &entries, NULL, alphasort);

	for (int i = 0; i < entry_count; i++) {
		char *path = mem_format("%s/%s", dir, entries[i]->d_name);
		struct stat status;
		if (!strcmp(entries[i]->d_name, "model_meta.json")) {
			char *longer =
			    mem_format("%s%s%s", list ? list : "", list ? " " : "", dir);
			free(list);
			list = longer;
			++*count;
		} else if (deep && *entries[i]->d_name != '.' && !stat(path, &status) &&
			   S_ISDIR(status.st_mode)) {
			list = add_folders(list, path, deep - 1, count);
		}
		free(path);
		free(entries[i]);
	}
	if (entry_count >= 0)
		free(entries);
	return list;
}

/* The folder itself if it has files of results, or the only one in it; freed by the caller. */
static char *
find_folder(const char *dir)
{
	enum { DEEP = 4 }; /* RESULTS/results/MODEL/REVISION */
	struct dirent **entries;
	int own = scandir(dir, &entries, is_score, alphasort), count = 0;

	if (own < 0)
		die("%s: cannot be read:", dir);
	for (int i = 0; i < own; i++)
		free(entries[i]);
	free(entries);
	if (own)
		return mem_string(dir);
	char *found = add_folders(NULL, dir, DEEP, &count);
	if (count > 1)
		die("%s: has results of %d models; name the folder of one: %s", dir,
		    count, found);
	return count ? found : mem_string(dir);
}

struct results *
results_read(const struct registry *registry, const char *named)
{
	struct results *results = mem_zero(1, sizeof *results);
	struct dirent **entries;
	char *dir = find_folder(named);
	int count = scandir(dir, &entries, is_score, alphasort);

	if (count < 0)
		die("%s: cannot be read:", dir);
	read_names(results, dir);
	results->dir = dir;
	for (int i = 0; i < count; i++) {
		char *path = mem_format("%s/%s", dir, entries[i]->d_name);
		read_file(results, registry, path);
		free(path);
		free(entries[i]);
	}
	free(entries);
	if (!results->count)
		die("%s: there are no results in it (TASK.json)", dir);
	qsort(results->items, results->count, sizeof *results->items, by_task);
	results->protocol = common_protocol(results);
	return results;
}

const struct task_result *
results_find(const struct results *results, const char *task)
{
	struct task_result key = { .task = (char *)task };

	return bsearch(
	    &key, results->items, results->count, sizeof *results->items, by_task);
}

char *
results_per_query(const struct task_result *result)
{
	size_t stem = strlen(result->path) - strlen(".json");
	char *path = mem_format("%.*s.tsv", (int)stem, result->path);

	if (access(path, F_OK) != 0) {
		free(path);
		path = NULL;
	}
	return path;
}

void
results_free(struct results *results)
{
	for (size_t i = 0; i < results->count; i++) {
		free(results->items[i].task);
		free(results->items[i].type);
		free(results->items[i].metric);
		free(results->items[i].path);
		free(results->items[i].size);
		free(results->items[i].settings);
	}
	free(results->items);
	free(results->model);
	free(results->revision);
	free(results->dir);
	free(results);
}
