#include "model/save.h"

#include <stdio.h>
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
#include "model/adapters.h"
#include "model/adapter_training.h"
#include "model/config.h"
#include "model/model_struct.h"
#include "text/json.h"

enum { PIECE = 1 << 16 }; /* floats written at a time */

static void
copy_named(const char *from, const char *to, const char *const *files)
{
	for (; *files; files++)
		folder_copy(from, to, *files);
}

/* sentence: with the settings of sentence-transformers. */
static void
copy_known(const char *from, const char *to, bool sentence)
{
	static const char *const files[] = { "tokenizer.json", "vocab.txt", "vocab.json",
		"merges.txt", "sentencepiece.bpe.model", "spiece.model",
		"tokenizer.model", "sentencepiece.model", "tokenizer_config.json",
		"special_tokens_map.json", "added_tokens.json", "chat_template.jinja",
		"chat_template.json", "preprocessor_config.json",
		"video_preprocessor_config.json", "processor_config.json", NULL };

	copy_named(from, to, files);
	if (!sentence)
		return;
	folder_copy(from, to, "config_sentence_transformers.json");
	copy_named(from, to, sentence_config_names);
}

/* The settings of an embedding model are not those of the cross-encoder that it becomes. */
static void
copy_files(const struct model *model, const char *to)
{
	copy_known(model->dir, to, !model->fresh);
	if (strcmp(model->dir, model->folder))
		copy_known(model->folder, to, !model->fresh);
}

/* Sets the dtype, as transformers names it, under the keys that the config has for it. */
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

/* sentence-transformers' folders of static embeddings have no config.json, which tells them from model2vec's. */
static void
write_config(const struct model *model, const char *folder, const struct tree *config)
{
	if (static_folder_kind(model->dir) != STATIC_SENTENCE)
		folder_write_json(folder, "config.json", config);
}

/* The type in which a tensor of weights.extra is written. */
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
	float *values = safetensors_floats(tensor);
	void *stored = mem_new(tensor->count, size);

	tensor_from_f32(stored, dtype, values, tensor->count);
	safetensors_put(writer, stored, tensor->count * size);
	free(stored);
	free(values);
}

/* Writes weights.extra behind the data and closes the file; floats: as in model_create_weights. */
static void
finish_weights(const struct model *model, struct safetensors_writer *writer,
    const enum dtype *floats)
{
	for (int i = 0; i < model->weights.extra_count; i++) {
		const struct safetensor *extra = &model->weights.extra[i];
		enum dtype dtype = extra_type(extra, floats);
		if (dtype != extra->dtype)
			put_converted(writer, extra, dtype);
		else
			safetensors_put_whole(writer, extra);
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
		safetensors_put_whole(writer, &tensors[i]);
	finish_weights(model, writer, NULL);
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

int
model_file_group(const struct parameter *p)
{
	return p->columns ? p->expert : -1;
}

/* Tensor by tensor: the transformer may fill half of the memory.  A classifier is in the same file. */
static void
write_transformer(const struct model *model, const char *folder, enum dtype dtype)
{
	const struct weights *weights = &model->weights;
	int all = model->classifies ? weights->count : weights->own;
	struct safetensor *tensors = mem_new((size_t)all, sizeof *tensors);
	const struct parameter **order = mem_new((size_t)all, sizeof *order);
	int count = 0;

	for (int expert = -1; expert < model->spec.experts; expert++)
		for (int i = 0; i < all; i++)
			if (model_file_group(&weights->tensors[i]) == expert)
				order[count++] = &weights->tensors[i];
	for (int i = 0; i < count; i++)
		tensors[i] = describe(order[i], dtype);
	struct safetensors_writer *writer =
	    model_create_weights(model, folder, tensors, count, &dtype);
	for (int i = 0; i < count; i++)
		model_put(
		    writer, model->values + order[i]->offset, order[i]->count, dtype);
	finish_weights(model, writer, &dtype);
	free(order);
	free(tensors);
}

/* modules.json of a cross-encoder, if its folder has one: the transformer alone. */
static void
write_classifier(const struct model *model, const char *folder)
{
	struct modules *had = modules_read(model->dir);
	struct tree *modules = tree_list();

	head_add_module(modules, "", "Transformer");
	if (had && !model->fresh)
		folder_write_json(folder, "modules.json", modules);
	tree_free(modules);
	modules_free(had);
}

/* modules.json and the weights of the head's modules; tensors[weights.count], with their data. */
static void
write_head(
    const struct model *model, const char *folder, const struct safetensor *tensors)
{
	struct head without = model->head, *head = &without;

	without.count -= model->projected;
	if (model->classifies) {
		write_classifier(model, folder);
		return;
	}

	head_write(head, folder, model->spec.width);
	for (int i = 0; i < head->count; i++) {
		const struct head_module *module = &head->modules[i];
		if (!head_tensor_name(module, 0) || head_module_inside(module))
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
save_model(const struct model *model, const char *dir, enum dtype dtype,
    const struct tree *origin)
{
	const struct weights *weights = &model->weights;
	char *folder = folder_begin(dir);
	struct tree *config = tree_copy(model->config);
	struct safetensor *tensors = mem_zero((size_t)weights->count, sizeof *tensors);

	copy_files(model, folder);
	note_dtype(config, dtype);
	write_config(model, folder, config);
	if (origin)
		folder_write_json(folder, FOLDER_TRAIN, origin);
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
model_save(const struct model *model, const char *dir, enum dtype dtype,
    const struct tree *origin)
{
	if (model->training)
		adapter_training_save(model, dir, dtype, origin);
	else
		save_model(model, dir, dtype, origin);
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
write_dense(const char *dir, const char *name, const struct affine *affine)
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

	safetensors_write(path, tensors, affine->bias ? 2 : 1, NULL, NULL);
	free(path);
}

void
model_append(const struct model *model, const char *dir, bool normalize,
    const struct affine *affine)
{
	const struct head *head = &model->head;
	bool unit_after = head->count && !affine->bias &&
			  head->modules[head->count - 1].kind == HEAD_NORMALIZE;
	struct head_module dense = {
		.in = affine->in, .out = affine->out, .bias = affine->bias
	};
	struct head_module unit = { .kind = HEAD_NORMALIZE };

	if (head->count + normalize >= HEAD_MODULES)
		die("%s: has %d modules after the pooling, and can have no more",
		    model->dir, head->count);
	char *folder = folder_begin(dir);
	folder_link(model->dir, folder);
	if (!head->listed)
		head_write(head, folder, model->spec.width);
	struct tree *modules = json_need(folder, "modules.json");
	if (normalize)
		add_module(modules, "Normalize", &unit);
	if (unit_after)
		tree_free(modules->items[--modules->count]);
	add_module(modules, "Dense", &dense);
	if (unit_after)
		add_module(modules, "Normalize", &unit);
	head_write_dense(&dense, folder);
	write_dense(folder, dense.name, affine);
	folder_write_json(folder, "modules.json", modules);
	folder_commit(folder, dir);
	tree_free(modules);
}
