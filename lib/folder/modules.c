#include "folder/modules.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "text/json.h"

static struct module
module_of(const struct tree *node, const char *dir)
{
	const char *type = tree_string(node, "type", ""), *dot = strrchr(type, '.');
	const char *name = tree_string(node, "path", "");

	if (!strcmp(name, "."))
		name = "";
	if (strchr(name, '/') || name[0] == '.' || strlen(name) > 63)
		tree_die(node,
		    "'path' is '%s'; it must be the plain name of a folder in the model's",
		    name);
	return (struct module){ .type = dot ? dot + 1 : type,
		.name = name,
		.folder = *name ? mem_format("%s/%s", dir, name) : mem_string(dir),
		.node = node };
}

struct modules *
modules_read(const char *dir)
{
	struct tree *tree = json_find(dir, "modules.json");
	struct modules *modules = NULL;

	if (!tree)
		return NULL;
	if (tree->kind != TREE_LIST)
		tree_die(tree, "a list of modules is expected");
	modules = mem_zero(1, sizeof *modules);
	modules->tree = tree;
	modules->at = mem_zero(tree->count, sizeof *modules->at);
	for (; modules->count < tree->count; modules->count++) {
		const struct tree *node = tree->items[modules->count];
		if (node->kind != TREE_OBJECT)
			tree_die(
			    node, "a module must be an object with 'type' and 'path'");
		modules->at[modules->count] = module_of(node, dir);
	}
	return modules;
}

void
modules_free(struct modules *modules)
{
	if (!modules)
		return;
	for (size_t i = 0; i < modules->count; i++)
		free(modules->at[i].folder);
	free(modules->at);
	tree_free(modules->tree);
	free(modules);
}

bool
module_is_transformer(const struct module *module)
{
	return !strcmp(module->type, "Transformer") ||
	       !strcmp(module->type, "MLMTransformer");
}

bool
module_is_table(const struct module *module)
{
	return !strcmp(module->type, "StaticEmbedding");
}

char *
modules_transformer(const char *dir)
{
	struct modules *modules = modules_read(dir);
	const char *found = dir;

	for (size_t i = modules ? modules->count : 0; i > 0; i--)
		if (module_is_transformer(&modules->at[i - 1]) ||
		    module_is_table(&modules->at[i - 1]))
			found = modules->at[i - 1].folder;
	char *folder = mem_string(found);
	modules_free(modules);
	return folder;
}
