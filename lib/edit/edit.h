/*
 * edit - new model folders made of others (upcycle(1)).  Stored numbers are copied as they are unless said.  A folder is written
 * beside `dir`, then renamed into place; dies naming file and tensor.
 */
#ifndef EDIT_EDIT_H
#define EDIT_EDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "text/tree.h"

/*
 * Upcycle (Komatsuzaki et al. 2022; MoTE section 3.1.1): give the blocks `layers` (a bool per
 * layer) `count` task experts, each a copy of the dense MLP (and norms), and save to `dir`.
 * The stored numbers are copied as they are, so every expert equals the dense model.  An expert
 * "NAME" that has no prompt, here or in the folder, gets "NAME: ".
 */
struct upcycle {
	const char *const *names;
	int count;
	const bool *layers; /* [SPEC_LAYERS]; beyond the model's own: ignored */
	bool norms;
	const struct tree *tasks;   /* rows as experts_assign takes them; NULL: none */
	const struct tree *prompts; /* by the name of an expert or task; NULL: none */
};
void model_upcycle(const char *from, const char *dir, const struct upcycle *how);

/* A copy of a folder with other tasks and prompts, nothing else of `how` is read.  The files of weights
 * are hard links where the file system can, none is opened. */
void model_assign(const char *from, const char *dir, const struct upcycle *how);

/*
 * The same with `count` token experts (token_experts.h), of which each token takes `top`: copies of
 * the dense MLP, which a router drawn from `seed` chooses among.  With renormalize the copies
 * give what the dense model gives but for rounding, with one of them to the bit.
 */
struct upcycle_tokens {
	int count, top;
	bool renormalize;
	const bool *layers; /* as above */
	uint64_t seed;
};
void model_upcycle_tokens(
    const char *from, const char *dir, const struct upcycle_tokens *how);

/* Expert averaging (MoTE, appendix on EA): a dense model whose MLPs and norms are the means
 * of the experts'.  Each task keeps the prompt that it had. */
void model_average(const char *from, const char *dir);

/* The folder from[0] with the means of the weights of all `count` of them, in its stored types: of models of one shape and one
 * tokenizer, trained from one start (Wortsman et al. 2022, "Model soups"). */
void model_mean(const char *const *from, int count, const char *dir);

/* A copy with the LoRA adapter of the folder `lora` in its weights, in the stored types. */
void model_merge(const char *from, const char *dir, const char *lora);

#endif
