/*
 * upcycle_tokens - token experts (model/token_experts.h) given to a dense model: copies of the dense MLP, and a router drawn
 * from `seed` that sends each token to `top` of them.
 *
 * With renormalize the copies give what the dense model gives, up to rounding; with one of them, to the bit.
 */
#ifndef EDIT_UPCYCLE_TOKENS_H
#define EDIT_UPCYCLE_TOKENS_H

#include <stdbool.h>
#include <stdint.h>

struct upcycle_tokens {
	int count, top;
	bool renormalize;
	const bool *layers; /* [SPEC_LAYERS]; those beyond the model's are ignored */
	uint64_t seed;
};

/* Writes the folder beside `dir`, then renames it into place; dies naming file and tensor. */
void model_upcycle_tokens(
    const char *from, const char *dir, const struct upcycle_tokens *how);

#endif
