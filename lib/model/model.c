#include "model/model_struct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/utf8.h"
#include "folder/static_folder.h"
#include "model/adapters.h"
#include "model/adapter_training.h"
#include "model/task_loras.h"
#include "model/bge_m3.h"
#include "model/config.h"
#include "model/experts.h"
#include "model/freeze.h"
#include "model/head_tensors.h"
#include "model/latents.h"
#include "model/packed_weights.h"
#include "model/pass.h"
#include "model/quantized_weights.h"
#include "model/relative.h"
#include "model/rotary.h"
#include "model/token_experts.h"
#include "text/json.h"

/* Rounds embedding_scale to the type of the stored embeddings, as the reference does. */
static void
round_scale(struct model *model)
{
	int tokens = model->weights.stem[STEM_TOKENS].tensor;
	float *scale = &model->spec.embedding_scale;

	if (model->mode != MODEL_ENCODE)
		return;
	if (model->weights.stored[tokens]->dtype == DTYPE_BF16)
		*scale = bf16_widen(bf16_narrow(*scale));
	if (model->weights.stored[tokens]->dtype == DTYPE_F16)
		*scale = f16_widen(f16_narrow(*scale));
}

/* A drawn table gets the name that its kind of folder has for it. */
static void
name_drawn(struct model *model)
{
	const char **name = &model->weights.tensors[0].name;

	if (static_folder_kind(model->dir) != STATIC_MODEL2VEC)
		return;
	free((char *)*name);
	*name = mem_string("embeddings");
}

static void
match_table(struct model *model)
{
	if (!model->file) {
		name_drawn(model);
		return;
	}
	table_rows_read(&model->table_rows, model->file, model->spec.vocabulary);
	if (model->table_rows.count && model->mode != MODEL_ENCODE)
		die("%s: its tokens share rows or have weights ('mapping', 'weights'); such a table is read, and not written",
		    safetensors_name(model->file));
}

/* The family of a model whose attention is known forward and on processors only; NULL: of another. */
static const char *
forward_family(const struct spec *spec)
{
	return spec->latents.count   ? "NV-Embed"
	       : spec->relative.rows ? "DeBERTa"
	       : spec->softcap != 0  ? "Gemma 2"
				     : NULL;
}

static void
demand_backward(const struct model *model)
{
	const char *family = forward_family(&model->spec);

	if (family)
		die("%s: %s can encode, but not be trained, drawn or written anew",
		    model->dir, family);
}

static void
demand_embeddings(const struct model *model)
{
	const char *kind = model->head.tokens	   ? "embeds tokens (late interaction)"
			   : model->head.splade.is ? "is a sparse encoder"
						   : NULL;

	if (kind)
		die("%s: %s; such a model can encode, but not be trained, drawn or written anew",
		    model->dir, kind);
}

/* Dies where such a model is to be trained, or run on a device. */
static void
demand_forward(const struct model *model)
{
	const struct spec *spec = &model->spec;
	const char *own = spec->layer_embedding ? "EmbeddingGemma 2"
			  : spec->conv_taps	? "LFM2"
						: NULL;
	const char *family = own ? own : forward_family(spec);

	if (!family)
		return;
	if (own && model->mode == MODEL_INIT)
		die("%s: %s is not drawn at random", model->dir, family);
	if (model->mode != MODEL_ENCODE)
		demand_backward(model);
	if (nn_device())
		die("%s: %s runs on processors only", model->dir, family);
}

/* Adds the projection of model_training to the head. */
static void
add_projection(struct model *model, int width)
{
	struct head *head = &model->head;
	int own = head_width(head, model->spec.width, model->dir);

	if (head->count == HEAD_MODULES)
		die("%s: has too many modules for a projection", model->dir);
	head->modules[head->count++] = (struct head_module){
		.kind = HEAD_DENSE, .name = "projection", .in = own, .out = width
	};
	model->projected = true;
}

