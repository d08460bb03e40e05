/*
 * experts - task experts (MoTE, Romero et al. 2025, section 3.1): which blocks have them,
 * what they are called, and where they lie in a checkpoint.
 *
 * config.json of a model with experts has
 *	"task_experts": { "names": ["classification", ...], "norms": true, "layers": [0, 1, ...] }
 * In the blocks `layers` (0-based) the MLP, and with "norms" the norms around it, exist once per
 * expert: both norms of a block that has them after its sums, the one before the MLP where norms
 * stand before the branches.  A block with token experts cannot have task experts.  The tensor
 * NAME of such a parameter is stored once per expert, with "experts.EXPERT." before its last
 * component:
 *	encoder.layers.3.mlp.fc2.weight -> encoder.layers.3.mlp.fc2.experts.clustering.weight
 */
#ifndef EXPERTS_H
#define EXPERTS_H

#include <stdbool.h>

#include "model/spec.h"

/* Fill in the expert part of the spec from config.json; die naming the key. */
void experts_configure(struct spec *spec, const struct tree *config);

/* The member "task_experts" that says the same; to be added to a config. */
struct tree *experts_tree(const struct spec *spec);

/* Whether this parameter of that block exists once per expert. */
bool experts_own(const struct spec *spec, int layer, enum block_parameter which);

/* The tensor of expert `name`; the caller frees it. */
char *experts_tensor(const char *tensor, const char *name);

/* Letters, digits, '_' and '-', 1 to 63 of them. */
bool experts_name_valid(const char *name);

#endif
