/*
 * adapters - what model_gates.c, model_places.c, model_loras.c and model_adapt.c give the other files of lib/model and lib/edit:
 * LoRA pairs beside the model's tensors.
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

struct learning;
struct pass;

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

#endif
