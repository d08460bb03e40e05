/* Model folders written: as trained, upcycled, averaged. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "folder/folder.h"
#include "folder/modules.h"
#include "folder/prompt.h"
#include "folder/sentence_config.h"
#include "folder/static_folder.h"
#include "model/experts.h"
#include "model/model_internal.h"
#include "text/json.h"

enum { PIECE = 1 << 16 }; /* floats written at a time */

void
model_copy_files(const char *from, const char *to)
{
	static const char *const files[] = { "tokenizer.json", "vocab.txt", "vocab.json",
		"merges.txt", "sentencepiece.bpe.model", "spiece.model",
		"tokenizer.model", "sentencepiece.model", "tokenizer_config.json",
		"special_tokens_map.json", "added_tokens.json", "chat_template.jinja",
		"config_sentence_transformers.json", NULL };

	for (const char *const *file = files; *file; file++)
		folder_copy(from, to, *file);
	for (const char *const *file = sentence_config_names; *file; file++)
		folder_copy(from, to, *file);
}

static void
copy_files(const struct model *model, const char *to)
{
	model_copy_files(model->dir, to);
	if (strcmp(model->dir, model->folder))
		model_copy_files(model->folder, to);
}

/* The dtype as transformers writes it, under the keys that the config has for it. */
static void
note_dtype(struct tree *config, enum dtype dtype)
{
	const char *name = dtype == DTYPE_BF16	? "bfloat16"
			   : dtype == DTYPE_F16 ? "float16"
			   : dtype == DTYPE_F64 ? "float64"
						: "float32";

	if (tree_get(config, "dtype"))
		tree_set(config, "dtype", tree_of_string(name));
	if (tree_get(config, "embedding_dtype"))
		tree_set(config, "embedding_dtype", tree_of_string(name));
	if (tree_get(config, "torch_dtype") || !tree_get(config, "dtype"))
		tree_set(config, "torch_dtype", tree_of_string(name));
}

/* sentence-transformers' folders of static embeddings have none, and are told from model2vec's by that. */
static void
write_config(const struct model *model, const char *folder, const struct tree *config)
{
	if (static_folder_kind(model->dir) != STATIC_SENTENCE)
		folder_write_json(folder, "config.json", config);
}

/* The type in which a tensor that is no parameter is written. */
static enum dtype
extra_type(const struct safetensor *extra, const enum dtype *floats)
{
	return floats && dtype_is_float(extra->dtype) ? *floats : extra->dtype;
}

struct safetensors_writer *
model_create_weights(const struct model *model, const char *folder,
    const struct safetensor *tensors, int count, const enum dtype *floats)
{
	const struct weights *weights = &model->weights;
	struct safetensor *all =
	    mem_new((size_t)count + (size_t)weights->extra_count, sizeof *all);
	char *path = mem_format("%s/model.safetensors", folder);

	for (int i = 0; i < count; i++)
		all[i] = tensors[i];
	for (int i = 0; i < weights->extra_count; i++) {
		all[count + i] = weights->extra[i];
		all[count + i].dtype = extra_type(&weights->extra[i], floats);
	}
	struct safetensors_writer *writer =
	    safetensors_create(path, all, count + weights->extra_count, NULL, NULL);
	free(path);
	free(all);
	return writer;
}

static void
put_converted(
    struct safetensors_writer *writer, const struct safetensor *tensor, enum dtype dtype)
{
	size_t size = dtype_size(dtype);
	float *values = mem_new(tensor->count, sizeof *values);
	void *stored = mem_new(tensor->count, size);

	tensor_to_f32(values, tensor->data, tensor->dtype, tensor->count);
	tensor_from_f32(stored, dtype, values, tensor->count);
	safetensors_put(writer, stored, tensor->count * size);
	free(stored);
	free(values);
}

void
model_finish_weights(const struct model *model, struct safetensors_writer *writer,
    const enum dtype *floats)
{
	for (int i = 0; i < model->weights.extra_count; i++) {
		const struct safetensor *extra = &model->weights.extra[i];
		enum dtype dtype = extra_type(extra, floats);
		if (dtype != extra->dtype)
			put_converted(writer, extra, dtype);
		else
			safetensors_put(
			    writer, extra->data, extra->count * dtype_size(dtype));
	}
	safetensors_finish(writer);
}

void
model_write_weights(const struct model *model, const char *folder,
    const struct safetensor *tensors, int count)
{
	struct safetensors_writer *writer =
	    model_create_weights(model, folder, tensors, count, NULL);

	for (int i = 0; i < count; i++)
		safetensors_put(writer, tensors[i].data,
		    tensors[i].count * dtype_size(tensors[i].dtype));
	model_finish_weights(model, writer, NULL);
}

