/*
 * model_struct - the fields of struct model, and where its parameters are in memory.  For lib/model and lib/edit; programs
 * include model.h.
 *
 * Floats are in memory of the kernels (nn_alloc), weights of MODEL_ENCODE in the mapped file where the kernels can read them
 * there.
 */
#ifndef MODEL_MODEL_STRUCT_H
#define MODEL_MODEL_STRUCT_H

#include "folder/safetensors.h"
#include "model/answers.h"
#include "model/block.h"
#include "model/head.h"
#include "model/model.h"
#include "model/spec.h"
#include "model/table_rows.h"
#include "model/weights.h"

struct model {
	char *dir, *folder; /* as given; of config.json and the weights */
	/* hash of the files that decide an embedding; the same with the precision of the weights */
	char folder_fingerprint[17], fingerprint[17], *expert_names;
	enum model_mode mode;
	bool classifies; /* the head is a classifier's (classifier.h) */
	bool
	    projected; /* the head's last module is drawn, and not written: model_training.project */
	bool fresh;		/* the classifier is new: the folder has none */
	struct answers answers; /* of a language model that scores pairs */
	const char *template;	/* of pairs (token/pair_template.h), while it opens */
	struct tree *config;	/* config.json */
	struct spec spec;
	struct head head;
	struct safetensors *file; /* NULL without weights on disk */
	struct safetensors
	    *head_files[HEAD_MODULES]; /* of its Dense and LayerNorm modules */
	struct weights weights;
	struct table_rows table_rows;
	struct tensor_slice
	    dense[HEAD_MODULES]
		 [3]; /* weight, bias, residual weight of the head's modules */
	/* MODEL_ENCODE: each tensor [weights.count], and whether it is a copy that the model owns */
	struct nn_matrix *data;
	bool *copied;
	bool expert_there[SPEC_EXPERTS]; /* task experts whose tensors are in `data` */
	struct quantized_weights *quantized; /* NULL: no tensor is int8 */
	struct packed_weights
	    *packed;  /* NULL: linear layers read the tensors as they are stored */
	bool rounded; /* train: the products of linear layers are of bf16 */
	const struct linear_watch *linear_watch;
	struct adapters *adapters;	   /* NULL: no adapters */
	struct adapter_training *training; /* the adapter that learns; NULL: none */
	/* MODEL_TRAIN: weights.size floats, and gradients of learning_size; an adapter that learns: its pairs */
	float *values, *gradients;
	const struct parameter **learning; /* [learning_count], ascending */
	int learning_count;
	size_t learning_size; /* floats of these, with which `values` begin */
	int first_learning; /* the first block with a trained weight; -1: weights before the blocks are trained, too */
	bool reached[SPEC_EXPERTS], predicts_reached; /* model_reached */
	/* Each parameter as a matrix in `data` or `values`, and its gradient (NULL: not wanted) */
	struct nn_matrix stem[STEM_PARAMETERS]; /* norms and biases are f32 */
	float *dstem[STEM_PARAMETERS];
	struct block_weights *blocks;		      /* [layers x max(1, experts)] */
	struct block_gradients *dblocks;	      /* the same */
	struct nn_matrix (*mixtures)[MLP_PARAMETERS]; /* [layers x mixture.count] */
	float *(*dmixtures)[MLP_PARAMETERS];
	struct linear_pairs (*mixture_pairs)[MLP_PARAMETERS]; /* the same */
	float *
	    relative; /* [layers, 2, relative.rows, C]: q' and k' of each block; NULL: none */
	float *
	    latents; /* keys, then values, [2, latents.count x heads x head_size]; NULL: none */
	float *inverse[SPEC_ROTARIES]; /* rotary frequencies [D/2] */
	void (*see)(void *context, const struct model_seen *seen); /* model_watch */
	void *see_context;
	void (*choose)(void *context, const struct model_seen *seen, int32_t *adapters);
	void *choose_context;
	int choose_layer; /* model_choose */
	struct balance *balance;
	uint64_t dropout_seed;	    /* dropout_begin */
	struct pass *passes, *pass; /* [passes_room]; the one at work */
	size_t passes_room;
};

/* Sets both fingerprints; of a model without weights on disk `seed` stands for their hash. */
void model_note_fingerprint(struct model *model, uint64_t seed);

/* Opens a folder for its stored tensors alone, without kernels' memory. */
void model_open_stored(struct model *model, const char *dir);
void model_close_stored(struct model *model);

/* Sets stem, blocks, mixtures, the head's modules and their gradients from `data` or `values`. */
void model_resolve(struct model *model);

/* The index in `blocks` of a block of a task expert (-1: the dense ones). */
size_t model_block_index(const struct model *model, int layer, int expert);

/* Brings the weights of a task expert (-1: none) to the kernels, unless they are there. */
void model_need_expert(struct model *model, int expert);

/* Frees the model's copy of a tensor, if there is one. */
void model_drop_copy(struct model *model, int tensor);

#endif
