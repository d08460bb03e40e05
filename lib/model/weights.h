/*
 * weights - the tensors of a checkpoint that a specification needs, and the place of each parameter in them.
 *
 * spec.h gives a parameter's shape and family.h its name; here that becomes a slice of a tensor; resolve.c points to it.
 */
#ifndef MODEL_WEIGHTS_H
#define MODEL_WEIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "folder/safetensors.h"
#include "model/spec.h"

/* torch's parametrizations write this for ".weight", before "original" or "0.lora_A". */
#define WEIGHTS_BESIDE ".parametrizations.weight."

/* A tensor that can learn. */
struct parameter {
	const char
	    *name; /* in the checkpoint; of the head's modules "2_Dense.linear.weight" */
	size_t offset, count; /* floats, into the block of all values (weights_lay_out) */
	int64_t rows, columns; /* columns 0: a vector */
	/* Number of matrices, one a token expert, each of rows / stack rows; in the file [stack, rows / stack, columns], or
	 * flat [rows, columns].  0: one matrix */
	int64_t stack;
	bool flat;
	int layer;     /* its block; -1: none */
	bool whole;    /* may be i8 in the file */
	bool floats;   /* is converted to f32, as vectors are */
	int expert;    /* task expert; -1: shared */
	bool predicts; /* of the head that predicts tokens: no embedding depends on it */
	bool decay;    /* false: biases, norms, a matrix of one row (squeezed rank < 2) */
	bool frozen;   /* does not learn (freeze.h) */
	bool
	    constant; /* never learns: a factor that is no parameter in the reference; it is frozen, too */
};

/* Sets shape[3], the shape in a checkpoint; returns its rank. */
int parameter_shape(int64_t *shape, const struct parameter *parameter);

/* "[2, 3]", to be freed. */
char *weights_shape_text(const int64_t *shape, int rank);

/* A parameter of the specification: values of a tensor from `offset` on. */
struct tensor_slice {
	int tensor; /* -1: the model has none */
	size_t offset;
};

struct weights {
	struct parameter *tensors;
	/* [count]; NULL entries without weights on disk */
	const struct safetensor **stored;
	size_t room, stored_room;
	int count, own; /* all; the transformer's, which stand before the head's */
	struct tensor_slice stem[STEM_PARAMETERS];
	struct tensor_slice (*blocks)[BLOCK_PARAMETERS]; /* [layers x max(1, experts)] */
	/* [layers x mixture.count], or NULL */
	struct tensor_slice (*mixtures)[MLP_PARAMETERS];
	/* the names of the file's tensors: a prefix of the family, and the names after it */
	const char *prefix;
	const struct tensor_names *names;
	char *
	    wrapper; /* the prefix in the file where it is not the family's ("module."); NULL: it is */
	size_t size; /* floats of all tensors, set by weights_lay_out */
	/* Tensors that no embedding depends on, but that a copy of the model keeps: a pooler, heads for other tasks. */
	struct safetensor *extra;
	int extra_count;
};

/*
 * Finds all tensors in `file` (NULL: no weights on disk), with the head that predicts tokens if `predicts`.  Dies naming a
 * tensor that is missing, has another shape or type, or is unknown: embeddings may depend on it.  Warns of blocks beyond
 * config.json's; heads of other tasks become `extra`.
 */
void weights_match(struct weights *weights, const struct spec *spec,
    const struct safetensors *file, bool predicts);

/* Adds the head that predicts tokens to weights that were matched without it; parts that the file lacks stay -1. */
void weights_match_prediction(
    struct weights *weights, const struct spec *spec, const struct safetensors *file);
void weights_free(struct weights *weights);

/* The prefix of the transformer's names in the file, a wrapper's included. */
const char *weights_prefix(const struct weights *weights);

/* The matrix of the logits of tokens: the output matrix, or the embeddings that it is tied to.  Dies if there is none. */
const struct safetensor *weights_output(
    struct weights *weights, const struct spec *spec, const struct safetensors *file);

/* The prefix of the transformer's names beside a classifier: the file's, or the family's where the file has none. */
const char *weights_classifier_prefix(const struct weights *weights);

/* Gives the transformer's tensors that prefix, and drops `extra`: the heads for other tasks. */
void weights_of_classifier(struct weights *weights);

/* Dies unless a tensor of the file has the shape of a parameter, and a floating type. */
void weights_check(
    const char *file, const struct safetensor *tensor, const struct parameter *wanted);

/* Dies, naming file and tensor, if the tensor holds NaN or infinity. */
void weights_demand_finite(
    const char *file, const struct safetensor *tensor, const char *name);

/* Whether q, k and v are one tensor. */
bool weights_fused(const struct weights *weights);

/* Adds a tensor, whose name is taken over; returns its index.  stored NULL: no weights on disk; else dies, naming `file`,
 * where its shape or type is not the wanted one.  Sets count and decay of `wanted`. */
int weights_add(struct weights *weights, const struct safetensor *stored,
    const char *file, struct parameter wanted);

/* For training: sets the offset of each tensor in a block of values, the frozen ones behind the others; returns the floats of the
 * others. */
size_t weights_lay_out(struct weights *weights);

#endif
