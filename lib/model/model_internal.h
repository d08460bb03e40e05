/*
 * model_internal - what the files model*.c share; nobody else includes it.
 */
#ifndef MODEL_MODEL_INTERNAL_H
#define MODEL_MODEL_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strings.h"
#include "folder/safetensors.h"
#include "model/block.h"
#include "model/distance.h"
#include "model/model.h"
#include "model/spec.h"
#include "model/table_rows.h"
#include "model/workspace.h"
#include "text/tree.h"

/* Tokens of one batch that are predicted; M of them. */
struct prediction {
	size_t M, rows; /* rows of logits at a time */
	int32_t *positions, *targets;
	float *hidden, *dense, *act, *norm, *stats; /* [M,C]; stats [M,2]; norm is
						     * hidden without a dense layer */
	float *logits;				    /* [rows,V] */
	struct nn_loss *sum;
	float *d; /* [M,C] */
};

/* What a batch is in memory of the kernels, and what the forward makes of it. */
struct pass {
	struct workspace workspace;   /* what all of it is in */
	bool keep;		      /* for a backward */
	int32_t *ids, *starts, *skip; /* skip NULL: none */
	int32_t *places;	      /* [T]; NULL: positions count from 0 */
	int32_t *sides;		      /* [T]; NULL: nothing is balanced */
	float *counts;		      /* [T], what each row counts; NULL: all the same */
	float *rotary[SPEC_ROTARIES]; /* of this batch's own; NULL: the model's */
	struct distance distance;
	struct linear_batch gates;
	struct linear_stretch *stretches; /* [N], host memory */
	size_t stretches_room;
	struct block_batch block;
	float *sum0, *stats0; /* [T,E], E of spec_embedding_width; [T,2] */
	float *embedded, *x0; /* [T,E], the sum normed; [T,C], what the blocks read */
	float *dembedded;     /* [T,E] */
	struct block_state *states; /* [layers] */
	float *last, *stats_last;   /* [T,C], the last hidden states; [T,2] */
	struct block_scratch scratch;
	struct head_state head;
	struct prediction prediction;
	float *d;		   /* [T,C] */
	const struct batch *batch; /* that is kept for its backward; NULL: none */
};

struct model {
	char *dir, *folder; /* as given; where config.json and the weights are */
	/* of the folder, as adapters note it; of what it encodes with */
	char folder_fingerprint[17], fingerprint[17], *expert_names;
	enum model_mode mode;
	struct tree *config;
	struct spec spec;
	struct head head;
	struct safetensors *head_files[HEAD_MODULES]; /* of its Dense modules */
	struct safetensors *file;		      /* NULL without weights on disk */
	struct weights weights;
	struct table_rows table_rows;
	struct part dense[HEAD_MODULES][2]; /* weight and bias of the head's modules */
	/* encode: per tensor; train: all in one block */
	struct nn_matrix *data;
	bool *copied;
	bool expert_there[SPEC_EXPERTS];
	struct quantized *quantized; /* NULL: none has eight bits */
	struct packed *packed;	     /* NULL: products are those of floats */
	bool rounded;		     /* or of floats that are rounded as they are read */
	const struct linear_watch *linear_watch;
	struct gates *gates;	   /* NULL: none */
	struct learning *learning; /* the only one of them; NULL: none learns */
	float *values, *gradients;
	bool reached[SPEC_EXPERTS], predicts_reached; /* as model_reached says */
	/* the parts of weights as pointers */
	struct nn_matrix stem[STEM_PARAMETERS]; /* norms and biases are f32 */
	float *dstem[STEM_PARAMETERS];
	struct block_weights *blocks;		      /* [layers x max(1, experts)] */
	struct block_gradients *dblocks;	      /* the same */
	struct nn_matrix (*mixtures)[MLP_PARAMETERS]; /* [layers x mixture.count] */
	float *(*dmixtures)[MLP_PARAMETERS];
	struct linear_gates (*mixture_gates)[MLP_PARAMETERS]; /* the same */
	float *inverse[SPEC_ROTARIES]; /* rotary frequencies [D/2] */
	void (*see)(void *context, const struct model_seen *seen);
	void *see_context;
	void (*choose)(void *context, const struct model_seen *seen, int32_t *gates);
	void *choose_context;
	int choose_layer;
	struct balance *balance;
	struct pass *passes, *pass; /* those beside each other; the one at work */
	size_t passes_room;
};

/* Set the pointers to weights and gradients. */
void model_resolve(struct model *model);

