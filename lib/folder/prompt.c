#include "folder/prompt.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "text/json.h"

static struct tree *
read_config(const char *dir)
{
	char *path = mem_format("%s/config_sentence_transformers.json", dir);
	struct tree *config = json_read_optional(path);

	free(path);
	return config;
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
