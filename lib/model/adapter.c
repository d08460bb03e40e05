#include "model/adapter.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "folder/fingerprint.h"
#include "folder/folder.h"
#include "text/expression.h"
#include "text/json.h"
#include "text/tree.h"

struct adapter {
	struct tree *config;
	struct safetensors *file;
	struct adapter_pair *pairs;
	int count;
};

static const char root[] = "base_model.model.", tail[] = ".weight";
static const char base_key[] =
    "motes.base"; /* of __metadata__, which PEFT does not read */

/* The configuration. --------------------------------------------------------------- */

static bool
is_off(const struct tree *value)
{
	switch (value->kind) {
	case TREE_NULL: return true;
	case TREE_BOOL: return !value->boolean;
	case TREE_INTEGER:
	case TREE_REAL: return value->real == 0;
	case TREE_STRING: return !value->length;
	default: return !value->count;
	}
}

/* Dies where a key is set that is neither read below nor without influence on the result: new versions of PEFT add ways of
 * changing the arithmetic. */
static void
refuse_unknown(const struct tree *config)
{
	static const char *const keys[] = { "peft_type", "r", "lora_alpha", "use_rslora",
		"target_modules", "rank_pattern", "alpha_pattern", "layers_to_transform",
		"layers_pattern", "bias", "init_lora_weights", "task_type",
		"auto_mapping", "peft_version", "base_model_name_or_path", "revision",
		"inference_mode", "exclude_modules", "lora_dropout", "megatron_config",
		"megatron_core", "loftq_config", "eva_config", "qalora_group_size",
		"runtime_config", "ensure_weight_tying", NULL };

	for (size_t i = 0; i < config->count; i++) {
		const struct tree *member = config->items[i];
		if (!tree_listed(keys, member->key) && !is_off(member))
			tree_die(member,
			    "'%s' is set; only plain LoRA is supported, without it",
			    member->key);
	}
}

static void
check_config(const struct tree *config)
{
	const char *type = tree_string(config, "peft_type", NULL);
	const char *bias = tree_string(config, "bias", "none");
	double dropout = tree_real(config, "lora_dropout", 0);
	const struct tree *init = tree_get(config, "init_lora_weights");

	if (!type || strcmp(type, "LORA"))
		tree_die(config, "'peft_type' is '%s'; only LORA is supported",
		    type ? type : "");
	if (strcmp(bias, "none"))
		tree_die(config, "'bias' is '%s'; only adapters without it are supported",
		    bias);
	if (!(dropout >= 0 && dropout < 1))
		tree_die(config, "'lora_dropout' is %g; it is a share below 1", dropout);
	refuse_unknown(config);
	/* these change the base model's weights */
	for (const char *const *name = (const char *const[]){ "pissa", "olora", "corda",
		 "loftq", "lora_ga", NULL };
	     *name && init && init->kind == TREE_STRING; name++)
		if (!strncmp(init->string, *name, strlen(*name)))
			tree_die(init,
			    "'init_lora_weights' is '%s': the adapter belongs to changed weights; convert it to plain LoRA (PEFT's path_initial_model_for_weight_conversion)",
			    init->string);
}

/* The n bytes of `name` are the m bytes of `part`, or end in them after a dot. */
static bool
ends_with(const char *name, size_t n, const char *part, size_t m)
{
	return n >= m && !memcmp(name + n - m, part, m) &&
	       (n == m || name[n - m - 1] == '.');
}

static bool
ends_in(const char *name, const char *part)
{
	return ends_with(name, strlen(name), part, strlen(part));
}

/* Whether all of a module's name is BEFORE and the pattern. */
static bool
matches(
    const struct tree *node, const char *before, const char *pattern, const char *module)
{
	char *text = mem_format("\\A%s(?:%s)\\z", before, pattern);
	struct expression *expression = expression_new(node->file, text, strlen(text));
	bool found = expression_found(expression, module, strlen(module));

	expression_free(expression);
	free(text);
	return found;
}

/* The value of the first pattern that matches a module's name, or its part after a dot, as in PEFT; else `otherwise`. */
static double
by_pattern(
    const struct tree *config, const char *key, const char *module, double otherwise)
{
	const struct tree *patterns = tree_get(config, key);

	if (patterns && patterns->kind != TREE_OBJECT)
		tree_die(patterns, "'%s' must be an object", key);
	for (size_t i = 0; patterns && i < patterns->count; i++) {
		const char *pattern = patterns->items[i]->key;
		bool plain = !strpbrk(pattern, "^$*+?[](){}|\\");
		if (plain ? ends_in(module, pattern)
			  : matches(patterns, "(?:.*\\.)?", pattern, module))
			return tree_real(patterns, pattern, 0);
	}
	return otherwise;
}

