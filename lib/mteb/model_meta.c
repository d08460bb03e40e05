#include "mteb/model_meta.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/input.h"
#include "base/mem.h"
#include "folder/safetensors.h"
#include "text/json.h"
#include "token/token.h"

char *
model_meta_name(const char *dir)
{
	char *path = realpath(dir, NULL), *name;

	if (!path)
		die("%s: cannot be read:", dir);
	char *cache = strstr(path, "/models--"), *snapshot = strstr(path, "/snapshots/");
	if (cache && snapshot > cache) {
		*snapshot = 0;
		name = mem_string(cache + strlen("/models--"));
		char *dashes = strstr(name, "--");
		if (dashes) {
			*dashes = '/';
			memmove(dashes + 1, dashes + 2, strlen(dashes + 2) + 1);
		}
	} else {
		const char *last = strrchr(path, '/');
		name = mem_string(last[1] ? last + 1 : "model");
	}
	free(path);
	return name;
}

/* FNV-1a, 64 bits. */
static void
mix(uint64_t *hash, const char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		*hash = (*hash ^ (unsigned char)bytes[i]) * 1099511628211u;
}

static void
mix_file(uint64_t *hash, const char *dir, const char *name)
{
	char *path = mem_format("%s/%s", dir, name), block[4096];
	size_t got;

	mix(hash, name, strlen(name) + 1);
	if (access(path, R_OK) == 0) {
		struct input *input = input_open(path);
		while ((got = input_read(input, block, sizeof block)))
			mix(hash, block, got);
		input_close(input);
	}
	free(path);
}

char *
model_meta_revision(const char *dir)
{
	static const char *const files[] = { "config.json", "modules.json",
		"1_Pooling/config.json", "sentence_bert_config.json",
		"config_sentence_transformers.json" };
	struct safetensors *weights = safetensors_open(dir);
	char *tokenizer = tokenizer_fingerprint(dir), number[17];
	uint64_t hash = 14695981039346656037u;

	snprintf(number, sizeof number, "%016" PRIx64, safetensors_fingerprint(weights));
	mix(&hash, number, strlen(number));
	mix(&hash, tokenizer, strlen(tokenizer));
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		mix_file(&hash, dir, files[i]);
	safetensors_close(weights);
	free(tokenizer);
	return mem_format("%016" PRIx64, hash);
}

static int64_t
parameters(const char *dir)
{
	struct safetensors *weights = safetensors_open(dir);
	int64_t count = 0;

	for (int i = 0; i < safetensors_count(weights); i++)
		count += (int64_t)safetensors_at(weights, i)->count;
	safetensors_close(weights);
	return count;
}

struct tree *
model_meta_json(const char *dir, const char *name)
{
	char *path = mem_format("%s/config_sentence_transformers.json", dir),
	     *own = name ? mem_string(name) : model_meta_name(dir),
	     *revision = model_meta_revision(dir);
	struct tree *meta = tree_object(), *languages = tree_list(),
		    *config = json_read_optional(path);
	const struct tree *prompts = tree_get(config, "prompts");

	tree_add(languages, tree_of_string("eng-Latn"));
	tree_set(meta, "name", tree_of_string(own));
	tree_set(meta, "revision", tree_of_string(revision));
	tree_set(meta, "n_parameters", tree_of_integer(parameters(dir)));
	tree_set(meta, "similarity_fn_name", tree_of_string("cosine"));
	tree_set(meta, "use_instructions", tree_of_boolean(prompts && prompts->count));
	tree_set(meta, "languages", languages);
	tree_set(meta, "framework", tree_list());
	static const char *const unknown[] = { "release_date", "license", "open_weights",
		"memory_usage_mb", "max_tokens", "embed_dim", "public_training_code",
		"public_training_data", "reference", "training_datasets", "adapted_from",
		"superseded_by" };
	for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
		tree_set(meta, unknown[i], tree_of_null());
	tree_free(config);
	free(revision);
	free(own);
	free(path);
	return meta;
}
