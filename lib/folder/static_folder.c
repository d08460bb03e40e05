#include "folder/static_folder.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "folder/modules.h"
#include "folder/safetensors.h"
#include "text/json.h"

static const char model_type[] = "model2vec";

static bool
says_model2vec(const struct tree *config)
{
	const struct tree *type = tree_get(config, "model_type");

	return type && type->kind == TREE_STRING && !strcmp(type->string, model_type);
}

enum static_kind
static_folder_kind(const char *dir)
{
	char *home = modules_transformer(dir);
	struct tree *config = json_find(home, "config.json");
	struct modules *modules = modules_read(dir);
	enum static_kind kind = STATIC_NONE;

	if (says_model2vec(config))
		kind = STATIC_MODEL2VEC;
	else if (modules && modules->count && module_is_table(&modules->at[0]))
		kind = STATIC_SENTENCE;
	else if (modules ? modules->count && module_is_terms(&modules->at[0])
			 : config && tree_get(config, "frozen") &&
			       !tree_get(config, "model_type"))
		kind = STATIC_TERMS;
	modules_free(modules);
	tree_free(config);
	free(home);
	return kind;
}

/* The table of a folder; dies if it has another shape. */
static const struct safetensor *
find_table(const struct safetensors *file, bool terms)
{
	const struct safetensor *table = terms
					     ? safetensors_need(file, "weight")
					     : safetensors_find(file, "embedding.weight");
	int64_t most = 1 << 24;

	if (!table)
		table = safetensors_need(file, "embeddings");
	bool rows = table->rank && table->shape[0] >= 1 && table->shape[0] <= most;
	if (terms && (!rows || table->rank != 1))
		die("%s: tensor '%s' is not a list of up to %d numbers",
		    safetensors_name(file), table->name, (int)most);
	if (!terms && (!rows || table->rank != 2 || table->shape[1] < 1 ||
			  table->shape[1] > 1 << 16))
		die("%s: tensor '%s' is not a table of up to %d rows of up to %d values",
		    safetensors_name(file), table->name, (int)most, 1 << 16);
	return table;
}

struct tree *
static_folder_config(const char *folder)
{
	struct tree *config = json_find(folder, "config.json");
	struct safetensors *file = safetensors_open(folder);
	bool terms = config && tree_get(config, "frozen");

	if (terms && tree_get(config, "path"))
		tree_die(tree_get(config, "path"),
		    "weights in a JSON file are not supported; they must be in model.safetensors");
	const struct safetensor *table = find_table(file, terms);
	if (!config)
		config = tree_object();
	tree_set(config, "model_type", tree_of_string(model_type));
	tree_set(config, "vocab_size", tree_of_integer(table->shape[0]));
	tree_set(config, "hidden_size", tree_of_integer(terms ? 1 : table->shape[1]));
	tree_set(config, "token_weights", tree_of_boolean(terms));
	safetensors_close(file);
	return config;
}
