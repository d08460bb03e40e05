#include "model/batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

int32_t
batch_prompt_tokens(const struct tree *attributes, const char *name)
{
	int64_t count = tree_integer(tree_get(attributes, "prompt_tokens"), name, 0);

	return count < 0 ? 0 : count > INT32_MAX ? INT32_MAX : (int32_t)count;
}

int64_t
batch_cut(struct batch *batch, const int32_t *ids, const int64_t *offsets, int64_t first,
    int64_t last, int64_t budget)
{
	int64_t next = first;

	if (budget > INT32_MAX)
		budget = INT32_MAX;
	batch->ids = ids + offsets[first];
	batch->sequences = batch->tokens = 0;
	batch->skip = batch->second = NULL;
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

/* Below, at or above 0; of sequences that share a batch, 0. */
static int
compare_kinds(const struct sequence *a, const struct sequence *b)
{
	if (a->frozen != b->frozen)
		return b->frozen - a->frozen;
	return (a->expert > b->expert) - (a->expert < b->expert);
}

static int
compare(const void *one, const void *two, void *sequences)
{
	int64_t i = *(const int64_t *)one, j = *(const int64_t *)two;
	const struct sequence *a = (const struct sequence *)sequences + i;
	const struct sequence *b = (const struct sequence *)sequences + j;
	int kinds = compare_kinds(a, b);

	if (kinds)
		return kinds;
	return a->adapter != b->adapter
		   ? (a->adapter > b->adapter) - (a->adapter < b->adapter)
		   : (i > j) - (i < j);
}

void
batch_sort(int64_t *order, int64_t count, const struct sequence *sequences)
{
	qsort_r(order, (size_t)count, sizeof *order, compare, (void *)sequences);
}

int64_t
batch_end(const int64_t *order, int64_t first, int64_t count,
    const struct sequence *sequences, int64_t budget)
{
	const struct sequence *one = &sequences[order[first]];
	int64_t tokens = one->length, end = first + 1;

	if (budget > INT32_MAX)
		budget = INT32_MAX;
	while (end < count && !compare_kinds(one, &sequences[order[end]]) &&
	       (tokens += sequences[order[end]].length) <= budget)
		end++;
	return end;
}

void
batch_pack(struct batch *batch, const int64_t *order, int64_t count,
    const struct sequence *sequences)
{
	bool skips = false, seconds = false, hides = false;

	batch->sequences = count;
	batch->tokens = 0;
	for (int64_t i = 0; i < count; i++)
		batch->tokens += sequences[order[i]].length;
	batch->starts = mem_grow(
	    batch->starts, &batch->starts_room, (size_t)count + 1, sizeof *batch->starts);
	batch->places = mem_grow(
	    batch->places, &batch->places_room, 4 * (size_t)count, sizeof *batch->places);
	batch->adapters = mem_grow(batch->adapters, &batch->adapters_room, (size_t)count,
	    sizeof *batch->adapters);
	batch->draws = mem_grow(
	    batch->draws, &batch->draws_room, (size_t)count, sizeof *batch->draws);
	batch->packed = mem_grow(batch->packed, &batch->packed_room,
	    (size_t)batch->tokens, sizeof *batch->packed);
	int32_t *skip = batch->places, *second = skip + count, *attended = second + count;
	batch->sides = attended + count;
	batch->starts[0] = 0;
	for (int64_t i = 0; i < count; i++) {
		const struct sequence *s = &sequences[order[i]];
		memcpy(batch->packed + batch->starts[i], s->ids,
		    (size_t)s->length * sizeof *s->ids);
		batch->starts[i + 1] = batch->starts[i] + s->length;
		skip[i] = s->skip;
		second[i] = s->second;
		attended[i] = s->attended ? s->attended : s->length;
		batch->sides[i] = s->side;
		batch->adapters[i] = s->adapter;
		batch->draws[i] = s->draw;
		skips |= s->skip > 0;
		seconds |= s->second > 0;
		hides |= s->attended > 0;
		batch->expert = s->expert;
	}
	batch->ids = batch->packed;
	batch->skip = skips ? skip : NULL;
	batch->second = seconds ? second : NULL;
	batch->attended = hides ? attended : NULL;
}

int32_t
batch_longest(const struct batch *batch)
{
	int32_t longest = 0;

	for (int64_t i = 0; i < batch->sequences; i++)
		if (batch->starts[i + 1] - batch->starts[i] > longest)
			longest = batch->starts[i + 1] - batch->starts[i];
	return longest;
}

void
batch_free(struct batch *batch)
{
	free(batch->starts);
	free(batch->places);
	free(batch->adapters);
	free(batch->draws);
	free(batch->packed);
	*batch = (struct batch){ 0 };
}