/* A string is a regular expression of whole names, a list has their last parts. */
static void
check_target(const struct tree *config, const char *module)
{
	const struct tree *targets = tree_get(config, "target_modules");

	if (!targets || (targets->kind == TREE_STRING &&
			    (!strcmp(targets->string, "all-linear") ||
				matches(targets, "", targets->string, module))))
		return;
	for (size_t i = 0; targets->kind == TREE_LIST && i < targets->count; i++)
		if (targets->items[i]->kind == TREE_STRING &&
		    ends_in(module, targets->items[i]->string))
			return;
	tree_die(targets, "the module '%s' of the adapter is not among 'target_modules'",
	    module);
}

/* The number of the layer is the first that is a whole part of the name. */
static void
check_layer(const struct tree *config, const char *module)
{
	const struct tree *layers = tree_get(config, "layers_to_transform");
	long layer = -1;

	if (!layers || (layers->kind == TREE_LIST && !layers->count))
		return;
	for (const char *dot = strchr(module, '.'); dot && layer < 0;
	     dot = strchr(dot + 1, '.'))
		if (strspn(dot + 1, "0123456789") &&
		    dot[1 + strspn(dot + 1, "0123456789")] == '.')
			layer = strtol(dot + 1, NULL, 10);
	if (tree_is_whole(layers) && layers->integer == layer)
		return;
	for (size_t i = 0; layers->kind == TREE_LIST && i < layers->count; i++)
		if (tree_is_whole(layers->items[i]) && layers->items[i]->integer == layer)
			return;
	tree_die(layers, "the module '%s' of the adapter is not in 'layers_to_transform'",
	    module);
}

/* The tensors. --------------------------------------------------------------------- */

/* "MODULE" of base_model.model.MODULE.lora_A.weight; NULL: it is another tensor. */
static char *
module_of(const char *tensor, const char *which)
{
	size_t before = sizeof root - 1, length = strlen(tensor), after = strlen(which);

	if (length <= before + after || strncmp(tensor, root, before) ||
	    strcmp(tensor + length - after, which))
		return NULL;
	return mem_format("%.*s", (int)(length - before - after), tensor + before);
}

static void
check_matrix(const struct adapter *adapter, const struct safetensor *tensor)
{
	if (tensor->rank != 2 || !dtype_is_float(tensor->dtype) || !tensor->count)
		die("%s: tensor '%s' is not a matrix of floats", adapter_name(adapter),
		    tensor->name);
}

static void
add_pair(struct adapter *adapter, const struct safetensor *a, char *module)
{
	const struct tree *config = adapter->config;
	struct adapter_pair *pair = &adapter->pairs[adapter->count++];
	char *name = mem_format("%s%s.lora_B.weight", root, module);
	double rank = by_pattern(
	    config, "rank_pattern", module, (double)tree_integer(config, "r", 8));
	double alpha = by_pattern(
	    config, "alpha_pattern", module, tree_real(config, "lora_alpha", 8));

	*pair = (struct adapter_pair){ .module = module,
		.a = a,
		.b = safetensors_need(adapter->file, name),
		.rank = a->shape[0] };
	free(name);
	check_target(config, module);
	check_layer(config, module);
	check_matrix(adapter, pair->a);
	check_matrix(adapter, pair->b);
	if (pair->b->shape[1] != pair->rank)
		die("%s: '%s' [%lld, %lld] and '%s' [%lld, %lld] cannot be multiplied",
		    adapter_name(adapter), pair->b->name, (long long)pair->b->shape[0],
		    (long long)pair->b->shape[1], a->name, (long long)a->shape[0],
		    (long long)a->shape[1]);
	if (rank != (double)pair->rank)
		die("%s: '%s' is of rank %lld; adapter_config.json asks for %g",
		    adapter_name(adapter), a->name, (long long)pair->rank, rank);
	pair->scale =
	    tree_boolean(config, "use_rslora", false) ? alpha / sqrt(rank) : alpha / rank;
	if (!isfinite(pair->scale))
		tree_die(config, "the scale of '%s' is %g / %g", module, alpha, rank);
}

static void
read_pairs(struct adapter *adapter)
{
	int tensors = safetensors_count(adapter->file), halves = 0;

	adapter->pairs = mem_zero((size_t)tensors, sizeof *adapter->pairs);
	for (int i = 0; i < tensors; i++) {
		const struct safetensor *tensor = safetensors_at(adapter->file, i);
		char *module = module_of(tensor->name, ".lora_A.weight");
		char *other = module_of(tensor->name, ".lora_B.weight");
		if (!module && !other)
			die("%s: tensor '%s' is not known; a LoRA adapter has '%sMODULE.lora_A.weight' and '.lora_B.weight'",
			    adapter_name(adapter), tensor->name, root);
		if (module)
			add_pair(adapter, tensor, module);
		halves += other != NULL;
		free(other);
	}
	if (halves != adapter->count)
		die("%s: has %d tensors 'lora_A' and %d 'lora_B'", adapter_name(adapter),
		    adapter->count, halves);
	if (!adapter->count)
		die("%s: has no tensors", adapter_name(adapter));
}

