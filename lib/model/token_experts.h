/*
 * token_experts - token experts that a dense model was given (upcycle --token-experts): their member of config.json.  Families
 * with token experts of their own (OLMoE, ...) configure them by their own keys.
 *
 *	"token_experts": { "count": 4, "top": 2, "renormalize": true, "layers": [1, 3, ...] }
 *
 * In the blocks `layers` (0-based) `count` MLPs replace the dense one, with weights and biases as the family has them; the norms
 * are shared (mixture.h).  The router is the tensor "router.weight" of the block; the tensor NAME of the dense MLP is stored
 * once for each expert, with "experts.NUMBER." before its last component:
 *	encoder.layers.3.router.weight
 *	encoder.layers.3.mlp.fc2.weight -> encoder.layers.3.mlp.fc2.experts.0.weight
 */
#ifndef MODEL_TOKEN_EXPERTS_H
#define MODEL_TOKEN_EXPERTS_H

#include <stdbool.h>

#include "model/spec.h"

/* Sets spec.mixture and its layers from config.json, where it has token_experts; dies naming the key. */
void token_experts_configure(struct spec *spec, const struct tree *config);

/* The member "token_experts" of a spec, a new tree. */
struct tree *token_experts_tree(const struct spec *spec);

/* Gives the block `layer` token experts by its dense MLP; count, top and renormalize of spec->mixture are set before.  Returns
 * NULL, or the reason why it cannot, which the caller frees. */
char *token_experts_give(struct spec *spec, int layer);

#endif
