#include "mteb/plan.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "folder/prompt.h"
#include "mteb/instruction.h"
#include "text/datafile.h"

/* Whether make reads a name or path without quoting; it takes the bytes of letters beyond ASCII as they are. */
static bool
is_plain(const char *text)
{
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && !(*text & 0x80) &&
		    !strchr("._-+/@,~", *text))
			return false;
	return true;
}

/* Whether a task's texts are queries and documents. */
static bool
is_sided(const struct registry_task *task)
{
	return strstr(task->type, "Retrieval") || strstr(task->type, "Reranking");
}

/* The model's prompt for a side of a task (plan.h), freed by the caller; NULL: none. */
static char *
choose_prompt(const struct tree *prompts, const struct registry_task *task, int side)
{
	static const char *const sides[] = { "query", "document" };
	bool sided = is_sided(task);
	char *names[] = { mem_format("%s-%s", task->name, sides[side]),
		mem_string(task->name), mem_format("%s-%s", task->type, sides[side]),
		mem_string(task->type), mem_string(sides[side]),
		mem_string(task->prompt[side] ? task->prompt[side] : "") };
	char *found = NULL;

	for (int i = 0; i < 6; i++) {
		bool asked = sided || (i != 0 && i != 2 && i != 4);
		if (asked && !found && tree_get(prompts, names[i]))
			found = mem_string(names[i]);
		free(names[i]);
	}
	return found;
}

/* Prints a word for bash, $'...', in a variable of make. */
static void
print_quoted(const char *text, FILE *out)
{
	fputs("$$'", out);
	for (; *text; text++)
		if (*text == '\n')
			fputs("\\n", out);
		else if (*text == '$')
			fputs("$$", out);
		else if (strchr("'\\#", *text))
			fprintf(out, "\\x%02x", (unsigned)*text);
		else
			fputc(*text, out);
	fputs("'\n", out);
}

/* How a model is told what a text is for. */
struct prompting {
	struct tree *prompts; /* its own, by name */
	char *template;	      /* of instructions; NULL: none */
};

static void
print_prompts(const struct prompting *prompting, const struct registry_task *task,
    const char *unit, FILE *out)
{
	static const char *const sides[] = { "query", "document" };

	for (int side = 0; side < REGISTRY_SIDES; side++) {
		char *text = prompting->template ? instruction_prompt(prompting->template,
						       task, side, is_sided(task))
						 : NULL;
		char *prompt = prompting->template
				   ? NULL
				   : choose_prompt(prompting->prompts, task, side);
		if (prompt && !is_plain(prompt))
			die("%s: the prompt '%s' has a name that make cannot read",
			    task->name, prompt);
		if (prompt)
			fprintf(out, "%s.%s := --task %s\n", unit, sides[side], prompt);
		if (text) {
			fprintf(out, "%s.%s := --prompt ", unit, sides[side]);
			print_quoted(text, out);
		}
		free(prompt);
		free(text);
	}
}

static void
print_cuts(const struct registry_task *task, const char *unit, FILE *out)
{
	if (!task->cuts)
		return;
	fprintf(out, "%s.at := --at ", unit);
	for (size_t i = 0; i < task->cuts->count; i++)
		fprintf(out, "%s%lld", i ? "," : "",
		    (long long)task->cuts->items[i]->integer);
	fputc('\n', out);
}

static void
print_settings(const struct registry_task *task, const char *unit, FILE *out)
{
	if (task->samples)
		fprintf(out, "%s.samples := %lld\n", unit, (long long)task->samples);
	if (task->experiments)
		fprintf(out, "%s.experiments := --experiments %lld\n", unit,
		    (long long)task->experiments);
	if (task->fast != REGISTRY_NO_FAST && task->documents > 0)
		fprintf(out, "%s.documents := %.17g\n", unit, task->documents);
	else if (task->fast != REGISTRY_NO_FAST)
		fprintf(out, "%s.documents := all\n", unit);
	if (task->protocol)
		fprintf(out, "%s.protocol := v%d\n", unit, task->protocol);
	if (task->ignore_identical)
		fprintf(out, "%s.identical := --ignore-identical-ids\n", unit);
	if (task->groups)
		fprintf(out, "%s.groups := --groups %s\n", unit, task->groups);
	print_cuts(task, unit, out);
}

