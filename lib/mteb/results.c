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
#include "base/mem.h"
#include "score/measure/stats.h"
#include "stream/documents.h"
#include "text/json.h"

enum { DECIMALS = 6 };

/* Writing. ------------------------------------------------------------------------- */

/* Rounds the numbers in lists and objects, too, as mteb does. */
static struct tree *
round_all(struct tree *value)
{
	if (value->kind == TREE_REAL)
		value->real = stats_round(value->real, DECIMALS);
	for (size_t i = 0; i < value->count; i++)
		round_all(value->items[i]);
	return value;
}

/* The number of rows in a setting: "5000", or of a sample "2998 of 5000". */
static long long
rows_of(const char *setting)
{
	const char *of = strstr(setting, " of ");

	return atoll(of ? of + strlen(" of ") : setting);
}

/* Whether the rows of a report are more or fewer than mteb's, if their number is known; then warns. */
static bool
other_size(const char *task, const struct task_part *part, const struct tree *settings)
{
	static const char *const counts[][5] = {
		{ "queries", "pairs", "test", "rows", "texts" }, { "documents" }
	};
	bool other = false;

	for (int side = 0; side < 2; side++)
		for (int i = 0; i < 5 && counts[side][i] && part->size[side]; i++) {
			const char *text = tree_string(settings, counts[side][i], NULL);
			long long count = text ? rows_of(text) : 0;
			if (!text || count == (long long)part->size[side])
				continue;
			warn("%s: has %lld %s, mteb's has %lld: another set of that name",
			    task, count, counts[side][i], (long long)part->size[side]);
			other = true;
		}
	return other;
}

static struct tree *
languages_of(const struct tree *named)
{
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
	bool retrieved =
	    type && !strcmp(type, "retrieval") &&
	    (!strncmp(task->type, "Instruction", 11) ||
		(tree_get(settings, "candidates") && !strcmp(task->type, "Reranking")));
	if (type && strcmp(type, scorer) != 0 && !retrieved)
		die("%s: mteb scores it by %s, and this is a report of %s", task->name,
		    scorer, type);
	if (task->protocol && protocol && strcmp(protocol, wanted) != 0)
		die("%s: mteb scores it by protocol %s alone, and this is a report of %s",
		    task->name, wanted, protocol);
	free(scorer);
}

static struct tree *
score_entry(const struct registry_task *task, const struct part_report *of)
{
	const struct tree *scores = tree_need(of->report, "scores");
	const struct tree *main = tree_get(scores, task->main);
	struct tree *entry = tree_object();

	if (!main || (main->kind != TREE_REAL && main->kind != TREE_INTEGER))
		tree_die(scores, "%s: has no value of %s, its main score", task->name,
		    task->main);
	tree_set(entry, "main_score", round_all(tree_copy(main)));
	for (size_t i = 0; i < scores->count; i++)
		if (strcmp(scores->items[i]->key, "main_score"))
			tree_set(entry, scores->items[i]->key,
			    round_all(tree_copy(scores->items[i])));
	tree_set(entry, "hf_subset", tree_of_string(of->part.subset));
	tree_set(entry, "languages", languages_of(of->part.languages));
	return entry;
}

/* The list of a split, which is added if it is new. */
static struct tree *
split_of(struct tree *scores, const char *split)
{
	struct tree *list = tree_get(scores, split);

	return list ? list : tree_set(scores, split, tree_list());
}

/* Whether a setting of mteb-score is a size of the set. */
static bool
is_size(const char *key)
{
	static const char *const sizes[] = { "queries", "documents", "pairs", "positive",
		"rows", "sets", "texts", "train", "test", "labels", "drawn", NULL };

	return tree_listed(sizes, key);
}

/* The settings of a report; of the first of several parts, without its sizes. */
static struct tree *
settings_of_all(const struct tree *settings, size_t parts)
{
	struct tree *copy = tree_object();

	for (size_t i = 0; i < settings->count; i++)
		if (parts == 1 || !is_size(settings->items[i]->key))
			tree_set(
			    copy, settings->items[i]->key, tree_copy(settings->items[i]));
	return copy;
}

struct tree *
results_of(const struct part_reports *of)
{
	const struct registry_task *task = of->task;
	const struct part_report *parts = of->items;
	size_t count = of->count;
	struct tree *file = tree_object(), *scores = tree_object(),
		    *motes = tree_object();
	const struct tree *settings = tree_get(parts[0].report, "settings");
	bool other = false, counted = true;

	for (size_t i = 0; i < count; i++) {
		const struct tree *own = tree_get(parts[i].report, "settings");
		check_scorer(task, parts[i].report);
		tree_add(
		    split_of(scores, parts[i].part.split), score_entry(task, &parts[i]));
		other |= other_size(task->name, &parts[i].part, own);
		counted &= parts[i].part.size[0] > 0;
	}
	tree_set(motes, "version", tree_of_string(MOTES_VERSION));
	tree_set(motes, "task_type", tree_of_string(task->type));
	tree_set(motes, "main_score", tree_of_string(task->main));
	tree_set(motes, "other_size", tree_of_boolean(other));
	if (settings)
		tree_set(motes, "settings", settings_of_all(settings, count));
	bool same = task->data_revision && counted && !other;
	tree_set(file, "dataset_revision",
	    tree_of_string(same ? task->data_revision : "local"));
	tree_set(file, "task_name", tree_of_string(task->name));
	tree_set(file, "mteb_version", tree_of_null());
	tree_set(file, "scores", scores);
	tree_set(file, "evaluation_time", tree_of_null());
	tree_set(file, "kg_co2_emissions", tree_of_null());
	tree_set(file, "motes", motes);
	return file;
}

