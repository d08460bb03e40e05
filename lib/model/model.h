/*
 * model - a Hugging Face folder as something that encodes, learns and is saved.
 *
 * The folder: config.json, model.safetensors (or shards), and the sentence-transformers
 * files (modules.json, 1_Pooling, 2_Dense, 3_Normalize, config_sentence_transformers.json).
 * Weights are mapped, not read: opening costs milliseconds, processes share one copy.  A kernel library that has memory of
 * its own (nn_device) gets those of all texts when the model is opened, and those of a task expert with its first batch: of
 * a model with many experts the device holds the ones that are used.  Token experts, which every batch uses, and adapters,
 * which are small, are brought at once.
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
	MODEL_INIT /* as MODEL_TRAIN; needs no weights on disk: drawn from `seed`, with the
			 * head that predicts tokens */
};

/* Dies naming file, key or tensor and what was expected. */
struct model *model_open(const char *dir, enum model_mode mode, uint64_t seed);

/*
 * The same to encode, the matrices of the blocks' linear layers and of their experts in eight bits
 * (nn.h); embeddings, norms, biases, routers, gates of shared experts and the head stay as they are
 * stored.  They are made tensor by tensor, so that memory holds the eight bits alone, at most.
 *
 * keep: they are written to model.int8.safetensors beside the weights, whole or not at all, and mapped
 * from there.  A file of that name that was made of these weights is always taken; of another that is
 * there one is warned, and with `keep` it is replaced.
 */
struct model *model_open_int8(const char *dir, bool keep);

/*
 * The same with the products of these layers of i8 or bf16 (nn_pack in nn.h).  For i8 how far the columns reach that
 * enter them is read off 256 tokens, drawn by one seed for every model.  Where the kernels have no such products it
 * is model_open.  keep: what is made for i8 is kept as above, in model.precision-int8.safetensors.
 */
struct model *model_open_packed(const char *dir, enum dtype kind, bool keep);
void model_close(struct model *model);

/* The products of these layers of bf16 in a model that learns, forward and back (nn_matrix.bf16): what learns, its gradients,
 * the rest of the layers and the heads stay floats.  Where the kernels have no such products nothing changes. */
void model_round(struct model *model);

const struct spec *model_spec(const struct model *model);
struct head *model_head(struct model *model); /* may be changed by options */
int model_width(const struct model *model);   /* of an embedding */
/* The task expert that serves a task, or EXPERT_BY_TEXT (experts.h); of a checkpoint with LoRAs for tasks, the adapter of
 * the task.  -1: none does. */
int model_expert(const struct model *model, const char *task);
const char *model_expert_names(const struct model *model); /* experts_list */
/* Of what decides an embedding: weights in eight bits make another model. */
const char *model_fingerprint(const struct model *model);

const char *model_dir(const struct model *model);

/* Why the model cannot take a batch ("text 3: the token id ..."), counting its sequences from
 * `first`; NULL when it can.  The caller frees it. */
char *model_refuses(const struct model *model, const struct batch *batch, int64_t first);

/*
 * Embeddings of a batch, to host memory emb[sequences, width], through the folder's pooling
 * and normalisation.  Memory: one batch's activations of one layer, kept and reused.
 * Dies when the model refuses the batch, or when an embedding is not finite (naming the
 * weights that are not).
 */
void model_encode(struct model *model, const struct batch *batch, float *emb);

/*
 * The same in two halves: where a device computes it does so after the first, which has taken what it needs of the batch,
 * and `emb` is made when the second returns.  Several may be begun, which are ended in that order.
 */
struct encoding;
struct encoding *model_encode_begin(
    struct model *model, const struct batch *batch, float *emb);
void model_encode_end(struct encoding *encoding);

/* The same to nn memory, where they are not looked at: whether n values of such are finite is asked once, of many
 * batches, by model_demand_finite, which dies as model_encode does. */
void model_embed(struct model *model, const struct batch *batch, float *emb);
void model_demand_finite(const struct model *model, const float *emb, size_t n);

/*
 * What passes through the model in model_encode, layer by layer, in memory of the kernels and
 * gone when `see` returns: layer 0 is after the embeddings, layer i after block i, the last
 * after the final norm (transformers' output_hidden_states).  NULL for `see`: nobody looks,
 * and nothing is paid.
 */
struct model_seen {
	int layer;   /* 0..layers */
	size_t C, E; /* E: token experts */
	struct nn_sequences sequences;
	const float *hidden;  /* [T,C] */
	const float *logits;  /* [T,E] of the block's router; NULL: it has none */
	const float *routing; /* [T,E], softmax of the logits */
	const int32_t *skip;  /* [N] as in nn_pool, or NULL */
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

int model_parameters(const struct model *model);
const struct parameter *model_parameter(const struct model *model, int index);
float *model_values(struct model *model);    /* all parameters, one block of nn memory */
float *model_gradients(struct model *model); /* the same layout */
size_t model_size(const struct model *model);

/* Whether a backward pass has come to a parameter since model_forget_reached: to those of a task
 * expert without sequences none has, and their gradients are zero. */
bool model_reached(const struct model *model, const struct parameter *parameter);

/* Count a task expert, or none (-1), and what predicts tokens among the reached: some rank's (ranks.h) backward pass
 * comes to them. */
void model_reach(struct model *model, int expert, bool predicts);

/* The gradients of all that was reached are zero again. */
void model_forget_reached(struct model *model);

/*
 * Forward that keeps what the backward needs; embeddings stay in nn memory (borrowed until
 * the next call).  model_backward takes d loss / d embeddings (nn memory) and adds to the
 * gradients.  Strictly in pairs, on the same batch.  whole, if it is not NULL, is told of each block after whose part
 * of the pass no gradient of its parameters changes any more, from the last to the first, and then of -1: those outside.
 */
struct model_whole {
	void (*tell)(void *context, int layer);
	void *context;
};
const float *model_forward(struct model *model, const struct batch *batch);
/* The same of several batches beside each other, embeddings[count]: each has its model_backward, in any
 * order; the batches, at their addresses, stay until then. */
void model_forward_all(struct model *model, const struct batch *batches, size_t count,
    const float **embeddings);
void model_backward(struct model *model, const struct batch *batch, const float *demb,
    const struct model_whole *whole);

/* Forward passes count in this and backward passes learn from it (balance.h); NULL: none.
 * Borrowed. */
struct balance;
void model_balance(struct model *model, struct balance *balance);

/*
 * Prediction of tokens, by the masked-language-model head or by a decoder's output matrix: targets[m] from what the
 * model makes of token positions[m], m < count.  model_predict is the forward pass, which keeps what the backward needs
 * (count 0: only to count in a balance); model_predict_backward adds scale x gradient of the summed loss, and returns
 * the sum.  Strictly in pairs, on the same batch.  model_predict_loss returns the sum alone, and keeps nothing.  Logits
 * are made a few rows at a time.
 */
bool model_predicts(const struct model *model);
void model_predict(struct model *model, const struct batch *batch,
    const int32_t *positions, const int32_t *targets, int64_t count);
double model_predict_backward(
    struct model *model, const struct batch *batch, float scale, double *correct);
double model_predict_loss(struct model *model, const struct batch *batch,
    const int32_t *positions, const int32_t *targets, int64_t count);

/* Blocks of the model in a folder; opens no weights. */
int model_layers(const char *dir);

#endif