/* The description of a parameter, without its data. */
static struct safetensor
describe(const struct parameter *p, enum dtype dtype)
{
	struct safetensor tensor = { .name = p->name, .dtype = dtype, .count = p->count };

	tensor.rank = parameter_shape(tensor.shape, p);
	return tensor;
}

void
model_put(struct safetensors_writer *writer, const float *values, size_t count,
    enum dtype dtype)
{
	float *host = mem_new(PIECE, sizeof *host);
	char *narrow = mem_new(PIECE, dtype_size(dtype));

	for (size_t n; count; values += n, count -= n) {
		n = count < PIECE ? count : PIECE;
		nn_download(host, values, n * sizeof *host);
		if (dtype != DTYPE_F32)
			tensor_from_f32(narrow, dtype, host, n);
		safetensors_put(writer, dtype == DTYPE_F32 ? (char *)host : narrow,
		    n * dtype_size(dtype));
	}
	free(narrow);
	free(host);
}

struct safetensor
model_tensor(const struct model *model, const struct parameter *p, enum dtype dtype)
{
	struct safetensor tensor = describe(p, dtype);
	float *host = mem_new(p->count, sizeof *host);
	void *data = mem_new(p->count, dtype_size(dtype));

	nn_download(host, model->values + p->offset, p->count * sizeof *host);
	tensor_from_f32(data, dtype, host, p->count);
	free(host);
	tensor.data = data;
	return tensor;
}

/* With which expert's a tensor lies in the file, -1: with what all share.  Matrices of one expert lie
 * together, so that who encodes with another never touches them; vectors are converted on opening. */
static int
neighbours(const struct parameter *p)
{
	return p->columns ? p->expert : -1;
}

/* The transformer goes out tensor by tensor: it may fill half of the memory. */
static void
write_transformer(const struct model *model, const char *folder, enum dtype dtype)
{
	const struct weights *weights = &model->weights;
	struct safetensor *tensors = mem_new((size_t)weights->own, sizeof *tensors);
	const struct parameter **order = mem_new((size_t)weights->own, sizeof *order);
	int count = 0;

	for (int expert = -1; expert < model->spec.experts; expert++)
		for (int i = 0; i < weights->own; i++)
			if (neighbours(&weights->tensors[i]) == expert)
				order[count++] = &weights->tensors[i];
	for (int i = 0; i < count; i++)
		tensors[i] = describe(order[i], dtype);
	struct safetensors_writer *writer =
	    model_create_weights(model, folder, tensors, count, &dtype);
	for (int i = 0; i < count; i++)
		model_put(
		    writer, model->values + order[i]->offset, order[i]->count, dtype);
	model_finish_weights(model, writer, &dtype);
	free(order);
	free(tensors);
}

/* What the head says and the weights of its modules; tensors: all of the model's, with their data. */
static void
write_head(
    const struct model *model, const char *folder, const struct safetensor *tensors)
{
	const struct head *head = &model->head;

	head_write(head, folder, model->spec.width);
	for (int i = 0; i < head->count; i++) {
		const struct head_module *module = &head->modules[i];
		if (!head_tensor_name(module, 0))
			continue;
		struct safetensor out[2];
		for (int j = 0; j <= module->bias; j++) {
			out[j] = tensors[model->dense[i][j].tensor];
			out[j].name = head_tensor_name(module, j);
		}
		char *path = mem_format("%s/%s/model.safetensors", folder, module->name);
		safetensors_write(path, out, 1 + module->bias, NULL, NULL);
		free(path);
	}
}

static void
save_model(const struct model *model, const char *dir, enum dtype dtype)
{
	const struct weights *weights = &model->weights;
	char *folder = folder_begin(dir);
	struct tree *config = tree_copy(model->config);
	struct safetensor *tensors = mem_zero((size_t)weights->count, sizeof *tensors);

	copy_files(model, folder);
	note_dtype(config, dtype);
	write_config(model, folder, config);
	write_transformer(model, folder, dtype);
	for (int i = weights->own; i < weights->count; i++)
		tensors[i] = model_tensor(model, &weights->tensors[i], dtype);
	write_head(model, folder, tensors);
	for (int i = weights->own; i < weights->count; i++)
		free((void *)tensors[i].data);
	free(tensors);
	tree_free(config);
	folder_commit(folder, dir);
}

