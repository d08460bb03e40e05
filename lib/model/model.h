/*
 * model - the model in a Hugging Face folder: opened, encodes, is trained.
 *
 * The folder: config.json, model.safetensors (or shards), and the sentence-transformers
 * files (modules.json, 1_Pooling, 2_Dense, 3_Normalize, config_sentence_transformers.json).
 * Weights are mapped, not read: opening costs milliseconds, processes share one copy.  A device (nn_device) gets the weights
 * of a task expert with the expert's first batch, all others when the model is opened.
 * Task experts are the extension "task_experts" of config.json: see experts.h and motes(7).
 */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "model/adapter.h"
#include "model/batch.h"
#include "model/head.h"
#include "model/spec.h"
#include "model/weights.h"

struct model;

enum model_mode {
	MODEL_ENCODE, /* weights mapped in place, no gradients */
	MODEL_TRAIN, /* weights copied to one block that can be updated, with gradients */
	MODEL_INIT /* as MODEL_TRAIN, with weights drawn from `seed` and the head that predicts tokens */
};

/* Dies naming the file, and the key or tensor that is missing, unknown or has another shape. */
struct model *model_open(const char *dir, enum model_mode mode, uint64_t seed);

/* How a model is trained; all zero: as model_open. */
struct model_training {
	/* weights whose names fit these patterns do not learn (freeze.h); NULL: none */
	const char *const *freeze;
	/* Embeddings go through one more linear layer, to `project` values, drawn from `seed`: the parameter "projection.linear.weight",
	 * which model_save leaves out.  0: none. */
	int project;
	/* With MODEL_TRAIN: a cross-encoder, whose "embedding" is the logits of the labels.  A model without a classifier gets one of
	 * one label: layers that the folder lacks are drawn from `seed`. */
	bool classifies;
};
struct model *model_open_training(const char *dir, enum model_mode mode, uint64_t seed,
    const struct model_training *training);

/*
 * Opens a model to encode with, the matrices of its linear layers and experts as int8 (nn_quantize).  Embeddings, norms, biases,
 * routers, gates of shared experts and the head stay as they are stored.  Memory holds the int8 and one tensor more.
 *
 * The file model.int8.safetensors beside the weights is mapped if it was made of them; else a warning says so.  keep: if there is no
 * file of these weights, writes it, whole or not at all.
 */
struct model *model_open_int8(const char *dir, bool keep);

/*
 * Opens a model to encode with, the products of these layers in i8 or bf16 (nn_pack); in f32 where the kernels have no such
 * products.  i8: the absmax of each layer's input columns is measured on 256 tokens, drawn by one seed for every model.  keep:
 * as above, for i8, in model.precision-int8.safetensors.
 */
struct model *model_open_packed(const char *dir, enum dtype kind, bool keep);

/* The same, kind DTYPE_F32 included, of a cross-encoder (classifier.h), or of a language model that answers (answers.h):
 * model_encode makes the scores of the labels.  template: the name of the pair's template; NULL: the folder's. */
struct model *model_open_classifier(
    const char *dir, enum dtype kind, bool keep, const char *template);

void model_close(struct model *model);

/* Training: products of the blocks' linear layers, and of the head that predicts tokens, in bf16, forward and back
 * (nn_matrix.bf16); weights, gradients and other heads stay f32.  Without such kernels nothing changes. */
void model_round(struct model *model);

const struct spec *model_spec(const struct model *model);
struct head *model_head(struct model *model); /* may be changed by options */
int model_width(const struct model *model);   /* of an embedding */
/* The task expert that serves a task, or EXPERT_BY_TEXT (experts.h); of a checkpoint with LoRAs for tasks, the adapter of
 * the task.  -1: none does. */
int model_expert(const struct model *model, const char *task);
const char *model_expert_names(const struct model *model); /* experts_list */
/* 16 hexadecimal digits: a hash of the files that decide an embedding, and of the precision of the weights. */
const char *model_fingerprint(const struct model *model);

const char *model_dir(const struct model *model);

/* Dies if the model embeds tokens, not texts (late interaction). */
void model_demand_texts(const struct model *model);

/* The reason why the model cannot take a batch ("text 3: the token id ..."), counted from 1, after `first` others; NULL: it can.
 * The caller frees it. */
char *model_refuses(const struct model *model, const struct batch *batch, int64_t first);

/*
 * Embeddings of a batch, to host memory emb[sequences, width], through the folder's pooling and normalisation.  Memory: the
 * activations of one layer, kept and reused.  Dies if the model refuses the batch, or if an embedding is not finite (naming the
 * weights that are not).
 */
void model_encode(struct model *model, const struct batch *batch, float *emb);

/*
 * The same in two steps.  begin copies the parts of the batch that it needs and starts the work, on a device asynchronously; emb is complete
 * when end returns.  Several may be begun; they are ended in that order.
 */
struct encoding;
struct encoding *model_encode_begin(
    struct model *model, const struct batch *batch, float *emb);
void model_encode_end(struct encoding *encoding);

/* The same to nn memory, without the check for finite values: model_demand_finite checks the n values of many batches at once,
 * and dies as model_encode does. */
void model_embed(struct model *model, const struct batch *batch, float *emb);
void model_demand_finite(const struct model *model, const float *emb, size_t n);

