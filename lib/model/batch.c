#include "model/batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/spec.h"

int64_t
batch_cut(struct batch *batch, const int32_t *ids, const int64_t *offsets, int64_t first,
    int64_t last, int64_t budget)
{
	int64_t next = first;

	if (budget > INT32_MAX)
		budget = INT32_MAX;
	batch->ids = ids + offsets[first];
	batch->sequences = batch->tokens = 0;
	batch->skip = NULL;
	batch->starts =
	    mem_grow(batch->starts, &batch->starts_room, 1, sizeof *batch->starts);
	batch->starts[0] = 0;
	for (; next < last; next++) {
		int64_t length = offsets[next + 1] - offsets[next];
		if (next > first && batch->tokens + length > budget)
			break;
		batch->tokens += length;
		batch->sequences++;
		batch->starts = mem_grow(batch->starts, &batch->starts_room,
		    (size_t)batch->sequences + 1, sizeof *batch->starts);
		batch->starts[batch->sequences] = (int32_t)batch->tokens;
	}
	return next;
}

enum { KINDS = 2 * (SPEC_EXPERTS + 1) };

static int
kind_of(const struct sequence *sequence)
{
	return (sequence->frozen ? 0 : SPEC_EXPERTS + 1) + sequence->expert + 1;
}

void
batch_sort(int64_t *order, int64_t count, const struct sequence *sequences)
{
	int64_t at[KINDS + 1] = { 0 }, *from;
	bool sorted = true;

	for (int64_t i = 0; i < count; i++) {
		int kind = kind_of(&sequences[order[i]]);
		sorted &= !i || kind_of(&sequences[order[i - 1]]) <= kind;
		at[kind + 1]++;
	}
	if (sorted)
		return;
	for (int kind = 0; kind < KINDS; kind++)
		at[kind + 1] += at[kind];
	from = mem_new((size_t)count, sizeof *from);
	memcpy(from, order, (size_t)count * sizeof *from);
	for (int64_t i = 0; i < count; i++)
		order[at[kind_of(&sequences[from[i]])]++] = from[i];
	free(from);
}

int64_t
batch_end(const int64_t *order, int64_t first, int64_t count,
    const struct sequence *sequences, int64_t budget)
{
	int kind = kind_of(&sequences[order[first]]);
	int64_t tokens = sequences[order[first]].length, end = first + 1;

	if (budget > INT32_MAX)
		budget = INT32_MAX;
	while (end < count && kind_of(&sequences[order[end]]) == kind &&
	       (tokens += sequences[order[end]].length) <= budget)
		end++;
	return end;
}

void
batch_pack(struct batch *batch, const int64_t *order, int64_t count,
    const struct sequence *sequences)
{
	bool skips = false;

	batch->sequences = count;
	batch->tokens = 0;
	for (int64_t i = 0; i < count; i++)
		batch->tokens += sequences[order[i]].length;
	batch->starts = mem_grow(
	    batch->starts, &batch->starts_room, (size_t)count + 1, sizeof *batch->starts);
	batch->skips = mem_grow(
	    batch->skips, &batch->skips_room, (size_t)count, sizeof *batch->skips);
	batch->sides = mem_grow(
	    batch->sides, &batch->sides_room, (size_t)count, sizeof *batch->sides);
	batch->packed = mem_grow(batch->packed, &batch->packed_room,
	    (size_t)batch->tokens, sizeof *batch->packed);
	batch->starts[0] = 0;
	for (int64_t i = 0; i < count; i++) {
		const struct sequence *s = &sequences[order[i]];
		memcpy(batch->packed + batch->starts[i], s->ids,
		    (size_t)s->length * sizeof *s->ids);
		batch->starts[i + 1] = batch->starts[i] + s->length;
		batch->skips[i] = s->skip;
		batch->sides[i] = s->side;
		skips |= s->skip > 0;
		batch->expert = s->expert;
	}
	batch->ids = batch->packed;
	batch->skip = skips ? batch->skips : NULL;
}

void
batch_free(struct batch *batch)
{
	free(batch->starts);
	free(batch->skips);
	free(batch->sides);
	free(batch->packed);
	*batch = (struct batch){ 0 };
}
