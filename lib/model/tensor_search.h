/*
 * tensor_search - the search of a checkpoint for the tensors of a specification; for weights.c.
 *
 * A name is looked for after the family's prefixes, after a prefix that a wrapper put before them ("module." of torch's
 * DataParallel), and in older spellings (gamma for a norm's weight).
 */
#ifndef MODEL_TENSOR_SEARCH_H
#define MODEL_TENSOR_SEARCH_H

#include "model/family/family.h"
#include "model/weights.h"

enum { NAME_ROOM = 128 };

struct tensor_search {
	struct weights *weights; /* its result */
	const struct spec *spec;
	const struct safetensors *file; /* NULL: there are no weights on disk */
	const struct tensor_names *names;
	const char *prefix; /* of the checkpoint's names */
	int layer;	    /* the block whose tensors are searched; -1: none */
};

/* Sets names and prefix to those of the file, or to the family's first. */
void tensor_search_choose_names(struct tensor_search *search);

/* The name of a parameter's tensor, "MODULE.weight" or, of the parameter after it, "MODULE.bias"; NULL: the family has no
 * such tensor. */
const char *tensor_search_name(
    char room[NAME_ROOM], const char *const *modules, int which);

/* The name of a tensor in a block, without the prefix, which ends in `last`; to be freed. */
char *tensor_search_block_name(
    const struct tensor_search *search, int layer, const char *last);

/* The tensor of that name in any spelling, and its full name, to be freed; NULL: there is none. */
const struct safetensor *tensor_search_find(
    const struct tensor_search *search, const char *name, char **full);
const struct safetensor *tensor_search_held(
    const struct tensor_search *search, const char *name);
const struct safetensor *tensor_search_held_stem(
    const struct tensor_search *search, enum stem_parameter which);

/* The length of the next shorter prefix: of "0.auto_model.", "0.", then "".  length > 0. */
size_t tensor_search_outer_prefix(const char *prefix, size_t length);

/* The prefix of names in a written model: without that of a wrapper. */
const char *tensor_search_written_prefix(const struct tensor_search *search);

/* Removes a wrapper's prefix, or as much of it as the name has. */
void tensor_search_unwrap(const struct tensor_search *search, char *name);

/* Whether two tensors have the same type and values. */
bool tensor_search_equal(const struct safetensor *a, const struct safetensor *b);

/* Adds tensors that are no parameters to weights->extra; dies where embeddings may depend on one.  written: the model may
 * be written; copies of parameters are then left out.  (extra_tensors.c) */
void tensor_search_judge_extra(const struct tensor_search *search, bool written);

#endif