void
model_save(const struct model *model, const char *dir, enum dtype dtype)
{
	if (model->learning)
		learning_save(model, dir, dtype);
	else
		save_model(model, dir, dtype);
}

void
model_open_stored(struct model *model, const char *dir)
{
	*model = (struct model){ .mode = MODEL_TRAIN };
	model_configure(model, dir);
	model_match(model);
	model_note_fingerprint(model, 0);
}

void
model_close_stored(struct model *model)
{
	weights_free(&model->weights);
	safetensors_close(model->file);
	for (int i = 0; i < HEAD_MODULES; i++)
		safetensors_close(model->head_files[i]);
	model_unconfigure(model);
}

char *
model_begin_folder(const struct model *model, const char *dir)
{
	char *folder = folder_begin(dir);

	copy_files(model, folder);
	write_config(model, folder, model->config);
	if (!model->head.assumed) {
		struct safetensor *stored =
		    mem_new((size_t)model->weights.count, sizeof *stored);
		for (int i = 0; i < model->weights.count; i++)
			stored[i] = *model->weights.stored[i];
		write_head(model, folder, stored);
		free(stored);
	}
	return folder;
}

/* Those of the folder `from`, in their place those of `how`, and what its experts lack. */
static void
write_prompts(const char *from, const char *folder, const struct upcycle *how)
{
	const struct tree *given = how->prompts;
	char *path = mem_format("%s/config_sentence_transformers.json", from);
	struct tree *config = json_read_optional(path);

	if (!config)
		config = tree_object();
	struct tree *prompts = tree_get(config, "prompts");
	if (!prompts)
		prompts = tree_set(config, "prompts", tree_object());
	for (size_t i = 0; given && i < given->count; i++)
		tree_set(prompts, given->items[i]->key, tree_copy(given->items[i]));
	for (int i = 0; i < how->count; i++) {
		char *text = mem_format("%s: ", how->names[i]);
		if (!tree_get(prompts, how->names[i]))
			tree_set(prompts, how->names[i], tree_of_string(text));
		free(text);
	}
	folder_write_json(folder, "config_sentence_transformers.json", config);
	tree_free(config);
	free(path);
}

static void
give_experts(struct spec *spec, const struct upcycle *how, const char *from)
{
	bool any = false;

	if (spec->experts)
		die("%s: has task experts already", from);
	spec_refuse_shared(spec, from);
	spec->experts = how->count;
	spec->expert_norms = how->norms;
	for (int i = 0; i < how->count; i++)
		spec->expert_names[i] = how->names[i];
	for (int i = 0; i < spec->layers; i++) {
		any |= spec->layer[i].experts = how->layers[i];
		if (how->layers[i] && spec->layer[i].mixture)
			die("%s: block %d has token experts; task experts are copies of a dense MLP (choose --layers without it)",
			    from, i);
	}
	if (!any)
		die("%s: has %d blocks; none of them is to get experts", from,
		    spec->layers);
}

void
model_upcycle(const char *from, const char *dir, const struct upcycle *how)
{
	struct model model;
	int count = 0;

	model_open_stored(&model, from);
	const struct weights *weights = &model.weights;
	give_experts(&model.spec, how, from);
	struct tree *tasks = experts_assign(&model.spec, how->tasks, from);
	model.spec.tasks = tasks;
	bool *own = mem_zero((size_t)weights->count, sizeof *own);
	for (int layer = 0; layer < model.spec.layers; layer++)
		for (int i = 0; i < BLOCK_PARAMETERS; i++) {
			int tensor = weights->blocks[layer][i].tensor;
			if (tensor >= 0 &&
			    experts_own(&model.spec, layer, (enum block_parameter)i))
				own[tensor] = true;
		}
	struct safetensor *out =
	    mem_zero((size_t)weights->own * (size_t)how->count, sizeof *out);
	for (int group = -1; group < how->count; group++)
		for (int i = 0; i < weights->own; i++)
			for (int expert = 0; expert < (own[i] ? how->count : 1);
			     expert++) {
				struct parameter copy = weights->tensors[i];
				copy.expert = own[i] ? expert : -1;
				if (neighbours(&copy) != group)
					continue;
				out[count] = *weights->stored[i];
				out[count++].name =
				    own[i] ? experts_tensor(copy.name, how->names[expert])
					   : mem_string(copy.name);
			}
	tree_set(model.config, "task_experts", experts_tree(&model.spec));
	char *folder = model_begin_folder(&model, dir);
	write_prompts(from, folder, how);
	model_write_weights(&model, folder, out, count);
	folder_commit(folder, dir);
	for (int i = 0; i < count; i++)
		free((char *)out[i].name);
	free(out);
	free(own);
	tree_free(tasks);
	model_close_stored(&model);
}