struct adapter *
adapter_open(const char *dir)
{
	struct adapter *adapter = mem_zero(1, sizeof *adapter);
	const char *name = "adapter_model.safetensors", *pickled = "adapter_model.bin";

	folder_demand(dir, "an adapter");
	adapter->config = json_need(dir, "adapter_config.json");
	check_config(adapter->config);
	bool old = !folder_has(dir, name) && folder_has(dir, pickled);
	char *weights = mem_format("%s/%s", dir, old ? pickled : name);
	adapter->file = safetensors_open(weights);
	read_pairs(adapter);
	free(weights);
	return adapter;
}

int
adapter_count(const struct adapter *adapter)
{
	return adapter->count;
}

const struct adapter_pair *
adapter_at(const struct adapter *adapter, int index)
{
	return &adapter->pairs[index];
}

const char *
adapter_name(const struct adapter *adapter)
{
	return safetensors_name(adapter->file);
}

/* The scales are the configuration's. */
uint64_t
adapter_fingerprint(const struct adapter *adapter)
{
	uint64_t hash = fingerprint_quick(adapter->file, true);

	for (int i = 0; i < adapter->count; i++)
		hash = rng_hash(
		    hash, &adapter->pairs[i].scale, sizeof adapter->pairs[i].scale);
	return hash;
}

double
adapter_dropout(const struct adapter *adapter)
{
	return tree_real(adapter->config, "lora_dropout", 0);
}

const char *
adapter_base(const struct adapter *adapter)
{
	return safetensors_note(adapter->file, base_key);
}

void
adapter_close(struct adapter *adapter)
{
	for (int i = 0; i < adapter->count; i++)
		free(adapter->pairs[i].module);
	free(adapter->pairs);
	safetensors_close(adapter->file);
	tree_free(adapter->config);
	free(adapter);
}

static int
not_hidden(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

char **
adapter_folders(const char *dir, int *count)
{
	struct dirent **entries;
	int all = scandir(dir, &entries, not_hidden, alphasort);

	if (all < 0)
		die("%s: the folder of gates cannot be read:", dir);
	if (folder_has(dir, "adapter_config.json"))
		die("%s: is one adapter itself; a folder of such folders is expected (--adapter takes one)",
		    dir);
	char **folders = mem_zero((size_t)all + 1, sizeof *folders);
	*count = 0;
	for (int i = 0; i < all; i++) {
		char *path = mem_format("%s/%s", dir, entries[i]->d_name);
		if (folder_has(path, "adapter_config.json"))
			folders[(*count)++] = path;
		else
			free(path);
		free(entries[i]);
	}
	free(entries);
	if (!*count)
		die("%s: none of its folders holds a LoRA adapter (adapter_config.json)",
		    dir);
	return folders;
}

bool
adapter_means(const char *name, const char *tensor)
{
	size_t length = strlen(tensor), after = sizeof tail - 1;
	size_t module = strlen(name);

	if (length <= after || strcmp(tensor + length - after, tail))
		return false;
	length -= after;
	return ends_with(tensor, length, name, module) ||
	       ends_with(name, module, tensor, length);
}

/* Writing. ------------------------------------------------------------------------- */

char *
adapter_tensor(const char *weight, char which)
{
	size_t length = strlen(weight);

	if (length > sizeof tail - 1 &&
	    !strcmp(weight + length - (sizeof tail - 1), tail))
		length -= sizeof tail - 1;
	return mem_format("%s%.*s.lora_%c.weight", root, (int)length, weight, which);
}

void
adapter_write(const char *dir, const struct adapter_settings *settings,
    const struct safetensor *tensors, int count)
{
	struct tree *config = tree_object(), *targets;
	char *path = mem_format("%s/adapter_model.safetensors", dir);

	tree_set(config, "peft_type", tree_of_string("LORA"));
	tree_set(config, "task_type", tree_of_string("FEATURE_EXTRACTION"));
	tree_set(config, "base_model_name_or_path",
	    settings->base ? tree_of_string(settings->base) : tree_of_null());
	tree_set(config, "inference_mode", tree_of_boolean(true));
	tree_set(config, "r", tree_of_integer(settings->rank));
	tree_set(config, "lora_alpha", tree_of_real(settings->alpha));
	tree_set(config, "use_rslora", tree_of_boolean(settings->rslora));
	tree_set(config, "lora_dropout", tree_of_real(settings->dropout));
	tree_set(config, "bias", tree_of_string("none"));
	tree_set(config, "fan_in_fan_out", tree_of_boolean(false));
	targets = tree_set(config, "target_modules", tree_list());
	for (int i = 0; i < settings->target_count; i++)
		tree_add(targets, tree_of_string(settings->targets[i]));
	if (settings->ranks)
		tree_set(config, "rank_pattern", tree_copy(settings->ranks));
	if (settings->alphas)
		tree_set(config, "alpha_pattern", tree_copy(settings->alphas));
	folder_write_json(dir, "adapter_config.json", config);
	safetensors_write(path, tensors, count, settings->fingerprint ? base_key : NULL,
	    settings->fingerprint);
	tree_free(config);
	free(path);
}