/* Opens the file of weights and finds each tensor of the specification in it.  projection: its width; 0: none. */
static void
match_tensors(struct model *model, int projection)
{
	if (model->spec.loras && model->mode != MODEL_ENCODE)
		die("%s: has LoRAs of its own for tasks (%s); such a model can encode, but not be trained, drawn or written anew",
		    model->dir, model->expert_names);
	demand_forward(model);
	if (model->answers.is && model->spec.output_capped)
		die("%s: caps the logits of its answers ('final_logit_softcapping'), which is not supported",
		    model->dir);
	if (model->mode != MODEL_ENCODE)
		demand_embeddings(model);
	if (model->mode == MODEL_TRAIN && bge_m3_is(model->dir))
		warn(
		    "%s: the new folder leaves %s and %s out: they belong to these weights",
		    model->dir, bge_m3_sparse, bge_m3_vectors);
	if (model->mode != MODEL_INIT)
		model->file = safetensors_open(model->folder);
	head_tensors_find_projection(model);
	if (projection)
		add_projection(model, projection);
	weights_match(&model->weights, &model->spec, model->file,
	    model->mode != MODEL_ENCODE && !model->classifies);
	if (model->head.table)
		match_table(model);
	model->spec.fused = model->spec.layers && weights_fused(&model->weights);
	if (model->weights.stem[STEM_OUTPUT].tensor >= 0)
		tree_set(model->config, "tie_word_embeddings", tree_of_boolean(false));
	round_scale(model);
	if (model->answers.is)
		answers_make(&model->answers, &model->weights, &model->spec, model->file);
	head_tensors_open(model);
	if (model->classifies && model->mode == MODEL_TRAIN)
		weights_of_classifier(&model->weights);
}

/* Maps the tensors of a task expert, or of none (-1). */
static void
load_mapped(struct model *model, int expert)
{
	struct weights *weights = &model->weights;

	for (int i = 0; i < weights->count; i++) {
		const struct safetensor *tensor = weights->stored[i];
		bool *copied = &model->copied[i];
		if (model->data[i].at || weights->tensors[i].expert != expert)
			continue;
		if (weights->tensors[i].columns && !weights->tensors[i].floats)
			model->data[i] = nn_matrix_of(
			    tensor->data, tensor->dtype, tensor->count, copied);
		else
			model->data[i].at = nn_weights(
			    tensor->data, tensor->dtype, tensor->count, copied);
	}
}

/* The deviation of a matrix; a projection's is that of torch.nn.Linear. */
static double
deviation_of(const struct model *model, const struct parameter *tensor)
{
	bool last = tensor == model->weights.tensors + model->weights.count - 1;

	return model->projected && last ? 1 / sqrt(3 * (double)tensor->columns)
					: model->spec.initializer_range;
}

/* As the reference initialises: normal matrices, norms of ones, biases of zeros. */
static void
draw(const struct model *model, const struct parameter *tensor, struct rng rng, float *to)
{
	const char *last = strrchr(tensor->name, '.');
	bool plus = model->spec.norm == NN_RMSNORM_PLUS &&
		    tensor < model->weights.tensors + model->weights.own;
	bool one = !tensor->columns && last && !strcmp(last, ".weight") && !plus;
	double deviation = deviation_of(model, tensor);

	for (size_t i = 0; i < tensor->count; i++)
		to[i] = tensor->columns ? (float)(deviation * rng_normal(&rng)) : one;
}

static void
load_values(struct model *model, uint64_t seed)
{
	struct weights *weights = &model->weights;
	size_t most = 0;

	model->learning_size = weights_lay_out(weights);
	model->learning = mem_new((size_t)weights->count, sizeof *model->learning);
	for (int i = 0; i < weights->count; i++)
		if (!weights->tensors[i].frozen)
			model->learning[model->learning_count++] = &weights->tensors[i];
	model->values =
	    nn_alloc(mem_multiply(weights->size, sizeof(float), "parameters"));
	model->gradients = nn_alloc(model->learning_size * sizeof(float));
	for (int i = 0; i < weights->count; i++)
		if (weights->tensors[i].count > most)
			most = weights->tensors[i].count;
	float *host = mem_new(most, sizeof *host);
	for (int i = 0; i < weights->count; i++) {
		const struct safetensor *stored = weights->stored[i];
		if (stored)
			tensor_to_f32(host, stored->data, stored->dtype, stored->count);
		else
			draw(model, &weights->tensors[i], rng_seed(seed, (uint64_t)i),
			    host);
		nn_upload(model->values + weights->tensors[i].offset, host,
		    weights->tensors[i].count * sizeof *host);
	}
	free(host);
}

