/*
 * experts - task experts (MoTE, Romero et al. 2025, section 3.1): the blocks that have them, their names, and their tensors in a
 * checkpoint.
 *
 * config.json of a model with experts has
 *	"task_experts": { "names": ["classification", ...], "norms": true, "layers": [0, 1, ...],
 *			  "tasks": { "STS": "classification", ... } }
 * In the blocks `layers` (0-based) the MLP, and with "norms" the norms around it, exist once per expert: with norms after the
 * sums both norms of the block; with norms before the branches the one before the MLP, and the one of its output.  A block with
 * token experts cannot have task experts.  The tensor NAME of such a parameter is stored once per expert, with
 * "experts.EXPERT." before its last component:
 *	encoder.layers.3.mlp.fc2.weight -> encoder.layers.3.mlp.fc2.experts.clustering.weight
 *
 * Programs name a task.  Its row in "tasks" names the expert that serves it; several tasks may share one.  A task without a row is
 * served by the expert of its name.  "tasks" may be missing.
 *
 * The LoRAs that a checkpoint has for some tasks (spec.loras) are asked for by the same names.
 *
 * In place of an expert's name "*" chooses an expert by the text,
 *	h(the text's ids) mod the number of experts,	h: rng_hash from 0, over the ids with prompt and special tokens
 * which gives as much capacity without routing by task.
 */
#ifndef MODEL_EXPERTS_H
#define MODEL_EXPERTS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/spec.h"

#define EXPERTS_ANY "*"
enum { EXPERT_BY_TEXT = SPEC_EXPERTS }; /* EXPERTS_ANY, until the text is known */

/* Sets the expert part of the spec from config.json; dies naming the key. */
void experts_configure(struct spec *spec, const struct tree *config);

/* The member "task_experts" of a spec, a new tree. */
struct tree *experts_tree(const struct spec *spec);

/* The expert that serves a task, or EXPERT_BY_TEXT; -1: none. */
int experts_find(const struct spec *spec, const char *task);

/* The expert of one text: EXPERT_BY_TEXT becomes an expert. */
int experts_choose(
    const struct spec *spec, int expert, const int32_t *ids, int64_t length);

/* "a, b, c, and the tasks d, e", for messages; to be freed. */
char *experts_list(const struct spec *spec);

/* spec->tasks with other rows, task -> expert or "*", an empty string removes the row; a new tree, which the caller frees.  Dies,
 * naming `dir`, on an unknown expert, and on a row to remove that is not there. */
struct tree *experts_assign(
    const struct spec *spec, const struct tree *rows, const char *dir);

/* Whether this parameter of that block exists once per expert. */
bool experts_own(const struct spec *spec, int layer, enum block_parameter which);

/* The tensor of expert `name`; the caller frees it. */
char *experts_tensor(const char *tensor, const char *name);

/* 1 to 63 letters, digits, '_' and '-'; a task's name also '.'. */
bool experts_name_valid(const char *name);
bool experts_task_valid(const char *task);

#endif