/* The part's name in make: the task's, with subset and split if mteb has several parts and this one is there; the caller
 * frees it. */
static char *
unit_of(const struct data_set *set, const struct data_part *part)
{
	if (set->count + set->absent < 2 || part->absent)
		return mem_string(set->task->name);
	char *name = task_part_name(&part->part),
	     *unit = mem_format("%s@%s", set->task->name, name);
	free(name);
	return unit;
}

static int64_t
rows_of(const char *path)
{
	struct datafile *file = datafile_open(path, DATAFILE_GUESS);
	int64_t rows = 0;

	while (datafile_next(file))
		rows++;
	datafile_close(file);
	return rows;
}

/* mteb draws the training rows of all parts of a multilabel set from one generator: the rows of the parts before. */
static void
print_earlier(
    const struct data_set *set, const struct data_part *part, const char *unit, FILE *out)
{
	if (strcmp(set->task->type, "MultilabelClassification") != 0 ||
	    part == set->parts)
		return;
	size_t missing = set->absent;
	for (const struct data_part *at = set->parts; at < part; at++)
		missing += !at->files[DATA_TRAIN];
	if (missing) {
		warn(
		    "%s: %zu of its parts are missing; mteb, which has them, draws other training rows for those after them",
		    unit, missing);
		return;
	}
	fprintf(out, "%s.earlier := --earlier ", unit);
	for (const struct data_part *at = set->parts; at < part; at++)
		fprintf(out, "%s%lld", at == set->parts ? "" : ",",
		    (long long)rows_of(at->files[DATA_TRAIN]));
	fputc('\n', out);
}

/* mteb-score's name of the part's type. */
static char *
scorer_of(const struct data_set *set, const struct data_part *part)
{
	return part->files[DATA_CORPUS] ? mem_string("retrieval")
					: registry_scorer(set->task);
}

static void
print_part(const struct prompting *prompting, const struct data_set *set,
    const struct data_part *part, FILE *out)
{
	const struct registry_task *task = set->task;
	char *unit = unit_of(set, part), *scorer = scorer_of(set, part),
	     *name = task_part_name(&part->part);

	fprintf(out, "\n%s += %s\n%s.task := %s\n", scorer, unit, unit, task->name);
	fprintf(out, "%s.reports += %s\n", task->name, unit);
	fprintf(out, "%s.part := %s\n", unit, name);
	fprintf(out, "%s.type := %s\n", unit, task->type);
	print_prompts(prompting, task, unit, out);
	print_settings(task, unit, out);
	print_earlier(set, part, unit, out);
	for (int f = 0; f < DATA_FILES; f++)
		if (part->files[f])
			fprintf(out, "%s.%s := %s\n", unit, data_file_names[f],
			    part->files[f]);
	free(name);
	free(scorer);
	free(unit);
}

/* Whether the choice means the part: its benchmark, if there is one, and one of the words, if there are any. */
static bool
is_meant(const struct plan_choice *choice, const struct data_set *set,
    const struct data_part *part)
{
	const char *task = set->task->name, *whole = set->task->part_of;
	bool meant = choice->count == 0;

	for (int i = 0; i < choice->count; i++)
		meant |= data_set_means(choice->registry, set, part, choice->words[i]);
	return meant && (!choice->benchmark ||
			    benchmark_has(choice->benchmark, task, &part->part) ||
			    (whole && benchmark_has(choice->benchmark, whole, NULL)));
}

/* Dies on a word that selects no set: a mistake, or a missing set. */
static void
check_words(
    const struct data_folder *folder, const char *data, const struct plan_choice *choice)
{
	for (int i = 0; i < choice->count; i++) {
		bool met = false;
		for (size_t s = 0; s < folder->count; s++)
			for (size_t p = 0; p < folder->sets[s].count; p++)
				met |= data_set_means(choice->registry, &folder->sets[s],
				    &folder->sets[s].parts[p], choice->words[i]);
		if (!met)
			die("%s: there is no data set, type or benchmark '%s'; 'plan' without it lists all",
			    data, choice->words[i]);
	}
}

