#include "mteb/model_meta.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/err.h"
#include "base/mem.h"
#include "folder/folder.h"
#include "folder/adapter_folder.h"
#include "folder/model_folder.h"
#include "folder/modules.h"
#include "folder/safetensors.h"
#include "folder/similarity_name.h"
#include "model/adapter.h"
#include "text/json.h"
#include "token/template.h"

static char *
folder_name(const char *dir)
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

void
model_meta_find(struct model_meta *of)
{
	if (of->gates && !of->pilots)
		die_usage("--gates needs --pilots: the library that chooses among them");
	if (of->pilots && !of->gates)
		die_usage("--pilots needs --gates: the adapters that it chooses among");
	of->folder = model_folder(of->model);
	adapter_folder_refuse(of->folder);
}

char *
model_meta_template(const struct model_meta *of)
{
	char *name = of->method && !of->gates
			 ? mem_format("%.*s", (int)strcspn(of->method, "+,"), of->method)
			 : NULL;
	char *text = name ? template_text(name) : NULL;

	if (!text) {
		free(name);
		name = NULL;
	}
	free(text);
	return name;
}

char *
model_meta_name(const struct model_meta *of)
{
	if (of->name)
		return mem_string(of->name);
	char *own = folder_name(of->folder);
	char *name = mem_format("%s%s%s%s", own, of->gates ? "+gates" : "",
	    of->method ? "+" : "", of->method ? of->method : "");
	free(own);
	return name;
}

/* Revisions. ----------------------------------------------------------------------- */

enum { BLOCK = 1 << 20 };

/* By the ending, because notes, pictures and other files do not change embeddings. */
static int
is_hashed(const struct dirent *entry)
{
	static const char *const endings[] = { ".json", ".safetensors", ".txt", ".model",
		".jinja", NULL };
	const char *dot = strrchr(entry->d_name, '.');

	return dot && tree_listed(endings, dot) && entry->d_name[0] != '.' &&
	       strcmp(entry->d_name, FOLDER_TRAIN) != 0 &&
	       strcmp(entry->d_name, FOLDER_INT8) != 0 &&
	       strcmp(entry->d_name, FOLDER_PACKED) != 0;
}

/* The same in a folder with torch weights, which are ignored beside safetensors. */
static int
is_hashed_torch(const struct dirent *entry)
{
	return is_hashed(entry) || !fnmatch("pytorch_model*.bin", entry->d_name, 0);
}

/* Hashes a file's name, length and bytes. */
static void
hash_file(XXH3_state_t *hash, const char *path, const char *name)
{
	char *block = mem_new(BLOCK, 1);
	int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat about;
	ssize_t got = 0;

	if (file < 0 || fstat(file, &about))
		die("%s: cannot be read:", path);
	if (S_ISREG(about.st_mode)) {
		XXH3_128bits_update(hash, name, strlen(name) + 1);
		XXH3_128bits_update(hash, &about.st_size, sizeof about.st_size);
		while ((got = read(file, block, BLOCK)) > 0)
			XXH3_128bits_update(hash, block, (size_t)got);
	}
	if (got < 0)
		die("%s: cannot be read:", path);
	close(file);
	free(block);
}

/* A module without settings may have no folder. */
static void
hash_folder(XXH3_state_t *hash, const char *dir)
{
	struct dirent **entries = NULL;
	char *weights = safetensors_in(dir);
	bool torch = weights && strstr(weights, "/pytorch_model.bin");
	int count =
	    scandir(dir, &entries, torch ? is_hashed_torch : is_hashed, alphasort);

	if (count < 0 && errno != ENOENT)
		die("%s: cannot be read:", dir);
	for (int i = 0; i < count; i++) {
		char *path = mem_format("%s/%s", dir, entries[i]->d_name);
		hash_file(hash, path, entries[i]->d_name);
		free(path);
		free(entries[i]);
	}
	free(entries);
	free(weights);
}

static void
hash_model(XXH3_state_t *hash, const char *dir)
{
	struct modules *modules = modules_read(dir);

	hash_folder(hash, dir);
	for (size_t i = 0; modules && i < modules->count; i++) {
		const struct module *module = &modules->at[i];
		XXH3_128bits_update(hash, module->name, strlen(module->name) + 1);
		if (*module->name)
			hash_folder(hash, module->folder);
	}
	modules_free(modules);
}

