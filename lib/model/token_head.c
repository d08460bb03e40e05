#include "model/token_head.h"

#include <stdio.h>

#include "base/err.h"

void
token_head_add(struct head *head, const struct late_interaction *late)
{
	if (head->count + late->inside >= HEAD_MODULES)
		die("more than %d modules", HEAD_MODULES);
	if (late->inside) {
		struct head_module *module = &head->modules[head->count++];
		*module = (struct head_module){ .kind = HEAD_DENSE,
			.module = TOKEN_HEAD_PROJECTION,
			.out = late->width };
		snprintf(module->name, sizeof module->name, "%s", TOKEN_HEAD_PROJECTION);
	}
	if (late->normalizes)
		head_normalize(head, true);
}

void
token_head_size(struct head *head, int width, const struct safetensors *file)
{
	for (int i = 0; i < head->count; i++) {
		struct head_module *module = &head->modules[i];
		if (!module->module)
			continue;
		const struct safetensor *stored =
		    safetensors_need(file, TOKEN_HEAD_PROJECTION ".weight");
		module->in = width;
		if (!module->out && stored->rank == 2)
			module->out = (int)stored->shape[0];
	}
}

const float *
token_head_forward(
    struct token_head *made, const struct head *head, const float *x, size_t T, size_t C)
{
	for (int i = 0; i < head->count; i++) {
		const struct head_module *module = &head->modules[i];
		size_t width = module->kind == HEAD_NORMALIZE ? C : (size_t)module->out;
		float **to = &made->rows[i % 2];
		*to = nn_reserve(*to, &made->room[i % 2], T * width, sizeof **to);
		C = head_module_forward(module, *to, *to, NULL, x, T, C);
		x = *to;
	}
	return x;
}

void
token_head_free(struct token_head *made)
{
	for (int i = 0; i < 2; i++)
		nn_free(made->rows[i], made->room[i]);
}
