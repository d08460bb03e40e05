/*
 * deferred - examples deferred to a later batch because the batch has one of their texts already.
 *
 * Each batch takes them in the order in which they came, except those whose texts it has.  Examples are queued by the text that
 * deferred them: once a batch has that text, its whole queue is skipped.  So a class label that thousands of examples share costs
 * a batch no more time than one example.
 */
#ifndef SAMPLE_DEFERRED_H
#define SAMPLE_DEFERRED_H

#include <stddef.h>
#include <stdint.h>

#include "sample/recipe.h"
#include "sample/sampler.h"

struct deferred;

struct deferred_example {
	struct example example;
	uint64_t keys[SIDES];
};

struct deferred *deferred_new(void);

/* sides: at least one bit 1 << side, of each side whose text the batch has. */
void deferred_add(
    struct deferred *deferred, const struct deferred_example *example, unsigned sides);

/* Puts an example into the batch and returns 0, or returns the sides whose texts the batch has. */
typedef unsigned deferred_put(void *context, const struct deferred_example *example);

/* Offers deferred examples to `put`, until `most` have been put. */
void deferred_take(
    struct deferred *deferred, int64_t most, deferred_put *put, void *context);
void deferred_clear(struct deferred *deferred);
void deferred_free(struct deferred *deferred);

#endif