/* Hashes the gates with their names, by which the library refers to them. */
static void
hash_gates(XXH3_state_t *hash, const struct model_meta *of)
{
	int count;
	char **folders = adapter_folders(of->gates, &count);

	for (int i = 0; i < count; i++) {
		const char *name = strrchr(folders[i], '/') + 1;
		XXH3_128bits_update(hash, name, strlen(name) + 1);
		hash_folder(hash, folders[i]);
		free(folders[i]);
	}
	free(folders);
	hash_file(hash, of->pilots, "pilots");
}

static void
hash_method(XXH3_state_t *hash, const struct model_meta *of)
{
	char *template = model_meta_template(of);
	char *text = template ? template_text(template) : NULL;

	XXH3_128bits_update(hash, of->method, strlen(of->method));
	if (text)
		XXH3_128bits_update(hash, text, strlen(text));
	free(text);
	free(template);
}

char *
model_meta_revision(const struct model_meta *of)
{
	XXH3_state_t *hash = XXH3_createState();
	char *transformer = modules_transformer(of->folder);

	safetensors_close(safetensors_open(transformer)); /* dies unless it is a model */
	free(transformer);
	if (!hash || XXH3_128bits_reset(hash) == XXH_ERROR)
		die("memory for a hash:");
	hash_model(hash, of->folder);
	if (of->gates)
		hash_gates(hash, of);
	if (of->method)
		hash_method(hash, of);
	XXH128_hash_t digest = XXH3_128bits_digest(hash);
	XXH3_freeState(hash);
	return mem_format(
	    "%016" PRIx64 "%016" PRIx64, (uint64_t)digest.high64, (uint64_t)digest.low64);
}

/* model_meta.json. ----------------------------------------------------------------- */

static int64_t
count_parameters(const char *path)
{
	struct safetensors *weights = safetensors_open(path);
	int64_t count = 0;

	for (int i = 0; i < safetensors_count(weights); i++)
		count += (int64_t)safetensors_at(weights, i)->count;
	safetensors_close(weights);
	return count;
}

static int64_t
gate_parameters(const char *gates)
{
	int count;
	char **folders = adapter_folders(gates, &count);
	int64_t parameters = 0;

	for (int i = 0; i < count; i++) {
		char *weights = mem_format("%s/adapter_model.safetensors", folders[i]);
		parameters += count_parameters(weights);
		free(weights);
		free(folders[i]);
	}
	free(folders);
	return parameters;
}

/* The number of parameters of the transformer, of other modules and of the gates. */
static int64_t
parameters(const struct model_meta *of)
{
	const char *dir = of->folder;
	char *transformer = modules_transformer(dir);
	struct modules *modules = modules_read(dir);
	int64_t count = count_parameters(transformer);

	for (size_t i = 0; modules && i < modules->count; i++) {
		char *weights = safetensors_in(modules->at[i].folder);
		if (weights && strcmp(modules->at[i].folder, transformer) != 0)
			count += count_parameters(modules->at[i].folder);
		free(weights);
	}
	if (of->gates)
		count += gate_parameters(of->gates);
	modules_free(modules);
	free(transformer);
	return count;
}

struct tree *
model_meta_json(const struct model_meta *of)
{
	char *name = model_meta_name(of), *revision = model_meta_revision(of);
	char *similarity = similarity_name_read(of->folder);
	struct tree *meta = tree_object(),
		    *config = json_find(of->folder, "config_sentence_transformers.json");
	const struct tree *prompts = tree_get(config, "prompts");

	tree_set(meta, "name", tree_of_string(name));
	tree_set(meta, "revision", tree_of_string(revision));
	tree_set(meta, "n_parameters", tree_of_integer(parameters(of)));
	tree_set(meta, "similarity_fn_name", tree_of_string(similarity));
	tree_set(meta, "use_instructions", tree_of_boolean(prompts && prompts->count));
	tree_set(meta, "framework", tree_list());
	static const char *const unknown[] = { "languages", "release_date", "license",
		"open_weights", "memory_usage_mb", "max_tokens", "embed_dim",
		"public_training_code", "public_training_data", "reference",
		"training_datasets", "adapted_from", "superseded_by" };
	for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
		tree_set(meta, unknown[i], tree_of_null());
	tree_free(config);
	free(similarity);
	free(revision);
	free(name);
	return meta;
}
