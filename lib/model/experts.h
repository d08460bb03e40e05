/*
 * experts - task experts (MoTE, Romero et al. 2025, section 3.1): which blocks have them,
 * what they are called, and where they lie in a checkpoint.
 *
 * config.json of a model with experts has
 *	"task_experts": { "names": ["classification", ...], "norms": true, "layers": [0, 1, ...],
 *			  "tasks": { "STS": "classification", ... } }
 * In the blocks `layers` (0-based) the MLP, and with "norms" the norms around it, exist once per
 * expert: both norms of a block that has them after its sums, the one before the MLP where norms
 * stand before the branches, and the one of what the MLP gives.  A block with token experts cannot have task experts.  The tensor
 * NAME of such a parameter is stored once per expert, with "experts.EXPERT." before its last
 * component:
 *	encoder.layers.3.mlp.fc2.weight -> encoder.layers.3.mlp.fc2.experts.clustering.weight
 *
 * Whoever asks for an expert names a task.  Its row in "tasks" says which expert serves it, several may
 * share one; a task without a row is served by the expert of its name.  "tasks" may be missing.
 *
 * A model with a LoRA for each of some tasks in its checkpoint (spec.loras) is asked for them by the same names.
 *
 * In the place of an expert's name "*" is whichever a text falls on,
 *	h(the text's ids) mod the number of experts,  h: rng_hash from 0, over the ids as they are stored
 * with prompt and special tokens: as much capacity, and no routing by task.
 */
#ifndef MODEL_EXPERTS_H
#define MODEL_EXPERTS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/spec.h"

#define EXPERTS_ANY "*"
enum { EXPERT_BY_TEXT = SPEC_EXPERTS }; /* what EXPERTS_ANY is until the text is known */

/* Fill in the expert part of the spec from config.json; die naming the key. */
void experts_configure(struct spec *spec, const struct tree *config);

/* The member "task_experts" that says the same; to be added to a config. */
struct tree *experts_tree(const struct spec *spec);

/* The expert that serves a task, or EXPERT_BY_TEXT; -1: none does. */
int experts_find(const struct spec *spec, const char *task);

/* The same of one text: EXPERT_BY_TEXT becomes an expert. */
int experts_choose(
    const struct spec *spec, int expert, const int32_t *ids, int64_t length);

/* "a, b, c, and the tasks d, e", for messages; to be freed. */
char *experts_list(const struct spec *spec);

/* Set rows of spec->tasks, a new tree, which the caller frees: task -> expert or "*"; an empty string
 * takes the row out.  Dies, naming `dir`, on an expert that is not there and on a row that is to go and is not
 * there. */
struct tree *experts_assign(
    const struct spec *spec, const struct tree *rows, const char *dir);

/* Whether this parameter of that block exists once per expert. */
bool experts_own(const struct spec *spec, int layer, enum block_parameter which);

/* The tensor of expert `name`; the caller frees it. */
char *experts_tensor(const char *tensor, const char *name);

/* Letters, digits, '_' and '-', 1 to 63 of them; of a task '.', too. */
bool experts_name_valid(const char *name);
bool experts_task_valid(const char *task);

#endif
