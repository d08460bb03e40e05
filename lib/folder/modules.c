#include "folder/modules.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "text/json.h"

/* node: for messages. */
static struct module
module_of(const struct tree *node, const char *type, const char *name, const char *dir)
{
	const char *dot = strrchr(type, '.');

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

/* Replaces a Router by the modules of its default route. */
static void
expand_router(struct modules *modules, const char *dir)
{
	struct tree *config = modules->router = json_need(dir, "router_config.json");
	const struct tree *structure = tree_get(config, "structure");
	const char *name =
	    tree_string(tree_get(config, "parameters"), "default_route", "document");
	const struct tree *route = tree_get(structure, name);
	const struct tree *types = tree_get(config, "types");

	if (modules->count != 1 || *modules->at[0].name)
		tree_die(modules->tree,
		    "a Router is supported as the only module, in the model's own folder");
	if (!route || route->kind != TREE_LIST || !route->count)
		tree_die(config, "'structure' has no modules of the route '%s'", name);
	free(modules->at[0].folder);
	free(modules->at);
	modules->at = mem_zero(route->count, sizeof *modules->at);
	modules->count = 0;
	for (; modules->count < route->count; modules->count++) {
		const struct tree *id = route->items[modules->count];
		if (id->kind != TREE_STRING)
			tree_die(route, "a route must be a list of names of modules");
		modules->at[modules->count] =
		    module_of(id, tree_string(types, id->string, ""), id->string, dir);
	}
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
		modules->at[modules->count] = module_of(node,
		    tree_string(node, "type", ""), tree_string(node, "path", ""), dir);
	}
	for (size_t i = 0; i < modules->count; i++)
		if (!strcmp(modules->at[i].type, "Router")) {
			expand_router(modules, dir);
			break;
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
	tree_free(modules->router);
	free(modules);
}

bool
module_is_transformer(const struct module *module)
{
	return !strcmp(module->type, "Transformer") ||
	       !strcmp(module->type, "MLMTransformer");
}

bool
module_is_terms(const struct module *module)
{
	return !strcmp(module->type, "SparseStaticEmbedding");
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
		    module_is_table(&modules->at[i - 1]) ||
		    module_is_terms(&modules->at[i - 1]))
			found = modules->at[i - 1].folder;
	char *folder = mem_string(found);
	modules_free(modules);
	return folder;
}