/* Prints name and revision of the model that encodes documents, which do not go through gates, and hidden states, which
 * depend on the template but not on the rest of the method. */
static void
print_base(const struct model_meta *model, FILE *out)
{
	struct model_meta base = { .folder = model->folder };
	char *name = model_meta_name(&base), *template = model_meta_template(model);

	base.method = template;
	char *revision = model_meta_revision(&base);

	if (!is_plain(name))
		die("'%s' is a name that make cannot read; rename the folder", name);
	fprintf(out, "base := %s\nbase_revision := %s\n", name, revision);
	free(revision);
	free(template);
	free(name);
}

static void
check_names(const struct data_folder *folder, const struct plan_choice *choice)
{
	for (size_t i = 0; i < folder->count; i++) {
		const struct data_set *set = &folder->sets[i];
		bool meant = false;
		for (size_t p = 0; p < set->count; p++)
			meant |= is_meant(choice, set, &set->parts[p]);
		if (meant && (!is_plain(set->task->name) || !is_plain(set->folder)))
			die("%s: make cannot read blanks and signs in paths; rename the folder, or give a link to it",
			    set->folder);
	}
}

static void
print_set(const struct prompting *prompting, const struct data_set *set,
    const struct plan_choice *choice, FILE *out)
{
	for (size_t p = 0; p < set->count; p++) {
		const struct data_part *part = &set->parts[p];
		if (!is_meant(choice, set, part))
			continue;
		if (!part->fault) {
			print_part(prompting, set, part, out);
			continue;
		}
		char *unit = unit_of(set, part);
		fprintf(out, "\nfaulty += %s\n%s.fault := ", unit, unit);
		print_quoted(part->fault, out);
		free(unit);
	}
}

void
plan_print(const struct data_folder *folder, const char *data,
    const struct model_meta *model, const struct plan_choice *choice, FILE *out)
{
	struct prompting prompting = { prompt_list(model->folder),
		instruction_template(model, choice->instruct) };
	char *name = model_meta_name(model), *revision = model_meta_revision(model);

	check_words(folder, data, choice);
	check_names(folder, choice);
	if (!is_plain(name))
		die("'%s' is a name that make cannot read; give another with --name",
		    name);
	fprintf(
	    out, "# by leaderboard plan\nname := %s\nrevision := %s\n", name, revision);
	if (model->gates || model->method)
		print_base(model, out);
	for (size_t i = 0; i < folder->count; i++)
		print_set(&prompting, &folder->sets[i], choice, out);
	tree_free(prompting.prompts);
	free(prompting.template);
	free(revision);
	free(name);
}

/* What is there. ------------------------------------------------------------------- */

/* The set of a task, or of a part of it; NULL: none. */
static const struct data_set *
set_of(const struct data_folder *folder, const char *task)
{
	for (size_t i = 0; i < folder->count; i++) {
		const struct registry_task *own = folder->sets[i].task;
		if (!strcmp(own->name, task) ||
		    (own->part_of && !strcmp(own->part_of, task)))
			return &folder->sets[i];
	}
	return NULL;
}

size_t
plan_missing(const struct data_folder *folder, const char *data,
    const struct plan_choice *choice, FILE *out)
{
	const struct tree *tasks = tree_get(choice->benchmark, "tasks");
	size_t missing = 0;

	for (size_t i = 0; i < tasks->count; i++)
		missing += !set_of(folder, benchmark_task(tasks->items[i]));
	fprintf(out, "%s: %zu of its %zu data sets are in %s%s\n", choice->benchmark->key,
	    tasks->count - missing, tasks->count, data, missing ? "; missing are" : "");
	for (size_t i = 0; i < tasks->count; i++) {
		const char *name = benchmark_task(tasks->items[i]);
		const struct registry_task *task = registry_find(choice->registry, name);
		if (!set_of(folder, name))
			fprintf(out, "  %-44s %s\n", name,
			    task && task->path ? task->path
					       : "several sets of that name");
	}
	return tasks->count - missing;
}
