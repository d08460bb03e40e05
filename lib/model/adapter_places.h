/*
 * adapter_places - the rows of a model's tensors that the pairs of an adapter change.
 *
 * A pair's module may be several tensors of the model, or rows of one: a family has several spellings, and some join
 * queries, keys and values.
 */
#ifndef MODEL_ADAPTER_PLACES_H
#define MODEL_ADAPTER_PLACES_H

#include <stddef.h>
#include <stdint.h>

#include "model/adapter.h"
#include "model/adapters.h"
#include "model/weights.h"

struct adapter_places {
	/* By tensor, then by row: `rows` rows of B, beginning at `from`, change those of the tensor beginning at `to`. */
	struct adapter_place {
		const struct adapter_pair *pair;
		int tensor;
		int64_t to, from, rows;
	} * at;
	size_t count, room;
	/* Pairs of layers that no embedding depends on: poolers, heads. */
	struct adapter_beside {
		const struct adapter_pair *pair;
		int extra; /* of weights.extra; -1: the model has no such tensor */
	} * beside;
	size_t beside_count, beside_room;
};

/* Dies naming a module that the model does not have, or whose shape differs. */
struct adapter_places adapter_places_find(
    const struct model *model, const struct adapter *adapter);
void adapter_places_free(struct adapter_places *places);

/* The number of places in the tensor of place `first`, from it on. */
size_t adapter_places_together(const struct adapter_places *places, size_t first);

/* One pair for `count` places of one tensor. */
struct linear_pair adapter_places_pair(struct adapters *adapters,
    const struct adapter_place *places, size_t count, const struct parameter *parameter);

#endif
