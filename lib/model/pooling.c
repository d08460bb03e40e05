#include "model/pooling.h"

#include <string.h>

#include "folder/folder.h"
#include "text/json.h"

/* In the order in which the booleans concatenate. */
static const struct {
	const char *name, *key; /* ours; sentence-transformers' boolean */
	const char *mode;	/* its newer spelling */
	enum nn_pool pool;
} kinds[HEAD_POOLS] = {
	{ "cls", "pooling_mode_cls_token", "cls", NN_POOL_CLS },
	{ "max", "pooling_mode_max_tokens", "max", NN_POOL_MAX },
	{ "mean", "pooling_mode_mean_tokens", "mean", NN_POOL_MEAN },
	{ "mean_sqrt", "pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens",
	    NN_POOL_MEAN_SQRT },
	{ "weighted", "pooling_mode_weightedmean_tokens", "weightedmean",
	    NN_POOL_WEIGHTED },
	{ "last", "pooling_mode_lasttoken", "lasttoken", NN_POOL_LAST },
};

static void
add_pool(struct head *head, const struct tree *node, const char *mode)
{
	if (head->pools == HEAD_POOLS)
		tree_die(node, "more than %d pooling modes", HEAD_POOLS);
	for (int i = 0; i < HEAD_POOLS; i++)
		if (!strcmp(kinds[i].mode, mode)) {
			head->pool[head->pools++] = kinds[i].pool;
			return;
		}
	tree_die(node, "the pooling mode '%s' is not supported", mode);
}

static void
refuse_unknown(const struct tree *config, const char *key)
{
	int i = 0;

	if (strncmp(key, "pooling_mode_", 13) || !tree_boolean(config, key, false))
		return;
	while (i < HEAD_POOLS && strcmp(kinds[i].key, key))
		i++;
	if (i == HEAD_POOLS)
		tree_die(tree_get(config, key), "the pooling mode '%s' is not supported",
		    key + 13);
}

void
pooling_read(struct head *head, const char *folder)
{
	struct tree *config = json_need(folder, "config.json");
	const struct tree *mode = tree_get(config, "pooling_mode");

	head->pools = 0;
	head->include_prompt = tree_boolean(config, "include_prompt", true);
	if (mode && mode->kind == TREE_LIST)
		for (size_t i = 0; i < mode->count; i++)
			add_pool(head, mode,
			    mode->items[i]->kind == TREE_STRING ? mode->items[i]->string
								: "");
	else if (mode)
		add_pool(head, mode, tree_string(config, "pooling_mode", ""));
	for (int i = 0; i < HEAD_POOLS && !mode; i++)
		if (tree_boolean(config, kinds[i].key, false))
			head->pool[head->pools++] = kinds[i].pool;
	for (size_t i = 0; i < config->count && !mode; i++)
		refuse_unknown(config, config->items[i]->key);
	if (!head->pools)
		head->pool[head->pools++] = NN_POOL_MEAN;
	tree_free(config);
}

void
pooling_write(const struct head *head, const char *dir, int width)
{
	struct tree *config = tree_object(), *modes;
	int at = 0;

	for (int i = 0; i < HEAD_POOLS && at < head->pools; i++)
		at += head->pool[at] == kinds[i].pool;
	if (at == head->pools) {
		tree_set(config, "word_embedding_dimension", tree_of_integer(width));
		at = 0;
		for (int i = 0; i < HEAD_POOLS; i++) {
			bool wanted = at < head->pools && head->pool[at] == kinds[i].pool;
			tree_set(config, kinds[i].key, tree_of_boolean(wanted));
			at += wanted;
		}
	} else {
		tree_set(config, "embedding_dimension", tree_of_integer(width));
		modes = tree_set(config, "pooling_mode", tree_list());
		for (int i = 0; i < head->pools; i++)
			for (int j = 0; j < HEAD_POOLS; j++)
				if (kinds[j].pool == head->pool[i])
					tree_add(modes, tree_of_string(kinds[j].mode));
	}
	tree_set(config, "include_prompt", tree_of_boolean(head->include_prompt));
	folder_write_json(dir, "1_Pooling/config.json", config);
	tree_free(config);
}

/* The poolings of `text`, into `head`. */
static bool
parse(struct head *head, const char *text)
{
	head->pools = 0;
	for (;;) {
		size_t length = strcspn(text, "+");
		int i = 0;
		while (i < HEAD_POOLS && (strlen(kinds[i].name) != length ||
					     strncmp(kinds[i].name, text, length)))
			i++;
		if (i == HEAD_POOLS || head->pools == HEAD_POOLS)
			return false;
		head->pool[head->pools++] = kinds[i].pool;
		if (!text[length])
			return true;
		text += length + 1;
	}
}

bool
pooling_set(struct head *head, const char *text)
{
	struct head before = *head;

	if (!parse(head, text))
		return false;
	head->other_pool |=
	    head->pools != before.pools ||
	    memcmp(head->pool, before.pool, (size_t)head->pools * sizeof *head->pool);
	return true;
}
