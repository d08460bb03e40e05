/*
 * model_internal - what the files model*.c share; nobody else includes it.
 */
#ifndef MODEL_INTERNAL_H
#define MODEL_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "folder/safetensors.h"
#include "model/block.h"
#include "model/model.h"
#include "model/spec.h"
#include "model/workspace.h"
#include "text/tree.h"

struct model {
	char *dir, *folder; /* as given; where config.json and the weights are */
	char fingerprint[17], *experts;
	enum model_mode mode;
	struct tree *config;
	struct spec spec;
	struct head head;
	struct safetensors *head_files[HEAD_MODULES]; /* of its Dense modules */
	struct safetensors *file;		      /* NULL without weights on disk */
	struct weights weights;
	struct part dense[HEAD_MODULES][2]; /* weight and bias of the head's modules */
	/* encode: per tensor; train: all in one block */
	struct nn_matrix *data;
	bool *copied;
	const struct lora *lora; /* in use, or NULL */
	struct lora *learning;	 /* of LoRA training, or NULL */
	float *values, *gradients;
	/* the bindings as pointers */
	struct nn_matrix stem[STEM_PARAMETERS]; /* norms and biases are f32 */
	float *dstem[STEM_PARAMETERS];
	struct block_weights *blocks;	 /* [layers x max(1, experts)] */
	struct block_gradients *dblocks; /* the same */
	struct nn_matrix (*experts_of)[MIXTURE_PARAMETERS]; /* [layers x mixture.count] */
	float *(*dexperts)[MIXTURE_PARAMETERS];
	float *inverse[SPEC_ROTARIES]; /* rotary frequencies [D/2] */
	struct workspace workspace;
	void (*see)(void *context, const struct model_sight *sight);
	void *see_context;
	struct training *training;
};

/* Set the pointers to weights and gradients. */
void model_resolve(struct model *model);

/* A tensor as the LoRA in use has it. */
struct nn_matrix lora_matrix(const struct model *model, int tensor);

/* Of the LoRA that learns: the place for the gradient of a tensor with a pair (NULL: it has none),
 * and the parameters of all pairs. */
float *lora_gradient(const struct model *model, int tensor);
const struct parameter *lora_parameters(
    const struct model *model, int *count, size_t *size);

/* From the gradients of the tensors to those of the pairs; after a backward pass. */
void lora_gather(struct model *model);
void lora_save(const struct model *model, const char *dir, enum dtype dtype);

/* A parameter's values in a new array of `dtype`. */
struct safetensor model_tensor(
    const struct model *model, const struct parameter *p, enum dtype dtype);

/* Where a parameter's values and gradients are; NULL: there are none. */
struct nn_matrix model_matrix(const struct model *model, const struct part *part);
float *model_gradient_pointer(const struct model *model, const struct part *part);

/* The Dense modules of the head: their tensors are the last; their pointers are
 * set when the values are there. */
void model_head_open(struct model *model);
void model_head_resolve(struct model *model);

/* What the head says and the weights of its Dense modules into a folder; tensors: all of the model's,
 * with their data. */
void model_head_write(
    const struct model *model, const char *folder, const struct safetensor *tensors);
void model_head_close(struct model *model);

/* Index of a block's weights for an expert (-1: the dense ones). */
size_t model_block_index(const struct model *model, int layer, int expert);

/* config.json and family of a folder; fills model->dir .. spec, head. */
void model_configure(struct model *model, const char *dir);
void model_unconfigure(struct model *model);

/* Open its file of weights and find all tensors in it. */
void model_match(struct model *model);

/* Die when the batch cannot be taken. */
void model_demand(const struct model *model, const struct batch *batch);

/* Rotary frequencies: the tables of the model, and [N, D/2] of a batch with a sequence that is
 * longer than the model was trained on (NULL in all others, and without dynamic NTK). */
void model_rotary_open(struct model *model);
void model_rotary_close(struct model *model);
float *model_rotary_layout(struct model *model, int which, const struct batch *batch);
void model_rotary_upload(
    const struct model *model, int which, float *own, const struct batch *batch);

/* What a batch is where the kernels can read it. */
struct device_batch {
	int32_t *ids, *starts, *skip; /* skip NULL: none */
	float *rotary[SPEC_ROTARIES]; /* NULL: the model's */
};
void device_batch_layout(
    struct device_batch *on, struct model *model, const struct batch *batch);
void device_batch_upload(
    const struct device_batch *on, const struct model *model, const struct batch *batch);
struct block_batch model_block_batch(
    const struct model *model, const struct batch *batch, const struct device_batch *on);

void training_free(struct model *model);

/* The files that make a folder complete, but config.json and the weights. */
void model_copy_files(const char *from, const char *to);

#endif
