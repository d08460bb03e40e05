/*
 * weights - the tensors of a checkpoint that a specification asks for, each once, and where in
 * them its parameters are.
 *
 * Three steps lead from a name to numbers: the specification says a parameter's shape and what
 * its family calls it (spec.h); here that becomes a part of a tensor; model.c points to it.
 */
#ifndef MODEL_WEIGHTS_H
#define MODEL_WEIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "folder/safetensors.h"
#include "model/spec.h"

/* In the place of ".weight", before what torch's parametrizations keep of one: "original", "0.lora_A". */
#define WEIGHTS_BESIDE ".parametrizations.weight."

/* A tensor that can learn. */
struct parameter {
	const char *name; /* as in the checkpoint; of the head: "2_Dense.linear.weight" */
	size_t offset, count;  /* into one block of all values */
	int64_t rows, columns; /* columns 0: a vector */
	/* So many matrices of rows / stack, of token experts, each of which learns by itself; in the
	 * file [stack, rows / stack, columns], or flat as one of [rows, columns].  0: one */
	int64_t stack;
	bool flat;
	int layer;     /* of its block; -1: of none */
	bool whole;    /* may be whole numbers in the file, i8 */
	bool floats;   /* is read as floats, as vectors are */
	int expert;    /* -1: shared by all */
	bool predicts; /* of the head that predicts tokens: no embedding depends on it */
	bool decay;    /* false: biases, norms, a matrix of one row (squeezed rank < 2) */
};

/* The shape as a checkpoint has it, shape[3]; returns its rank. */
int parameter_shape(int64_t *shape, const struct parameter *parameter);

/* "[2, 3]", to be freed. */
char *weights_shape_text(const int64_t *shape, int rank);

/* Where a parameter of the specification is: `offset` floats into a tensor. */
struct part {
	int tensor; /* -1: the model has none */
	size_t offset;
};

struct weights {
	struct parameter *tensors;
	/* NULL entries when there are no weights on disk */
	const struct safetensor **stored;
	size_t room, stored_room;
	int count, own; /* of all; of the transformer, before those of the head */
	size_t size;	/* floats of all tensors, each aligned to 64 bytes */
	struct part stem[STEM_PARAMETERS];
	struct part (*blocks)[BLOCK_PARAMETERS]; /* [layers x max(1, experts)] */
	/* [layers x mixture.count], or NULL */
	struct part (*mixtures)[MLP_PARAMETERS];
	/* what the file's names begin with, and what follows */
	const char *prefix;
	const struct tensor_names *names;
	char
	    *wrapper; /* the prefix of the file, where it is none of the family's; NULL */
	/* Tensors of the file that no embedding depends on and that stay with the model when it is
	 * written: a pooler, heads for other tasks. */
	struct safetensor *extra;
	int extra_count;
};

/*
 * Find all of them in `file` (NULL: no weights on disk), with the head that predicts tokens when
 * `predicts`.  Dies naming the tensor that is missing or has another shape or type, or that nothing
 * here knows: it may be what embeddings depend on.  Blocks beyond those of config.json are
 * warned of; heads of other tasks become `extra`.
 */
void weights_match(struct weights *weights, const struct spec *spec,
    const struct safetensors *file, bool predicts);
void weights_free(struct weights *weights);

/* Dies unless a tensor of the file has the shape of a parameter, and a floating type. */
void weights_check(
    const char *file, const struct safetensor *tensor, const struct parameter *wanted);

/* Whether q, k and v are one tensor. */
bool weights_fused(const struct weights *weights);

/* Add a tensor, whose name is taken over; its index.  stored NULL: no weights on disk; else its
 * shape and type are held to what is asked for, naming `file`.  wanted: all but offset, count and
 * decay, which are filled in. */
int weights_add(struct weights *weights, const struct safetensor *stored,
    const char *file, struct parameter wanted);

#endif
