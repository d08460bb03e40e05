#include "folder/prompt.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "folder/late_interaction.h"
#include "folder/modules.h"
#include "text/json.h"

/* Adds the prompts of tasks in task_experts that have none: the expert's, or "". */
static void
add_tasks(struct tree *prompts, const struct tree *tasks)
{
	struct tree *own = tree_copy(prompts);

	for (size_t i = 0; i < tasks->count; i++) {
		const char *task = tasks->items[i]->key;
		const char *text = tree_string(own, tree_string(tasks, task, ""), "");
		if (!tree_get(own, task))
			tree_set(prompts, task, tree_of_string(text));
	}
	tree_free(own);
}

/* Adds the prompts of tasks with a LoRA (jina-embeddings-v3) that have none: the text of task_instructions, or "". */
static void
add_loras(struct tree *prompts, const struct tree *model, const struct tree *tasks)
{
	const struct tree *texts = tree_get(model, "task_instructions");

	for (size_t i = 0; i < tasks->count; i++) {
		const char *task = tasks->items[i]->string;
		if (task && !tree_get(prompts, task))
			tree_set(
			    prompts, task, tree_of_string(tree_string(texts, task, "")));
	}
}

/* Adds a prompt for a query and a document of a late-interaction model, "" where it has none. */
static struct tree *
add_roles(struct tree *config, const char *dir)
{
	struct late_interaction *late = late_interaction_read(dir);

	if (late && !config)
		config = tree_object();
	if (late && !tree_get(config, "prompts"))
		tree_set(config, "prompts", tree_object());
	for (int role = 0; late && role < LATE_ROLES; role++) {
		const char *name = late_role_name((enum late_role)role);
		struct tree *prompts = tree_get(config, "prompts");
		if (!tree_get(prompts, name))
			tree_set(prompts, name, tree_of_string(""));
	}
	late_interaction_free(late);
	return config;
}

static struct tree *
read_config(const char *dir)
{
	struct tree *config = json_find(dir, "config_sentence_transformers.json");
	char *folder = modules_transformer(dir);
	struct tree *model = json_find(folder, "config.json");
	const struct tree *tasks = tree_get(tree_get(model, "task_experts"), "tasks");
	const struct tree *loras = tree_get(model, "lora_adaptations");
	bool has_tasks = tasks && tasks->kind == TREE_OBJECT && tasks->count;
	bool has_loras = loras && loras->kind == TREE_LIST && loras->count;

	if ((has_tasks || has_loras) && !config)
		config = tree_object();
	if ((has_tasks || has_loras) && !tree_get(config, "prompts"))
		tree_set(config, "prompts", tree_object());
	if (has_tasks)
		add_tasks(tree_get(config, "prompts"), tasks);
	if (has_loras)
		add_loras(tree_get(config, "prompts"), model, loras);
	tree_free(model);
	free(folder);
	return add_roles(config, dir);
}

char *
prompt_find(const char *dir, const char *name)
{
	struct tree *config = read_config(dir);
	const struct tree *prompts = tree_get(config, "prompts");
	const char *text = prompts ? tree_string(prompts, name, NULL) : NULL;

	if (!prompts || !prompts->count)
		die("%s: the model has no prompts; give the text itself with --prompt",
		    dir);
	if (!text) {
		char *names = mem_string("");
		for (size_t i = 0; i < prompts->count; i++)
			names = mem_list(names, prompts->items[i]->key);
		tree_die(prompts, "no prompt is called '%s'; there are: %s", name, names);
	}
	char *copy = mem_string(text);
	tree_free(config);
	return copy;
}

char *
prompt_default(const char *dir)
{
	struct tree *config = read_config(dir);
	const char *name = tree_string(config, "default_prompt_name", NULL);
	char *text = name ? prompt_find(dir, name) : NULL;

	tree_free(config);
	return text;
}

struct tree *
prompt_list(const char *dir)
{
	struct tree *config = read_config(dir);
	const struct tree *prompts = tree_get(config, "prompts");
	struct tree *list = prompts ? tree_copy(prompts) : NULL;

	tree_free(config);
	return list;
}
