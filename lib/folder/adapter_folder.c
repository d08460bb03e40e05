#include "folder/adapter_folder.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "folder/folder.h"
#include "folder/model_folder.h"
#include "folder/modules.h"
#include "text/json.h"

/* The folder of the adapter's files, to be freed; NULL: there are none. */
static char *
adapter_of(const char *dir)
{
	char *folder = modules_transformer(dir);

	if (folder_has(folder, "adapter_config.json"))
		return folder;
	free(folder);
	return NULL;
}

/* The name of the base model, to be freed. */
static char *
name_of_base(const char *adapter)
{
	struct tree *config = json_need(adapter, "adapter_config.json");
	const char *name = tree_string(config, "base_model_name_or_path", "");

	if (!*name)
		tree_die(config,
		    "the adapter does not name its base model ('base_model_name_or_path'); give the model with -m, and this folder with --adapter");
	char *copy = mem_string(name);
	tree_free(config);
	return copy;
}

char *
adapter_folder_base(const char *dir)
{
	char *adapter = adapter_of(dir);

	if (!adapter || folder_has(adapter, "config.json")) {
		free(adapter);
		return adapter ? mem_string(dir) : NULL;
	}
	char *name = name_of_base(adapter), *base = model_folder_find(name);
	char *transformer = base ? modules_transformer(base) : NULL;
	if (!base || !folder_has(transformer, "config.json"))
		die("%s: is a LoRA adapter of '%s', which is not a model's folder here, nor in the cache of the Hugging Face Hub; give that model with -m, and this folder with --adapter",
		    dir, name);
	free(transformer);
	free(name);
	free(adapter);
	return base;
}

void
adapter_folder_refuse(const char *dir)
{
	char *adapter = adapter_of(dir);

	if (adapter && !folder_has(adapter, "config.json")) {
		char *name = name_of_base(adapter);
		die("%s: is a LoRA adapter of '%s', not a model; 'upcycle -m %s --merge-lora %s -o DIR' makes one, and 'train -m %s --lora %s' goes on from it",
		    dir, name, name, adapter, name, adapter);
	}
	free(adapter);
}
