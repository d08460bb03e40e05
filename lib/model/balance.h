/*
 * balance - the load-balancing loss of token experts, which keeps a router from sending all tokens to a few of them (Shazeer et
 * al. 2017; as nomic-embed-text-v2-moe was trained).
 *
 *	balance = sum over sides of E sum over experts e of f[e] p[e]
 *
 * f[e] is the share of tokens that chose e, p[e] the mean probability of e; both over all tokens of one side of the batch (its
 * queries; its documents and negatives) in all blocks with token experts together.  f is taken as a constant, so that the
 * gradient of a token's p[e] is E f[e] / rows, the same for all rows of a side.  If all experts are equally likely, a side
 * gives `top`; otherwise more.
 *
 * f and p are of the whole batch, of all ranks (ranks.h): a batch in chunks is counted in the first pass over its chunks
 * (gradient_cache.h), and the second pass has the gradients.
 */
#ifndef MODEL_BALANCE_H
#define MODEL_BALANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/batch.h"
#include "model/mixture.h"

enum { BALANCE_SIDES = 2 };

struct balance;

struct balance *balance_new(const struct spec *spec);
void balance_free(struct balance *balance);

/* Clears the counts: from now on forward passes count. */
void balance_begin(struct balance *balance);

/* Counts what the router of one block chose for a batch. */
void balance_count(struct balance *balance, const struct batch *batch,
    const struct mixture_state *state);

/* The counts, sums over tokens, which ranks add up before balance_end. */
double *balance_sums(struct balance *balance, size_t *count);

/* Returns the loss.  From now on forward passes do not count, and backward passes have the gradients of weight x loss. */
double balance_end(struct balance *balance, double weight);

/* Gradients of the probabilities, [BALANCE_SIDES, E], nn memory; NULL while it counts. */
const float *balance_gradients(const struct balance *balance);

#endif
