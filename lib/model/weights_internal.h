/*
 * weights_internal - what the files weights*.c share; nobody else includes it.
 */
#ifndef MODEL_WEIGHTS_INTERNAL_H
#define MODEL_WEIGHTS_INTERNAL_H

#include "model/family/family.h"
#include "model/weights.h"

enum { NAME_ROOM = 128 };

/* What weights_match works with. */
struct search {
	struct weights *weights;
	const struct spec *spec;
	const struct safetensors *file;
	const struct tensor_names *names;
	const char *prefix; /* of the checkpoint's names */
	int layer; /* whose tensors are looked for; -1: those outside the blocks */
};

/* Names. (weights_names.c) --------------------------------------------------------- */

/* The names and the prefix that the file uses; the first ones when it uses none. */
void search_choose_names(struct search *search);

/* What a tensor is called: "MODULE.weight"; "MODULE.bias" where the table has nothing for the
 * parameter itself, because it follows the weight of its module.  NULL: the family has none. */
const char *search_name(char room[NAME_ROOM], const char *const *modules, int which);

/* What the checkpoint calls something in a block, without the prefix; the caller frees it. */
char *search_block_name(const struct search *search, int layer, const char *last);

/* The tensor of that name after the prefix, in any spelling; *full is its whole name, to be freed. */
const struct safetensor *search_find(
    const struct search *search, const char *name, char **full);
const struct safetensor *search_held(const struct search *search, const char *name);

/* The tensor of the stem, when the file has it. */
const struct safetensor *search_held_stem(
    const struct search *search, enum stem_parameter which);

/* The next shorter prefix: of "0.auto_model.", "0.", then "".  length > 0. */
size_t search_outer_prefix(const char *prefix, size_t length);

/* What names begin with when the model is written: the prefix without what a wrapper put before it. */
const char *search_written_prefix(const struct search *search);

/* Take from a name what a wrapper put before it, or as much of that as it has. */
void search_unwrap(const struct search *search, char *name);

/* Whether two tensors hold the same. */
bool search_equal(const struct safetensor *a, const struct safetensor *b);

/* Tensors that are no parameters: noted in weights->extra.  Dies where embeddings may depend on one.  written: the
 * model may be; extra then has no copies of parameters.  (weights_extra.c) */
void search_judge_extra(const struct search *search, bool written);

#endif
