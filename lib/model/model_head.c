/* The Dense modules of a model's head: tensors of files of their own, among the parameters. */
#include <stdlib.h>

#include "base/mem.h"
#include "model/model_internal.h"

static struct part
bind(struct model *model, const struct head_module *module, struct safetensors *file,
    const char *name, int64_t rows, int64_t columns)
{
	const struct safetensor *stored = file ? safetensors_need(file, name) : NULL;

	struct parameter wanted = { .name = mem_format("%s.%s", module->name, name),
		.rows = rows,
		.columns = columns,
		.expert = -1 };

	return (struct part){ .tensor = weights_add(&model->weights, stored,
				  file ? safetensors_name(file) : NULL, wanted) };
}

void
model_head_open(struct model *model)
{
	struct head *head = &model->head;

	head_width(head, model->spec.width, model->dir);
	for (int i = 0; i < head->count; i++) {
		const struct head_module *module = &head->modules[i];
		struct part *to = model->dense[i];
		if (module->kind != HEAD_DENSE)
			continue;
		struct safetensors *file = NULL;
		if (model->file) {
			char *folder = mem_format("%s/%s", model->dir, module->source);
			file = model->head_files[i] = safetensors_open(folder);
			free(folder);
		}
		to[0] =
		    bind(model, module, file, "linear.weight", module->out, module->in);
		to[1].tensor = -1;
		if (module->bias)
			to[1] = bind(model, module, file, "linear.bias", module->out, 0);
	}
}

void
model_head_resolve(struct model *model)
{
	for (int i = 0; i < model->head.count; i++) {
		struct head_module *module = &model->head.modules[i];
		const struct part *from = model->dense[i];
		if (module->kind != HEAD_DENSE)
			continue;
		module->weight = model_matrix(model, &from[0]);
		module->bias_values = model_matrix(model, &from[1]).at;
		module->dweight = model_gradient_pointer(model, &from[0]);
		module->dbias = model_gradient_pointer(model, &from[1]);
	}
}

void
model_head_write(
    const struct model *model, const char *folder, const struct safetensor *tensors)
{
	const struct head *head = &model->head;

	head_write(head, folder, model->spec.width);
	for (int i = 0; i < head->count; i++) {
		const struct head_module *module = &head->modules[i];
		if (module->kind != HEAD_DENSE)
			continue;
		struct safetensor out[2] = { tensors[model->dense[i][0].tensor] };
		out[0].name = "linear.weight";
		if (module->bias) {
			out[1] = tensors[model->dense[i][1].tensor];
			out[1].name = "linear.bias";
		}
		char *path = mem_format("%s/%s/model.safetensors", folder, module->name);
		safetensors_write(path, out, 1 + module->bias, NULL, NULL);
		free(path);
	}
}

void
model_head_close(struct model *model)
{
	for (int i = 0; i < HEAD_MODULES; i++)
		safetensors_close(model->head_files[i]);
}