/* LoRA adapters beside the weights.  (model_gates.c) */
struct gates {
	int count;
	struct strings *names;
	struct adapter *
	    *adapters; /* whose A and B are mapped; NULL: that of the gate that learns */
	struct linear_pair *
	    *pairs;	    /* [weights.count] of [count]; NULL: no gate has one there */
	size_t rank, width; /* the greatest; of what goes into a layer with a pair */
	double dropout;	    /* in training */
	char *list, *marks;
	struct gates_copy {
		void *at;
		size_t bytes;
	} * copies; /* of matrices that the kernels cannot use where they lie */
	size_t copied, copies_room;
	struct lora_embedding *embeddings; /* [count]; NULL: they stay as they are */
};
struct gates *gates_new(const struct model *model, int count);
void gates_free(const struct model *model, struct gates *gates);

/* Open an adapter, which must be of this model as far as it says whose it is. */
struct adapter *gates_adapter(const struct model *model, const char *dir);

/*
 * Where an adapter's pairs stand: `rows` rows of B, from `from` on, beside those of a tensor from `to` on.  By tensor and
 * rows.  A module may be several tensors, or part of one: the layers of a family have several names, and one of these may
 * be of queries, keys and values together.  A pair of a layer that no embedding depends on, as a pooler's, is `beside`.
 * Dies naming what does not fit.  (model_places.c)
 */
struct gate_places {
	struct gate_place {
		const struct adapter_pair *pair;
		int tensor;
		int64_t to, from, rows;
	} * at;
	size_t count, room;
	struct gate_beside {
		const struct adapter_pair *pair;
		int extra; /* of weights.extra; -1: the model has none such */
	} * beside;
	size_t beside_count, beside_room;
};
struct gate_places gates_places(const struct model *model, const struct adapter *adapter);
void gates_places_free(struct gate_places *places);
/* How many there are, from the first on, in its tensor. */
size_t gates_together(const struct gate_places *places, size_t first);
/* What these, all of one tensor, are beside it. */
struct linear_pair gates_pair(struct gates *gates, const struct gate_place *places,
    size_t count, const struct parameter *parameter);
/* n floats in memory of the kernels, that live as long as the gates. */
float *gates_copy(struct gates *gates, const float *values, size_t n);

/* A matrix where it lies in the file, or a copy that lives as long as the gates. */
struct nn_matrix gates_mapped(struct gates *gates, const struct safetensor *tensor);

/* Put a pair beside a tensor. */
void gates_add(const struct model *model, struct gates *gates, int gate, int tensor,
    struct linear_pair pair);

/* What each tensor is, to be freed; GATES_USUAL: where nothing else is asked for it has pairs, as in PEFT: queries
 * and values. */
enum { GATES_LINEAR = 1, GATES_USUAL = 2 };
unsigned char *gates_layers(const struct model *model);

/* Dies naming a gate that changes a block before `layer`. */
void gates_demand_from(const struct model *model, int layer);

/* Dies naming a pair with values that are not finite, if there is one. */
void gates_demand_finite(const struct model *model);

/* LoRAs of the checkpoint's own tasks, spec.loras, as gates.  (model_loras.c) */
void loras_load(struct model *model); /* of a model to encode with, if it has such */
void loras_demand_finite(const struct model *model);
void loras_free(const struct model *model, struct lora_embedding *embeddings);

/* pass->sum0 of the pass's batch: what nn_embed makes of it, and of each gate its own. */
void loras_embed(const struct model *model, const struct pass *pass);

/* The gate that learns.  (model_adapt.c) */
const struct parameter *learning_parameters(
    const struct model *model, int *count, size_t *size);
void learning_save(const struct model *model, const char *dir, enum dtype dtype);
void learning_free(struct learning *learning);

/*
 * A file beside the weights that keeps what opening the folder made of them; `of` says of which weights, a word, and how:
 * one that says otherwise is warned of, and then as if there were none.  (model_kept.c)
 */
struct kept;
struct kept *kept_open(
    const struct model *model, const char *name, const char *of, bool renew);
const char *kept_file(
    const struct kept *kept); /* its path; NULL: there is none to be used */
/* A tensor's data in it; dies where it is not of that dtype and shape. */
const void *kept_find(const struct kept *kept, const struct safetensor *wanted);
/* Write it, whole or not at all: safetensors_put between these; then it is there. */
struct safetensors_writer *kept_begin(
    const struct kept *kept, const struct safetensor *tensors, int count);
void kept_finish(struct kept *kept, struct safetensors_writer *writer);
void kept_inform(const struct model *model, const struct kept *kept, size_t bytes);
void kept_close(struct kept *kept);

/* Matrices in eight bits.  (model_quantized.c) */
void quantized_load(struct model *model, bool keep); /* sets their model->data */
const char *quantized_file(
    const struct quantized *quantized); /* they are mapped from; NULL: none */
void quantized_free(struct quantized *quantized);