void
model_need_expert(struct model *model, int expert)
{
	if (expert < 0 || expert >= model->spec.experts || model->expert_there[expert])
		return;
	model->expert_there[expert] = true;
	if (model->mode != MODEL_ENCODE)
		return;
	load_mapped(model, expert);
	model_resolve(model);
}

/* projection: its width; 0: none. */
static struct model *
begin(const char *dir, enum model_mode mode, bool classifies, const char *template,
    int projection)
{
	struct model *model = mem_zero(1, sizeof *model);

	model->classifies = classifies;
	model->template = template;
	model->mode = mode;
	model_configure(model, dir);
	match_tensors(model, projection);
	model->data = mem_zero((size_t)model->weights.count, sizeof *model->data);
	model->copied = mem_zero((size_t)model->weights.count, sizeof *model->copied);
	return model;
}

static struct model *
complete(struct model *model, uint64_t seed)
{
	model_note_fingerprint(model, seed);
	if (model->mode == MODEL_ENCODE)
		load_mapped(model, -1);
	else
		load_values(model, seed);
	task_loras_load(model);
	model_resolve(model);
	rotary_open(model);
	relative_open(model);
	latents_open(model);
	return model;
}

void
model_open_prediction(struct model *model)
{
	struct weights *weights = &model->weights;
	size_t before = (size_t)weights->count;

	weights_match_prediction(weights, &model->spec, model->file);
	size_t count = (size_t)weights->count;
	model->data = mem_resize(model->data, count, sizeof *model->data);
	model->copied = mem_resize(model->copied, count, sizeof *model->copied);
	memset(model->data + before, 0, (count - before) * sizeof *model->data);
	memset(model->copied + before, 0, (count - before) * sizeof *model->copied);
	load_mapped(model, -1);
	model_resolve(model);
	prediction_demand(model);
	adapters_demand_without(model, (int)before);
}

