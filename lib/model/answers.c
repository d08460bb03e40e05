#include "model/answers.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "folder/modules.h"
#include "text/json.h"
#include "token/pair_template.h"
#include "token/tokenizer.h"

static int32_t
id_of(const struct tokenizer *tokenizer, const char *token, const char *dir)
{
	int id = tokenizer_id(tokenizer, token);

	if (id < 0)
		die("%s: is a language model, and its tokenizer lacks the answer '%s'; --template names a known template",
		    dir, token);
	return id;
}

static void
read_tokens(struct answers *answers, const char *dir, const char *template)
{
	struct tokenizer *tokenizer = tokenizer_open(dir);
	char *positive = NULL, *negative = NULL;

	if (template)
		pair_template_answers(template, &positive, &negative);
	answers->ids[0] = id_of(tokenizer, positive ? positive : "yes", dir);
	answers->ids[1] = template && !negative
			      ? -1
			      : id_of(tokenizer, negative ? negative : "no", dir);
	free(positive);
	free(negative);
	tokenizer_close(tokenizer);
}

static void
read_module(struct answers *answers, const struct module *module)
{
	static const char *const keys[] = { "true_token_id", "false_token_id",
		"module_input_name", NULL };
	struct tree *config = json_need(module->folder, "config.json");

	tree_only(config, keys);
	tree_expect(config, keys[2], "causal_logits");
	answers->ids[0] = (int32_t)tree_integer_in(config, keys[0], 0, INT32_MAX);
	answers->ids[1] = (int32_t)tree_integer_or(config, keys[1], -1, 0, INT32_MAX);
	tree_free(config);
}

void
answers_read(struct answers *answers, const char *dir, const char *template)
{
	struct modules *modules = modules_read(dir);

	answers->is = true;
	if (modules && modules->count < 2)
		tree_die(modules->tree,
		    "the module '%s' is missing: a language model scores pairs by it",
		    ANSWERS_MODULE);
	if (modules)
		read_module(answers, &modules->at[1]);
	else
		read_tokens(answers, dir, template);
	modules_free(modules);
}

void
answers_make(struct answers *answers, struct weights *weights, const struct spec *spec,
    const struct safetensors *file)
{
	const struct safetensor *output = weights_output(weights, spec, file);
	size_t width = (size_t)spec->width, bytes = width * dtype_size(output->dtype);
	float *other = mem_new(width, sizeof *other);

	if (output->rank != 2 || output->shape[1] != spec->width)
		die("%s: tensor '%s' is not a matrix of width %d", safetensors_name(file),
		    output->name, spec->width);
	answers->row = mem_zero(width, sizeof *answers->row);
	for (int i = 0; i < 2; i++) {
		int32_t id = answers->ids[i];
		if (id < 0)
			continue;
		if (id >= output->shape[0])
			die("%s: the answer %d is not below %lld, the rows of tensor '%s'",
			    safetensors_name(file), id, (long long)output->shape[0],
			    output->name);
		tensor_to_f32(other, (const char *)output->data + (size_t)id * bytes,
		    output->dtype, width);
		for (size_t j = 0; j < width; j++)
			answers->row[j] += i ? -other[j] : other[j];
	}
	free(other);
	answers->tensor = (struct safetensor){ .name = "answers.weight",
		.dtype = DTYPE_F32,
		.rank = 2,
		.shape = { 1, spec->width },
		.count = width,
		.data = answers->row };
}

void
answers_free(struct answers *answers)
{
	free(answers->row);
}
