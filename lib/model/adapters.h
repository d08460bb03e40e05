/*
 * adapters - LoRA adapters beside a model's tensors: of folders, of the checkpoint's own tasks, or one that learns.
 *
 * Weights stay as they are; a batch's sequences each go through one adapter (batch.h), or through none (linear.h).
 */
#ifndef MODEL_ADAPTERS_H
#define MODEL_ADAPTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strings.h"
#include "folder/safetensors.h"
#include "model/adapter.h"
#include "model/linear.h"
#include "model/model.h"

struct adapters {
	int count;
	struct strings *names;
	struct adapter *
	    *opened; /* [count], A and B mapped; NULL: the adapter that learns */
	struct linear_pair *
	    *pairs;  /* [tensors] of [count]; NULL: no adapter changes the tensor */
	int tensors; /* weights.count without a head that is opened later */
	size_t rank,
	    width;	/* the greatest rank; the most columns of a tensor with a pair */
	double dropout; /* in training */
	char *list;	/* "fiqa, quora" */
	char *marks;	/* "fiqa FINGERPRINT, ..."; NULL: none */
	struct adapters_copy {
		void *at;
		size_t bytes;
	} * copies; /* of matrices that the kernels cannot use where they lie; owned */
	size_t copied, copies_room;
	struct task_lora
	    *embeddings; /* [count] (task_loras.h); NULL: embeddings stay as they are */
};

/* Dies where the model has adapters already or was not opened to encode. */
struct adapters *adapters_new(const struct model *model, int count);
void adapters_free(struct adapters *adapters);

/* Opens an adapter folder; dies where it names another model than this. */
struct adapter *adapters_read(const struct model *model, const char *dir);

/* A matrix of the file where it lies, or a copy that lives as long as the adapters. */
struct nn_matrix adapters_mapped(
    struct adapters *adapters, const struct safetensor *tensor);
/* n floats copied to memory of the kernels, which live as long as the adapters. */
float *adapters_copy(struct adapters *adapters, const float *values, size_t n);

/* Adds the pair of adapter `index` to a tensor; dies where it has one. */
void adapters_add(const struct model *model, struct adapters *adapters, int index,
    int tensor, struct linear_pair pair);

/* Marks each tensor [weights.count], to be freed: ADAPTERS_LINEAR, a linear layer of a block; ADAPTERS_USUAL, queries and
 * values, which have pairs where no targets are given, as in PEFT. */
enum { ADAPTERS_LINEAR = 1, ADAPTERS_USUAL = 2 };
unsigned char *adapters_layers(const struct model *model);

/* Dies naming an adapter that changes a block before `layer`. */
void adapters_demand_from(const struct model *model, int layer);

/* Dies naming a tensor of an adapter with NaN or infinity. */
void adapters_demand_finite(const struct model *model);

/* Dies where an adapter changes one of the tensors from `first` on: of a head that is opened after the adapters. */
void adapters_demand_without(const struct model *model, int first);

#endif