void
model_open_stored(struct model *model, const char *dir)
{
	*model = (struct model){ .mode = MODEL_TRAIN };
	model_configure(model, dir);
	match_tensors(model, 0);
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

struct model *
model_open(const char *dir, enum model_mode mode, uint64_t seed)
{
	return complete(begin(dir, mode, false, NULL, 0), seed);
}

struct model *
model_open_training(const char *dir, enum model_mode mode, uint64_t seed,
    const struct model_training *training)
{
	if (dir[utf8_valid(dir, strlen(dir))])
		die("%s: is not UTF-8, as the files that name the model are; rename the folder",
		    dir);
	struct model *model =
	    begin(dir, mode, training->classifies, NULL, training->project);

	/* a LoRA is trained on a model that is opened to encode */
	demand_backward(model);
	demand_embeddings(model);
	if (training->freeze)
		freeze_weights(model, training->freeze);
	return complete(model, seed);
}

/* Warns if another precision of the linear layers changes nothing. */
static void
warn_static(const struct model *model)
{
	if (!model->spec.layers)
		warn(
		    "%s: has static embeddings and no linear layers: --precision and --weights change only the fingerprint",
		    model->dir);
}

struct model *
model_open_int8(const char *dir, bool keep)
{
	struct model *model = begin(dir, MODEL_ENCODE, false, NULL, 0);

	warn_static(model);
	quantized_weights_load(model, keep);
	return complete(model, 0);
}

static struct model *
open_packed(
    const char *dir, enum dtype kind, bool keep, bool classifies, const char *template)
{
	struct model *model = begin(dir, MODEL_ENCODE, classifies, template, 0);

	if (kind != DTYPE_F32)
		warn_static(model);
	if (kind != DTYPE_F32 && !nn_supports(kind))
		inform("%s: products of %s are not quicker here; those of f32 are made",
		    dir, dtype_name(kind));
	if (kind == DTYPE_F32 || !nn_supports(kind))
		return complete(model, 0);
	if (kind == DTYPE_I8 && nn_is_slow(kind))
		warn(
		    "%s: products of int8 are slower than those of f32 here, without instructions for them",
		    dir);
	model->packed = packed_weights_new(kind);
	complete(model, 0);
	packed_weights_load(model, keep);
	return model;
}

struct model *
model_open_packed(const char *dir, enum dtype kind, bool keep)
{
	return open_packed(dir, kind, keep, false, NULL);
}

struct model *
model_open_classifier(const char *dir, enum dtype kind, bool keep, const char *template)
{
	return open_packed(dir, kind, keep, true, template);
}

/* Bytes of the model's copy of a tensor. */
static size_t
copy_size(const struct model *model, int tensor)
{
	const struct parameter *p = &model->weights.tensors[tensor];
	size_t columns = p->columns ? (size_t)p->columns : 1;

	return p->count / columns * nn_row_size(model->data[tensor].dtype, columns);
}

void
model_drop_copy(struct model *model, int tensor)
{
	if (model->copied[tensor])
		nn_free((void *)model->data[tensor].at, copy_size(model, tensor));
	model->copied[tensor] = false;
}

void
model_close(struct model *model)
{
	struct weights *weights = &model->weights;

	for (int i = 0; i < weights->count; i++)
		model_drop_copy(model, i);
	free(model->data);
	free(model->copied);
	quantized_weights_free(model->quantized);
	packed_weights_free(model->packed);
	pass_free(model);
	if (model->values) {
		size_t size = model->training ? model->learning_size : weights->size;
		nn_free(model->values, size * sizeof(float));
		nn_free(model->gradients, model->learning_size * sizeof(float));
	}
	free(model->learning);
	adapter_training_free(model->training);
	adapters_free(model->adapters);
	relative_close(model);
	latents_close(model);
	rotary_close(model);
	answers_free(&model->answers);
	free(model->blocks);
	free(model->dblocks);
	free(model->mixtures);
	free(model->dmixtures);
	free(model->mixture_pairs);
	table_rows_free(&model->table_rows);
	model_close_stored(model);
	free(model);
}

const struct spec *
model_spec(const struct model *model)
{
	return &model->spec;
}

void
model_demand_texts(const struct model *model)
{
	if (model->head.tokens)
		die("%s: embeds tokens (late interaction), and texts are to be embedded",
		    model->dir);
	if (model->head.splade.is)
		die("%s: is a sparse encoder, and texts are to be embedded", model->dir);
}

struct head *
model_head(struct model *model)
{
	return &model->head;
}

int
model_width(const struct model *model)
{
	head_tensors_demand_pooling(model);
	return head_width(&model->head, model->spec.width, model->dir);
}

int
model_expert(const struct model *model, const char *task)
{
	return experts_find(&model->spec, task);
}

const char *
model_expert_names(const struct model *model)
{
	return model->expert_names;
}

const char *
model_fingerprint(const struct model *model)
{
	return model->fingerprint;
}

const char *
model_dir(const struct model *model)
{
	return model->dir;
}

int
model_parameters(const struct model *model)
{
	return model->learning_count;
}

const struct parameter *
model_parameter(const struct model *model, int index)
{
	return model->learning[index];
}

float *
model_values(struct model *model)
{
	return model->values;
}

float *
model_gradients(struct model *model)
{
	return model->gradients;
}

bool
model_reached(const struct model *model, const struct parameter *parameter)
{
	return parameter->predicts     ? model->predicts_reached
	       : parameter->expert < 0 ? true
				       : model->reached[parameter->expert];
}

void
model_reach(struct model *model, int expert, bool predicts)
{
	if (expert >= 0)
		model->reached[expert] = true;
	model->predicts_reached |= predicts;
}

void
model_forget_reached(struct model *model)
{
	memset(model->reached, 0, sizeof model->reached);
	model->predicts_reached = false;
}

size_t
model_size(const struct model *model)
{
	return model->learning_size;
}