/* Products of i8 or bf16.  (model_packed.c) */
struct packed *packed_new(enum dtype kind);
enum dtype packed_kind(const struct packed *packed);
/* Of a model that is complete; keep: of i8, kept beside the weights. */
void packed_load(struct model *model, bool keep);
const char *packed_file(const struct packed *packed); /* as quantized_file */
/* Of a model that many products are made with: the f32 matrices of the blocks of an expert (-1: the dense ones) put in order for
 * them, once.  Not of one that learns: backward passes read them as they are stored. */
void packed_floats(struct model *model, int expert);
void packed_resolve(
    const struct model *model); /* those matrices in the place of the stored */
void packed_free(struct packed *packed);

/* A parameter's values in a new array of `dtype`. */
struct safetensor model_tensor(
    const struct model *model, const struct parameter *p, enum dtype dtype);

/* Give up the copy that the kernels have of a tensor, if there is one. */
void model_drop_copy(struct model *model, int tensor);

/* Where a parameter's values and gradients are; NULL: there are none. */
struct nn_matrix model_matrix(const struct model *model, const struct part *part);
float *model_gradient_pointer(const struct model *model, const struct part *part);

/* Index of a block's weights for an expert (-1: the dense ones). */
size_t model_block_index(const struct model *model, int layer, int expert);

/* config.json and family of a folder; fills model->dir .. spec, head. */
void model_configure(struct model *model, const char *dir);
void model_unconfigure(struct model *model);

/* Open its file of weights and find all tensors in it. */
void model_match(struct model *model);

/* The same of a table of static embeddings: what its tokens have there. */
void model_match_table(struct model *model);

/* The hash of all files that decide an embedding; of a model without weights, the seed. */
void model_note_fingerprint(struct model *model, uint64_t seed);

/* Rotary frequencies of the model. */
void rotary_open(struct model *model);
void rotary_close(struct model *model);

/* nn_worker_tokens of the model's products. */
size_t pass_worker_tokens(const struct model *model);

/* The weights of a task expert (-1: none), and so many passes beside each other, model->passes; those that are there stay. */
void pass_need(struct model *model, int expert, size_t count);

/* The weights of a task expert where the kernels reach them; those that are there stay. */
void model_need_expert(struct model *model, int expert);

/* A pass of the batch, laid out in its workspace; dies where the model does not take it.  predicted: of so many tokens the
 * head that predicts is to follow; 0: the folder's head. */
void pass_prepare(struct pass *pass, const struct model *model, const struct batch *batch,
    size_t predicted);

/* What a batch takes in the workspace of its pass; and there it is brought.  (model_batch.c) */
void pass_layout_batch(
    struct pass *pass, const struct model *model, const struct batch *batch);
void pass_upload_batch(
    struct pass *pass, const struct model *model, const struct batch *batch);

/* The stretches of tokens that go through one gate each: that of their sequence. */
void pass_find_stretches(
    struct pass *pass, const struct batch *batch, const int32_t *gates);

/* Embeddings of a pass that is prepared, in nn memory, its own. */
float *pass_embed(
    const struct model *model, struct pass *pass, const struct batch *batch);

/*
 * From ids to the last hidden states [T,C], in model->pass.  keep: for pass_backward; it takes the
 * gradient of the last hidden states from pass->d to every parameter.
 */
const float *pass_forward(
    struct model *model, const struct batch *batch, bool keep, size_t predicted);
void pass_backward(
    struct model *model, const struct batch *batch, const struct model_whole *whole);
void pass_free(struct model *model);

void prediction_layout(struct pass *pass, const struct model *model, size_t M);

/* Dies, naming the key or the file, where two models differ in what they make of a text, their weights apart: so that
 * these can be put together.  And where the head that a folder says is not the model's.  (model_alike.c) */
void model_demand_alike(const struct model *a, const struct model *b);
void model_demand_head(
    const struct model *model, const char *dir, const struct head *head);
/* The same of a folder that may have none. */
void model_demand_listed_head(const struct model *model, const char *dir);

/* A folder opened for its stored tensors only. */
void model_open_stored(struct model *model, const char *dir);
void model_close_stored(struct model *model);

/* Begin a folder that will be `dir`, with everything but the weights and prompts (the caller commits
 * and frees it); and write its weights. */
char *model_begin_folder(const struct model *model, const char *dir);
void model_write_weights(const struct model *model, const char *folder,
    const struct safetensor *tensors, int count);

/* The same where the data are put one after another (safetensors.h), by the caller; what follows them
 * are the tensors of weights.extra, those of floats in the type *floats; NULL: all as they are stored. */
struct safetensors_writer *model_create_weights(const struct model *model,
    const char *folder, const struct safetensor *tensors, int count,
    const enum dtype *floats);
void model_finish_weights(const struct model *model, struct safetensors_writer *writer,
    const enum dtype *floats);

/* The files that make a folder complete, but config.json and the weights. */
void model_copy_files(const char *from, const char *to);

#endif
