#include "train/dropout_rates.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "folder/modules.h"
#include "model/dropout.h"
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

static void
tell_ignored(const char *dir)
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

double
dropout_rates_parse(void)
{
	return strcmp(optarg, "config") ? cli_real("--dropout", 0, 0.99) : DROPOUT_CONFIG;
}

/* The rates that are applied, by their places. */
static char *
list_applied(const struct spec *spec)
{
	static const char *const places[SPEC_DROPS] = { "embeddings", "attention weights",
		"attention", "MLP's inner layer", "MLP" };
	char *list = NULL;

	for (int i = 0; i < SPEC_DROPS; i++)
		if (spec->dropping[i] > 0) {
			char *one = mem_format("%s %g", places[i], spec->dropping[i]);
			list = mem_list(list, one);
			free(one);
		}
	return list;
}

void
dropout_rates_apply(struct model *model, double rate, uint64_t seed)
{
	const char *dir = model_dir(model);

	if (rate == 0) {
		tell_ignored(dir);
		return;
	}
	dropout_begin(model, rate, seed);
	char *list = list_applied(model_spec(model));
	if (list)
		inform("%s: dropout: %s", dir, list);
	else
		warn("%s: --dropout config: all rates of config.json are 0", dir);
	free(list);
}