/* Reading. ------------------------------------------------------------------------- */

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

/* Adds the main score of a subset in a split; whether there is one, which is finite. */
static bool
add_score(double *sum, const struct tree *scores, const struct task_part *part)
{
	const struct tree *split = tree_get(scores, part->split);

	for (size_t i = 0; split && split->kind == TREE_LIST && i < split->count; i++) {
		const char *subset = text_of(split->items[i], "hf_subset");
		double value = number_of(split->items[i], "main_score");
		if (strcmp(subset ? subset : "default", part->subset) || !isfinite(value))
			continue;
		*sum += value;
		return true;
	}
	return false;
}

/* The mean over the parts of a known task that are in the file; of a benchmark, of its parts.  `missing`: how many of
 * them are not. */
static double
mean_of_parts(const struct tree *scores, const struct registry_task *task,
    const struct tree *benchmark, size_t *missing)
{
	struct task_parts parts = task_parts(task);
	double sum = 0;
	size_t met = 0;

	for (size_t i = 0; i < parts.count; i++)
		if (!benchmark || benchmark_has(benchmark, task->name, &parts.items[i])) {
			bool there = add_score(&sum, scores, &parts.items[i]);
			met += there;
			*missing += !there;
		}
	free(parts.items);
	return met ? sum / (double)met : NAN;
}

/* The mean over all subsets of the task's splits; of an unknown task, of "test" or the only split. */
static double
mean_of_all(const struct tree *scores, const struct registry_task *task)
{
	double sum = 0;
	size_t count = 0;

	for (size_t s = 0; s < scores->count; s++) {
		const struct tree *split = scores->items[s];
		bool wanted = task ? task_has_split(task, split->key)
				   : scores->count == 1 || !strcmp(split->key, "test");
		if (!wanted || split->kind != TREE_LIST)
			continue;
		for (size_t i = 0; i < split->count; i++, count++)
			sum += number_of(split->items[i], "main_score");
	}
	return count ? sum / (double)count : NAN;
}

/* The main score of a file.  If the registry does not list a task's subsets, it is the mean of all of them. */
static double
main_score(const struct registry *registry, const struct tree *scores,
    const struct registry_task *task, size_t *missing)
{
	double mean =
	    task ? mean_of_parts(scores, task, registry->benchmark, missing) : NAN;

	if (task && (!isnan(mean) || task->subsets))
		return mean;
	*missing = 0;
	return mean_of_all(scores, task);
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
		char *setting =
		    mem_format("%s %s", sizes ? value : key, sizes ? key : value);
		line = mem_list(line, setting);
		free(setting);
	}
	return line;
}

static long long
time_of(const char *path)
{
	struct stat status;

	return stat(path, &status) ? 0 : (long long)status.st_mtime;
}

/* Adds a file's main score; returns NULL, or why it has none. */
static const char *
take_file(struct results *results, const struct registry *registry,
    const struct tree *file, const char *name, const char *path)
{
	const struct registry_task *task = registry_find(registry, name);
	const struct tree *scores = tree_get(file, "scores"),
			  *motes = tree_get(file, "motes");
	size_t missing = 0;

	if (!scores || scores->kind != TREE_OBJECT || !scores->count)
		return "there are no scores";
	double value = main_score(registry, scores, task, &missing);
	if (!isfinite(value))
		return "there is no main_score that is a number, of a split and subset that the registry has";
	motes = motes && motes->kind == TREE_OBJECT ? motes : NULL;
	results->items = mem_grow(results->items, &results->capacity, results->count + 1,
	    sizeof *results->items);
	results->items[results->count++] = (struct task_result){ .task = mem_string(name),
		.type = copied(text_of(motes, "task_type")),
		.metric = copied(text_of(motes, "main_score")),
		.main = value,
		.protocol = task && task->protocol ? 0 : protocol_of(motes),
		.other = tree_boolean(motes, "other_size", false),
		.missing = missing,
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
	const char *name = text_of(file, "task_name"), *why;

	if (name)
		why = take_file(results, registry, file, name, path);
	else if (text_of(file, "mteb_dataset_name"))
		why = "it is of an mteb before 1.11; load and save it with a newer one";
	else
		why = "there is no task_name: not a result of mteb";
	if (why)
		warn("%s: is left out: %s", path, why);
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
	results->meta = json_find(dir, "model_meta.json");
	const char *model = text_of(results->meta, "name");
	const char *revision = text_of(results->meta, "revision");

	results->model = model ? mem_string(model) : part_of(dir, 1);
	results->revision = revision ? mem_string(revision) : part_of(dir, 0);
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
		if (!strcmp(entries[i]->d_name, "model_meta.json")) {
			char *longer =
			    mem_format("%s%s%s", list ? list : "", list ? " " : "", dir);
			free(list);
			list = longer;
			++*count;
		} else if (deep && *entries[i]->d_name != '.' &&
			   documents_is_folder(path)) {
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
	for (size_t i = 1; i < results->count; i++)
		if (!by_task(&results->items[i - 1], &results->items[i]))
			die("%s: is a second result of the task '%s', beside %s; remove one of them",
			    results->items[i].path, results->items[i].task,
			    results->items[i - 1].path);
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
	tree_free(results->meta);
	free(results);
}
