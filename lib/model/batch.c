#include "model/batch.h"

#include <stdlib.h>

#include "base/mem.h"

int64_t
batch_cut(struct batch *batch, const int32_t *ids, const int64_t *offsets, int64_t first,
    int64_t last, int64_t budget)
{
	int64_t next = first;

	if (budget > INT32_MAX)
		budget = INT32_MAX;
	batch->ids = ids + offsets[first];
	batch->sequences = batch->tokens = batch->longest = 0;
	batch->skip = NULL;
	batch->starts = mem_grow(batch->starts, &batch->room, 1, sizeof *batch->starts);
	batch->starts[0] = 0;
	for (; next < last; next++) {
		int64_t length = offsets[next + 1] - offsets[next];
		if (next > first && batch->tokens + length > budget)
			break;
		batch->tokens += length;
		batch->sequences++;
		if (length > batch->longest)
			batch->longest = length;
		batch->starts = mem_grow(batch->starts, &batch->room,
		    (size_t)batch->sequences + 1, sizeof *batch->starts);
		batch->starts[batch->sequences] = (int32_t)batch->tokens;
	}
	return next;
}

void
batch_skip(struct batch *batch, int64_t tokens)
{
	batch->skip = NULL;
	if (tokens <= 0)
		return;
	if (tokens > INT32_MAX)
		tokens = INT32_MAX;
	batch->skips = mem_grow(batch->skips, &batch->skip_room, (size_t)batch->sequences,
	    sizeof *batch->skips);
	for (int64_t i = 0; i < batch->sequences; i++)
		batch->skips[i] = (int32_t)tokens;
	batch->skip = batch->skips;
}

void
batch_free(struct batch *batch)
{
	free(batch->starts);
	free(batch->skips);
	*batch = (struct batch){ 0 };
}
