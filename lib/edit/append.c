/* Model folders written with one affine map more. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "folder/folder.h"
#include "model/model_internal.h"
#include "text/json.h"

/* Adds a module to modules.json; sets the name of its folder, the first NUMBER_TYPE that no other has. */
static void
add_module(struct tree *modules, const char *type, struct head_module *module)
{
	bool taken = true;

	for (size_t number = modules->count; taken; number++) {
		snprintf(module->name, sizeof module->name, "%zu_%s", number, type);
		taken = false;
		for (size_t i = 0; i < modules->count; i++)
			taken |= !strcmp(
			    tree_string(modules->items[i], "path", ""), module->name);
	}
	head_add_module(modules, module->name, type);
}

static void
write_weights(const char *dir, const char *name, const struct affine *affine)
{
	char *path = mem_format("%s/%s/model.safetensors", dir, name);
	struct safetensor tensors[] = {
		{ .name = "linear.weight",
		    .rank = 2,
		    .shape = { affine->out, affine->in },
		    .count = (size_t)affine->out * (size_t)affine->in,
		    .data = affine->weight },
		{ .name = "linear.bias",
		    .rank = 1,
		    .shape = { affine->out },
		    .count = (size_t)affine->out,
		    .data = affine->bias },
	};

	safetensors_write(path, tensors, 2, NULL, NULL);
	free(path);
}

void
model_append(const struct model *model, const char *dir, bool normalize,
    const struct affine *affine)
{
	struct head_module dense = { .in = affine->in, .out = affine->out, .bias = true };
	struct head_module unit = { .kind = HEAD_NORMALIZE };

	if (model->head.count + normalize >= HEAD_MODULES)
		die("%s: has %d modules after the pooling, and can have no more",
		    model->dir, model->head.count);
	char *folder = folder_begin(dir);
	char *path = mem_format("%s/modules.json", folder);
	folder_link(model->dir, folder);
	if (model->head.assumed)
		head_write(&model->head, folder, model->spec.width);
	struct tree *modules = json_read(path);
	if (normalize)
		add_module(modules, "Normalize", &unit);
	add_module(modules, "Dense", &dense);
	head_write_dense(&dense, folder);
	write_weights(folder, dense.name, affine);
	folder_write_json(folder, "modules.json", modules);
	folder_commit(folder, dir);
	tree_free(modules);
	free(path);
}
