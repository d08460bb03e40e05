#include "model/head_tensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/family/family.h"
#include "model/model_struct.h"
#include "model/token_head.h"

/* Its projection of tokens, which head_tensors_find_projection added; NULL: it has none. */
static const struct head_module *
projection_of(const struct model *model)
{
	const struct head *head = &model->head;

	return head->count && head->modules[0].module && !model->classifies &&
		       !head->tokens
		   ? &head->modules[0]
		   : NULL;
}

static void
insert_first(struct head *head, const struct head_module *module)
{
	if (head->count == HEAD_MODULES)
		die("more than %d modules after the pooling", HEAD_MODULES);
	memmove(head->modules + 1, head->modules,
	    (size_t)head->count++ * sizeof *head->modules);
	head->modules[0] = *module;
}

/* The width of a projection beside the transformer's tensors; 0: the file has none. */
static int
width_beside(const struct model *model)
{
	const struct spec *spec = &model->spec;
	const struct safetensor *tensor =
	    model->file ? safetensors_find(model->file, TOKEN_HEAD_PROJECTION ".weight")
			: NULL;
	int64_t labels = tree_integer_or(model->config, "num_labels", 0, 0, 1 << 16);

	return tensor && spec->names->projection && !spec->causal && tensor->rank == 2 &&
		       tensor->shape[0] == labels
		   ? (int)labels
		   : 0;
}

void
head_tensors_find_projection(struct model *model)
{
	const struct spec *spec = &model->spec;
	int width = spec->projection ? spec->projection : width_beside(model);

	if (!width || model->classifies || model->head.tokens || model->head.table)
		return;
	struct head_module module = { .kind = HEAD_DENSE,
		.module = spec->names->projection,
		.inside = spec->projection,
		.in = spec->width,
		.out = width };
	snprintf(module.name, sizeof module.name, "%s", module.module);
	if (!spec->projection)
		model->spec.beside = TOKEN_HEAD_PROJECTION ".weight";
	insert_first(&model->head, &module);
}

void
head_tensors_keep_projection(const struct model *model, struct head *head)
{
	const struct head_module *projection = projection_of(model);

	if (projection && !(head->count && head->modules[0].kind == HEAD_DENSE))
		insert_first(head, projection);
}

void
head_tensors_demand_pooling(const struct model *model)
{
	const struct head *head = &model->head;

	if (projection_of(model) && (head->pools > 1 || head->pool[0] == NN_POOL_MAX))
		die("%s: projects each token before the pooling; this needs pooling cls, mean, mean_sqrt, weighted or last",
		    model->dir);
}

/* "bert.pooler.dense.weight", of a module of the model's own file; to be freed. */
static char *
classifier_tensor_name(const char *prefix, const struct head_module *module, int which)
{
	return mem_format("%s%s.%s", module->inside ? prefix : "", module->module,
	    which ? "bias" : "weight");
}

/* Whether a tensor of the head is drawn: the last layer of a new classifier, and tensors that the folder lacks. */
static bool
drawn(const struct model *model, const struct head_module *module,
    const struct safetensors *file, const char *name)
{
	bool last = module == &model->head.modules[model->head.count - 1];

	return (model->projected && last) ||
	       (model->fresh && (last || !safetensors_find(file, name)));
}

static struct tensor_slice
module_part(struct model *model, const struct head_module *module,
    struct safetensors *file, int which, int64_t columns)
{
	const struct weights *weights = &model->weights;
	const char *own = head_tensor_name(module, which);
	char *sought = module->module ? classifier_tensor_name(
					    weights_prefix(weights), module, which)
				      : mem_string(own);
	char *name = module->module
			 ? classifier_tensor_name(
			       weights_classifier_prefix(weights), module, which)
			 : mem_format("%s.%s", module->name, own);
	const struct safetensor *stored = model->answers.is ? &model->answers.tensor
					  : !file || drawn(model, module, file, sought)
					      ? NULL
					      : safetensors_need(file, sought);

	free(sought);
	struct parameter wanted = { .name = name,
		.rows = module->out,
		.columns = columns,
		.layer = -1,
		.expert = -1 };

	return (struct tensor_slice){ .tensor = weights_add(&model->weights, stored,
					  file ? safetensors_name(file) : NULL, wanted) };
}

void
head_tensors_open(struct model *model)
{
	struct head *head = &model->head;

	if (model->head.tokens)
		token_head_size(head, model->spec.width, model->file);
	head_width(head, model->spec.width, model->dir);
	for (int i = 0; i < head->count; i++) {
		const struct head_module *module = &head->modules[i];
		struct tensor_slice *to = model->dense[i];
		int64_t columns = module->kind == HEAD_DENSE ? module->in : 0;
		if (!head_tensor_name(module, 0))
			continue;
		if (head_module_inside(module) && !model->classifies) {
			to[0] = model->weights.stem[STEM_PROJECTION];
			to[1].tensor = to[2].tensor = -1;
			continue;
		}
		struct safetensors *file = NULL;
		bool fresh = model->projected && i == head->count - 1;
		if (module->module) {
			file = model->file;
		} else if (model->file && !fresh) {
			char *folder = mem_format("%s/%s", model->dir, module->source);
			file = model->head_files[i] = safetensors_open(folder);
			free(folder);
		}
		to[0] = module_part(model, module, file, 0, columns);
		to[1].tensor = to[2].tensor = -1;
		if (module->bias)
			to[1] = module_part(model, module, file, 1, 0);
		if (head_tensor_name(module, 2))
			to[2] = module_part(model, module, file, 2, columns);
	}
}