/*
 * Hidden states in model_encode, layer by layer, in memory of the kernels and valid until `see` returns: layer 0 is after the
 * embeddings, layer i after block i, the last after the final norm (transformers' output_hidden_states).  see NULL: none.
 */
struct model_seen {
	int layer;   /* 0..layers */
	size_t C, E; /* E: token experts */
	struct nn_sequences sequences;
	const int32_t *ids;   /* [T] */
	const float *hidden;  /* [T,C] */
	const float *logits;  /* [T,E] of the block's router; NULL: no router */
	const float *routing; /* [T,E], softmax of the logits */
	/* [T,neuron_experts] of the block: the squared length of each neuron expert's activations; NULL: none */
	const float *energy;
	const int32_t *skip; /* [N] as in nn_pool, or NULL */
};
void model_watch(struct model *model,
    void (*see)(void *context, const struct model_seen *seen), void *context);

/*
 * LoRA adapters (adapters.h): weights stay as they are, A and B are mapped and stand beside them (linear.h).  Each sequence
 * of a batch goes through the adapter whose number it has, or through none.
 *
 * Opens, for a model to encode, the adapter in the folder `lora`, or all in the folders of `all`, numbered from 0 in the
 * order of their names; NULL: none.  Dies where a pair fits no linear layer, or an adapter names another model.
 */
void model_open_adapters(struct model *model, const char *lora, const char *all);
/* The number of an adapter, by the last part of its folder; -1: there is none. */
int model_adapter(const struct model *model, const char *name, size_t length);
const char *model_adapter_names(const struct model *model); /* "fiqa, quora" */
/* The same with what tells adapters of one name apart, "fiqa 0c4e..., ..."; NULL: there are none. */
const char *model_adapter_marks(const struct model *model);

/* Pools as a folder's modules.json says, if it has one; its modules may have no weights.  Before anything is encoded. */
void model_take_head(struct model *model, const char *dir);

/*
 * Adapters chosen during the forward pass (RouterRetriever): in model_encode `choose` sees the hidden states that enter
 * block `layer`, and writes the adapter of each sequence, -1 for none.  The blocks before go without adapters: dies
 * where one changes such a block.  After model_open_adapters.
 */
void model_choose(struct model *model, int layer,
    void (*choose)(void *context, const struct model_seen *seen, int32_t *adapters),
    void *context);

/* Training. ------------------------------------------------------------------------ */

/* The parameters are the tensors that learn: without the frozen ones, and with an adapter its own alone. */
int model_parameters(const struct model *model);
const struct parameter *model_parameter(const struct model *model, int index);
float *model_values(struct model *model);    /* all parameters, one block of nn memory */
float *model_gradients(struct model *model); /* the same layout */
size_t model_size(const struct model *model);

/* Whether a backward pass reached a parameter since model_forget_reached.  The gradients of a task expert without sequences are
 * zero, and it is not reached. */
bool model_reached(const struct model *model, const struct parameter *parameter);

/* Marks a task expert (-1: none), and the head that predicts tokens if `predicts`, as reached: by another rank (ranks.h). */
void model_reach(struct model *model, int expert, bool predicts);

/* The optimiser cleared the gradients of all that was reached. */
void model_forget_reached(struct model *model);

/*
 * The forward pass of training.  Embeddings are in nn memory, valid until the next call.  model_backward takes d loss / d
 * embeddings (nn memory) and adds to the gradients; one call for each model_forward, with the same batch.  whole, unless NULL, is
 * told each block, from the last to the first, when the gradients of its parameters are complete, and at the end -1: the
 * parameters outside the blocks.
 */
struct model_whole {
	void (*tell)(void *context, int layer);
	void *context;
};
const float *model_forward(struct model *model, const struct batch *batch);
/* The same of several batches, embeddings[count]: each needs its model_backward, in any order; the batches stay in place until
 * then. */
void model_forward_all(struct model *model, const struct batch *batches, size_t count,
    const float **embeddings);
void model_backward(struct model *model, const struct batch *batch, const float *demb,
    const struct model_whole *whole);

/* Sets the balance (balance.h) that forward passes count in and backward passes read; NULL: none.  Borrowed. */
struct balance;
void model_balance(struct model *model, struct balance *balance);

/*
 * Prediction of tokens, by the masked-language-model head or a decoder's output matrix: targets[m] from the last hidden state of
 * token positions[m], m < count.  model_predict is the forward pass (count 0: only for a balance's counts).
 * model_predict_backward, once after it with the same batch, adds scale x gradient of the summed loss, and returns the sum.
 * model_predict_loss returns the sum alone.  Logits are made a few rows at a time.
 */
bool model_predicts(const struct model *model);

/* Opens that head of a model that was opened to encode; dies, naming the tensor, if the checkpoint lacks a part of it. */
void model_open_prediction(struct model *model);
void model_predict(struct model *model, const struct batch *batch,
    const int32_t *positions, const int32_t *targets, int64_t count);
double model_predict_backward(
    struct model *model, const struct batch *batch, float scale, double *correct);
double model_predict_loss(struct model *model, const struct batch *batch,
    const int32_t *positions, const int32_t *targets, int64_t count);

/* Blocks of the model in a folder; opens no weights. */
int model_layers(const char *dir);

#endif