static void
check_prompts(const struct model *model, const struct tree *prompts)
{
	for (size_t i = 0; prompts && i < prompts->count; i++)
		if (experts_find(&model->spec, prompts->items[i]->key) < 0)
			die("%s: the prompt '%s' is of no expert and no task; there are %s",
			    model->dir, prompts->items[i]->key,
			    experts_list(&model->spec));
}

void
model_assign(const char *from, const char *dir, const struct upcycle *how)
{
	struct model model = { 0 };

	model_configure(&model, from);
	if (!model.spec.experts)
		die("%s: has no task experts that could serve a task; --experts gives it some",
		    from);
	struct tree *tasks = experts_assign(&model.spec, how->tasks, from);
	model.spec.tasks = tasks;
	check_prompts(&model, how->prompts);
	tree_set(model.config, "task_experts", experts_tree(&model.spec));
	char *folder = folder_begin(dir);
	folder_link(from, folder);
	char *config = modules_transformer(folder);
	folder_write_json(config, "config.json", model.config);
	if (how->prompts)
		write_prompts(from, folder, how);
	folder_commit(folder, dir);
	free(config);
	tree_free(tasks);
	model_unconfigure(&model);
}

/* The mean of the experts' tensors that one parameter has, in their own dtype. */
static struct safetensor
mean_of(const struct model *model, int layer, int which)
{
	const struct weights *weights = &model->weights;
	size_t experts = (size_t)model->spec.experts;
	const struct part(*rows)[BLOCK_PARAMETERS] =
	    (const struct part(*)[BLOCK_PARAMETERS])weights->blocks +
	    (size_t)layer * experts;
	struct safetensor mean = *weights->stored[rows[0][which].tensor];
	double *sum = mem_zero(mean.count, sizeof *sum);
	float *values = mem_new(mean.count, sizeof *values);
	void *stored = mem_new(mean.count, dtype_size(mean.dtype));

	for (size_t e = 0; e < experts; e++) {
		const struct safetensor *tensor = weights->stored[rows[e][which].tensor];
		tensor_to_f32(values, tensor->data, tensor->dtype, tensor->count);
		for (size_t i = 0; i < mean.count; i++)
			sum[i] += (double)values[i];
	}
	for (size_t i = 0; i < mean.count; i++)
		values[i] = (float)(sum[i] / (double)experts);
	tensor_from_f32(stored, mean.dtype, values, mean.count);
	free(sum);
	free(values);
	mean.data = stored;
	return mean;
}

/* The name without its "experts.NAME." */
static char *
dense_name(const char *name)
{
	const char *at = strstr(name, ".experts.");
	const char *rest = strchr(at + strlen(".experts."), '.');

	return mem_format("%.*s%s", (int)(at - name), name, rest);
}

void
model_average(const char *from, const char *dir)
{
	struct model model;

	model_open_stored(&model, from);
	const struct weights *weights = &model.weights;
	const struct spec *spec = &model.spec;
	if (!spec->experts)
		die("%s: has no task experts to average", from);
	struct safetensor *out = mem_zero((size_t)weights->count, sizeof *out);
	int count = 0;
	for (int i = 0; i < weights->own; i++)
		if (weights->tensors[i].expert < 0) {
			out[count] = *weights->stored[i];
			out[count++].name = weights->tensors[i].name;
		}
	int shared = count;
	for (int layer = 0; layer < spec->layers; layer++)
		for (int i = 0; i < BLOCK_PARAMETERS; i++) {
			struct part own =
			    weights->blocks[(size_t)layer * (size_t)spec->experts][i];
			/* of parts of one tensor, the first stands for it */
			if (own.tensor < 0 || own.offset ||
			    !experts_own(spec, layer, (enum block_parameter)i))
				continue;
			out[count] = mean_of(&model, layer, i);
			out[count++].name = dense_name(weights->tensors[own.tensor].name);
		}
	struct tree *prompts = spec->tasks ? prompt_list(from) : NULL;
	tree_remove(model.config, "task_experts");
	char *folder = model_begin_folder(&model, dir);
	if (prompts)
		write_prompts(from, folder, &(struct upcycle){ .prompts = prompts });
	tree_free(prompts);
	model_write_weights(&model, folder, out, count);
	folder_commit(folder, dir);
	for (int i = shared; i < count; i++) {
		free((char *)out[i].name);
		free((void *)out[i].data);
	}
	free(out);
	model_close_stored(&model);
}
