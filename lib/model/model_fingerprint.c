#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "folder/fingerprint.h"
#include "folder/modules.h"
#include "model/model_struct.h"
#include "model/packed_weights.h"

static uint64_t
hash_file(uint64_t hash, const char *dir, const char *name)
{
	char *path = mem_format("%s/%s", dir, name);
	size_t length;
	char *bytes = file_read(path, &length);

	if (bytes)
		hash = rng_hash(hash, bytes, length);
	free(bytes);
	free(path);
	return hash;
}

/* config.json, modules.json and the config.json of each module. */
static uint64_t
hash_head(uint64_t hash, const struct model *model)
{
	struct modules *modules = modules_read(model->dir);

	hash = hash_file(hash, model->folder, "config.json");
	hash = hash_file(hash, model->dir, "modules.json");
	for (size_t i = 0; modules && i < modules->count; i++)
		hash = hash_file(hash, modules->at[i].folder, "config.json");
	modules_free(modules);
	return hash;
}

void
model_note_fingerprint(struct model *model, uint64_t seed)
{
	bool soon = !model->spec.experts && !model->spec.mixture.count;
	uint64_t print = model->file ? fingerprint_quick(model->file, soon) : seed;

	for (int i = 0; i < HEAD_MODULES; i++)
		if (model->head_files[i]) {
			uint64_t one = fingerprint_quick(model->head_files[i], true);
			print = rng_hash(print, &one, sizeof one);
		}
	print = hash_head(print, model);
	snprintf(model->folder_fingerprint, sizeof model->folder_fingerprint,
	    "%016" PRIx64, print);
	if (model->answers.is)
		print = rng_hash(print, model->answers.ids, sizeof model->answers.ids);
	if (model->quantized)
		print = rng_hash(print, "int8", 4);
	if (model->packed) {
		const char *kind = dtype_name(packed_weights_kind(model->packed));
		print = rng_hash(print, kind, strlen(kind));
	}
	snprintf(model->fingerprint, sizeof model->fingerprint, "%016" PRIx64, print);
}
