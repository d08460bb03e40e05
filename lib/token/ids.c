#include "token/ids.h"

#include <stdlib.h>

#include "base/mem.h"

void
ids_push(struct ids *ids, int32_t id)
{
	ids->id = mem_grow(ids->id, &ids->capacity, ids->count + 1, sizeof *ids->id);
	ids->id[ids->count++] = id;
}

void
ids_free(struct ids *ids)
{
	free(ids->id);
	*ids = (struct ids){ 0 };
}
