#include "pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "folder.h"
#include "json.h"
#include "mem.h"

static const struct {
	const char *name, *key; /* ours; sentence-transformers' boolean */
	const char *mode;	/* its newer spelling */
	enum nn_pool pool;
} kinds[POOLS] = {
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
add(struct head *head, const struct tree *node, const char *mode)
{
	for (int i = 0; i < POOLS; i++)
		if (!strcmp(kinds[i].mode, mode) && head->pools < POOLS) {
			head->pool[head->pools++] = kinds[i].pool;
			return;
		}
	tree_die(node, "the pooling mode '%s' is not known", mode);
}

static void
read_pooling(struct head *head, const char *dir)
{
	char *path = mem_format("%s/config.json", dir);
	struct tree *config = json_read(path);
	const struct tree *mode = tree_get(config, "pooling_mode");

	head->pools = 0;
	head->include_prompt = tree_boolean(config, "include_prompt", true);
	if (mode && mode->kind == TREE_LIST)
		for (size_t i = 0; i < mode->count; i++)
			add(head, mode,
			    mode->items[i]->kind == TREE_STRING ? mode->items[i]->string
								: "");
	else if (mode)
		add(head, mode, tree_string(config, "pooling_mode", ""));
	for (int i = 0; i < POOLS && !mode; i++)
		if (tree_boolean(config, kinds[i].key, false))
			head->pool[head->pools++] = kinds[i].pool;
	if (!head->pools)
		head->pool[head->pools++] = NN_POOL_MEAN;
	tree_free(config);
	free(path);
}

char *
pool_read(struct head *head, const char *dir)
{
	char *path = mem_format("%s/modules.json", dir), *transformer = NULL;
	struct tree *modules = json_read_optional(path);

	*head =
	    (struct head){ .pools = 1, .pool = { NN_POOL_MEAN }, .include_prompt = true };
	head->assumed = !modules;
	if (modules && modules->kind != TREE_LIST)
		tree_die(modules, "a list of modules is expected");
	for (size_t i = 0; modules && i < modules->count; i++) {
		const struct tree *module = modules->items[i];
		const char *type = tree_string(module, "type", ""),
			   *dot = strrchr(type, '.');
		const char *sub = tree_string(module, "path", "");
		char *folder = *sub ? mem_format("%s/%s", dir, sub) : mem_string(dir);
		type = dot ? dot + 1 : type;
		if (!strcmp(type, "Transformer") && !transformer) {
			transformer = folder;
			continue;
		}
		if (!strcmp(type, "Pooling"))
			read_pooling(head, folder);
		else if (!strcmp(type, "Normalize"))
			head->normalize = true;
		else
			tree_die(module,
			    "the module '%s' is not known; known are Transformer, "
			    "Pooling "
			    "and Normalize",
			    type);
		free(folder);
	}
	tree_free(modules);
	free(path);
	return transformer ? transformer : mem_string(dir);
}

static void
add_module(struct tree *modules, const char *path, const char *type)
{
	struct tree *module = tree_add(modules, tree_object());
	char name[16], *full = mem_format("sentence_transformers.models.%s", type);

	snprintf(name, sizeof name, "%zu", modules->count - 1);
	tree_set(module, "idx", tree_of_integer((int64_t)modules->count - 1));
	tree_set(module, "name", tree_of_string(name));
	tree_set(module, "path", tree_of_string(path));
	tree_set(module, "type", tree_of_string(full));
	free(full);
}

void
pool_write(const struct head *head, const char *dir, int width)
{
	struct tree *modules = tree_list(), *config = tree_object();

	add_module(modules, "", "Transformer");
	add_module(modules, "1_Pooling", "Pooling");
	if (head->normalize)
		add_module(modules, "2_Normalize", "Normalize");
	folder_write_json(dir, "modules.json", modules);
	tree_set(config, "word_embedding_dimension", tree_of_integer(width));
	for (int i = 0; i < POOLS; i++) {
		bool wanted = false;
		for (int j = 0; j < head->pools; j++)
			wanted |= head->pool[j] == kinds[i].pool;
		tree_set(config, kinds[i].key, tree_of_boolean(wanted));
	}
	tree_set(config, "include_prompt", tree_of_boolean(head->include_prompt));
	folder_write_json(dir, "1_Pooling/config.json", config);
	tree_free(modules);
	tree_free(config);
}

bool
pool_parse(struct head *head, const char *text)
{
	head->pools = 0;
	for (;;) {
		size_t length = strcspn(text, "+");
		int i = 0;
		while (i < POOLS && (strlen(kinds[i].name) != length ||
					strncmp(kinds[i].name, text, length)))
			i++;
		if (i == POOLS || head->pools == POOLS)
			return false;
		head->pool[head->pools++] = kinds[i].pool;
		if (!text[length])
			return true;
		text += length + 1;
	}
}

void
pool_forward(const struct head *head, float *e, float *pooled, float *lengths,
    const float *x, const int32_t *starts, const int32_t *skip, size_t N, size_t C)
{
	size_t width = (size_t)head->pools * C;

	if (head->include_prompt)
		skip = NULL;
	for (int i = 0; i < head->pools; i++)
		nn_pool(
		    pooled + (size_t)i * C, width, x, starts, skip, head->pool[i], N, C);
	if (head->normalize)
		nn_normalize(e, lengths, pooled, N, width);
	else if (e != pooled)
		nn_copy(e, pooled, N * width);
}

void
pool_backward(const struct head *head, float *dx, float *scratch, float *de,
    const float *e, const float *lengths, const float *x, const int32_t *starts,
    const int32_t *skip, size_t T, size_t N, size_t C)
{
	size_t width = (size_t)head->pools * C;

	if (head->include_prompt)
		skip = NULL;
	if (head->normalize)
		nn_normalize_back(de, de, e, lengths, N, width);
	for (int i = 0; i < head->pools; i++) {
		float *to = i ? scratch : dx;
		nn_pool_back(
		    to, de + (size_t)i * C, width, x, starts, skip, head->pool[i], N, C);
		if (i)
			nn_add(dx, scratch, T * C);
	}
}
