/*
 * token_experts - token experts given to a dense model (upcycle --token-experts): which blocks have
 * them and where they lie in a checkpoint.  Families that have their own (OLMoE, ...) say so in
 * their own words.
 *
 * config.json of such a model has
 *	"token_experts": { "count": 4, "top": 2, "renormalize": true, "layers": [1, 3, ...] }
 * In the blocks `layers` (0-based) stand `count` MLPs in place of the dense one, weights and biases
 * as the family has them; the norms are shared (mixture.h).  The router is the tensor
 * "router.weight" of the block; the tensor NAME of the dense MLP is stored once for each expert,
 * with "experts.NUMBER." before its last component:
 *	encoder.layers.3.router.weight
 *	encoder.layers.3.mlp.fc2.weight -> encoder.layers.3.mlp.fc2.experts.0.weight
 */
#ifndef MODEL_TOKEN_EXPERTS_H
#define MODEL_TOKEN_EXPERTS_H

#include <stdbool.h>

#include "model/spec.h"

/* Fill in the mixture of the spec from config.json, where it has token_experts; die naming the key. */
void token_experts_configure(struct spec *spec, const struct tree *config);

/* The member "token_experts" that says the same; to be added to a config. */
struct tree *token_experts_tree(const struct spec *spec);

/* Give the block `layer` of a spec token experts, of which mixture's count, top and renormalize are
 * set: the rest of it follows from the dense MLP.  What is wrong, or NULL; the caller frees it. */
char *token_experts_give(struct spec *spec, int layer);

#endif
