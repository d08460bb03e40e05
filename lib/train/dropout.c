#include "train/dropout.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "folder/modules.h"
#include "text/json.h"

/* The rates of classification and summary heads do not concern embeddings. */
static bool
is_rate(const struct tree *value)
{
	bool number = value->kind == TREE_REAL || value->kind == TREE_INTEGER;

	return number && strstr(value->key, "drop") &&
	       strncmp(value->key, "classifier", 10) != 0 &&
	       strncmp(value->key, "summary", 7) != 0;
}

void
dropout_tell(const char *dir)
{
	char *folder = modules_transformer(dir), *names = NULL;
	struct tree *config = json_find(folder, "config.json");

	for (size_t i = 0; config && i < config->count; i++) {
		const char *key = config->items[i]->key;
		if (!is_rate(config->items[i]) || !(tree_real(config, key, 0) > 0))
			continue;
		char *word = mem_format("%s %g", key, tree_real(config, key, 0));
		names = mem_list(names, word);
		free(word);
	}
	tree_free(config);
	free(folder);
	if (names)
		inform("%s: training is without dropout; config.json has %s", dir, names);
	free(names);
}
