/*
 * waiting - examples that wait for another batch, since a text of theirs was in the batch already.
 *
 * Each batch takes them in the order in which they came, and passes over those whose texts it has.  Examples are queued
 * by the text that put them off: once a batch has that text, its whole queue is skipped.  So a batch spends as much time
 * on a class label that thousands of examples share as on one example.
 */
#ifndef SAMPLE_WAITING_H
#define SAMPLE_WAITING_H

#include <stddef.h>
#include <stdint.h>

#include "sample/recipe.h"
#include "sample/sampler.h"

struct waiting;

struct waiting_example {
	struct example example;
	uint64_t keys[SIDES];
};

struct waiting *waiting_new(void);

/* `sides` has bit 1 << side for each side whose text put it off: one at least. */
void waiting_add(
    struct waiting *waiting, const struct waiting_example *example, unsigned sides);

/* Puts an example into the batch and returns 0, or the sides whose texts the batch has. */
typedef unsigned waiting_put(void *context, const struct waiting_example *example);

/* Offer those that wait, until `most` have been put. */
void waiting_take(struct waiting *waiting, int64_t most, waiting_put *put, void *context);
void waiting_clear(struct waiting *waiting);
void waiting_free(struct waiting *waiting);

#endif
