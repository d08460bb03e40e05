/*
 * balance - the load-balancing loss of token experts, which keeps a router from sending all tokens
 * to a few of them (Shazeer et al. 2017; as nomic-embed-text-v2-moe was trained).
 *
 *	balance = sum over sides of E sum over experts e of f[e] p[e]
 *
 * Over all tokens of a side of the batch (its queries; its documents and negatives) in all blocks
 * with token experts together, f[e] is the share that has e among its chosen ones, and p[e] the mean
 * probability of e.  f does not depend smoothly on anything; so the slope of a token's p[e] is
 * E f[e] / rows, the same for all rows of a side.  Where all experts are equally likely a side gives
 * `top`, more where they are not.
 *
 * Shares and means are those of the whole batch, of all ranks (ranks.h): a batch in chunks is counted in the first pass over
 * all of them (gradient_cache.h), and what follows from it is used in the second.
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

/* From now on, forward passes count. */
void balance_begin(struct balance *balance);

/* What a block's router did with a batch. */
void balance_count(struct balance *balance, const struct batch *batch,
    const struct mixture_state *state);

/* What was counted, sums over tokens: those of several ranks (ranks.h) are added up before balance_end. */
double *balance_sums(struct balance *balance, size_t *count);

/* The loss, of which `weight` times is to be learned from; from now on forward passes do not count,
 * and backward passes have the slopes. */
double balance_end(struct balance *balance, double weight);

/* The slopes of the probabilities, [BALANCE_SIDES, E], nn memory; NULL: it counts. */
const float *balance_slopes(const struct balance *balance);

#endif
