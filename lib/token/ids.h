/*
 * ids - a growing array of token ids.  Zeroed: empty.
 */
#ifndef TOKEN_IDS_H
#define TOKEN_IDS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"

struct ids {
	int32_t *id;
	size_t count, capacity;
};

static inline void
ids_push(struct ids *ids, int32_t id)
{
	if (ids->count == ids->capacity)
		ids->id =
		    mem_grow(ids->id, &ids->capacity, ids->count + 1, sizeof *ids->id);
	ids->id[ids->count++] = id;
}

static inline void
ids_add(struct ids *ids, const int32_t *id, size_t count)
{
	for (size_t i = 0; i < count; i++)
		ids_push(ids, id[i]);
}

static inline void
ids_free(struct ids *ids)
{
	free(ids->id);
	*ids = (struct ids){ 0 };
}

#endif
