#include "mteb/plan.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "folder/prompt.h"

/* Whether make reads a name or path without quoting. */
static bool
is_plain(const char *text)
{
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && !strchr("._-+/@,~", *text))
			return false;
	return true;
}

/* The model's prompt for a side of a task (plan.h), freed by the caller; NULL: none. */
static char *
choose_prompt(const struct tree *prompts, const struct registry_task *task, int side)
{
	static const char *const sides[] = { "query", "document" };
	bool sided = !strcmp(task->type, "Retrieval") || !strcmp(task->type, "Reranking");
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

static void
print_prompts(const struct tree *prompts, const struct registry_task *task, FILE *out)
{
	static const char *const sides[] = { "query", "document" };

	for (int side = 0; side < REGISTRY_SIDES; side++) {
		char *prompt = choose_prompt(prompts, task, side);
		if (prompt && !is_plain(prompt))
			die("%s: the prompt '%s' has a name that make cannot read",
			    task->name, prompt);
		if (prompt)
			fprintf(
			    out, "%s.%s := --task %s\n", task->name, sides[side], prompt);
		free(prompt);
	}
}

static void
print_set(const struct tree *prompts, const struct data_set *set, FILE *out)
{
	const struct registry_task *task = set->task;
	char *scorer =
	    set->files[DATA_CORPUS] ? mem_string("retrieval") : registry_scorer(task);

	fprintf(out, "\n%s += %s\n", scorer, task->name);
	free(scorer);
	fprintf(out, "%s.type := %s\n", task->name, task->type);
	print_prompts(prompts, task, out);
	if (task->samples)
		fprintf(
		    out, "%s.samples := %lld\n", task->name, (long long)task->samples);
	if (task->fast != REGISTRY_NO_FAST && task->documents > 0)
		fprintf(out, "%s.documents := %.17g\n", task->name, task->documents);
	else if (task->fast != REGISTRY_NO_FAST)
		fprintf(out, "%s.documents := all\n", task->name);
	if (task->protocol)
		fprintf(out, "%s.protocol := v%d\n", task->name, task->protocol);
	if (task->ignore_identical)
		fprintf(out, "%s.identical := --ignore-identical-ids\n", task->name);
	for (int f = 0; f < DATA_FILES; f++)
		if (set->files[f])
			fprintf(out, "%s.%s := %s\n", task->name, data_file_names[f],
			    set->files[f]);
}

static bool
is_meant(const struct data_set *set, char **words, int count)
{
	bool meant = count == 0;

	for (int i = 0; i < count; i++)
		meant |= data_set_means(set, words[i]);
	return meant;
}

/* Dies on a word that selects no set: a mistake, or a missing set. */
static void
check_words(const struct data_folder *folder, const char *data, char **words, int count)
{
	for (int i = 0; i < count; i++) {
		bool met = false;
		for (size_t s = 0; s < folder->count; s++)
			met |= data_set_means(&folder->sets[s], words[i]);
		if (!met)
			die("%s: there is no data set, type or benchmark '%s'; 'plan' without it lists all",
			    data, words[i]);
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

void
plan_print(const struct data_folder *folder, const char *data,
    const struct model_meta *model, char **words, int count, FILE *out)
{
	struct tree *prompts = prompt_list(model->folder);
	char *name = model_meta_name(model), *revision = model_meta_revision(model);

	check_words(folder, data, words, count);
	for (size_t i = 0; i < folder->count; i++) {
		const struct data_set *set = &folder->sets[i];
		if (is_meant(set, words, count) &&
		    (!is_plain(set->task->name) || !is_plain(set->folder)))
			die("%s: make cannot read blanks and signs in paths",
			    set->folder);
	}
	if (!is_plain(name))
		die("'%s' is a name that make cannot read; give another with --name",
		    name);
	fprintf(
	    out, "# by leaderboard plan\nname := %s\nrevision := %s\n", name, revision);
	if (model->gates || model->method)
		print_base(model, out);
	for (size_t i = 0; i < folder->count; i++) {
		const struct data_set *set = &folder->sets[i];
		if (!is_meant(set, words, count))
			continue;
		if (set->fault)
			fprintf(out, "\nfaulty += %s\n%s.fault := %s\n", set->task->name,
			    set->task->name, set->fault);
		else
			print_set(prompts, set, out);
	}
	tree_free(prompts);
	free(revision);
	free(name);
}
