#include "token/tokenise.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "token/ids.h"

enum { ALONE = 1 << 15 };

/* What one thread makes of the texts first .. last-1. */
struct part {
	struct ids ids;
	int64_t first, last, cut, repaired, first_cut;
};

static void
encode_part(struct part *part, const struct tokenizer *tokenizer, const char *bytes,
    const int64_t *offsets, const char *prompt, size_t most, int64_t *lengths)
{
	size_t ahead = prompt ? strlen(prompt) : 0, room = 0;
	char *joined = NULL;

	for (int64_t i = part->first; i < part->last; i++) {
		const char *text = bytes + offsets[i];
		size_t length = (size_t)(offsets[i + 1] - offsets[i]),
		       before = part->ids.count;
		part->repaired += utf8_valid(text, length) < length;
		if (ahead) {
			joined =
			    mem_grow(joined, &room, mem_add(ahead, length, "text"), 1);
			memcpy(joined, prompt, ahead);
			memcpy(joined + ahead, text, length);
			text = joined;
			length += ahead;
		}
		if (tokenizer_encode(tokenizer, text, length, most, true, &part->ids) &&
		    part->cut++ == 0)
			part->first_cut = i;
		lengths[i] = (int64_t)(part->ids.count - before);
	}
	free(joined);
}

/* Where thread `index` of `count` begins: equal shares of bytes, not of texts. */
static int64_t
share(const int64_t *offsets, int64_t texts, int index, int count)
{
	int64_t bytes = offsets[texts] - offsets[0];
	int64_t wanted = offsets[0] + bytes / count * index, low = 0, high = texts;

	if (index == count)
		return texts;
	while (low < high) {
		int64_t middle = (low + high) / 2;
		if (offsets[middle] < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void
gather(struct tokenised *made, struct part *part, int parts)
{
	size_t total = 0;

	for (int p = 0; p < parts; p++)
		total += part[p].ids.count;
	made->ids = mem_grow(made->ids, &made->ids_room, total + 1, sizeof *made->ids);
	made->cut = made->repaired = 0;
	made->first_cut = -1;
	total = 0;
	for (int p = 0; p < parts; p++) {
		if (part[p].ids.count)
			memcpy(made->ids + total, part[p].ids.id,
			    part[p].ids.count * sizeof *made->ids);
		total += part[p].ids.count;
		if (part[p].cut && made->first_cut < 0)
			made->first_cut = part[p].first_cut;
		made->cut += part[p].cut;
		made->repaired += part[p].repaired;
		ids_free(&part[p].ids);
	}
}

void
tokenise(struct tokenised *made, const struct tokenizer *tokenizer, const char *bytes,
    const int64_t *offsets, int64_t texts, const char *prompt, size_t most)
{
	bool few = offsets[texts] - offsets[0] < ALONE; /* not worth waking threads */
	int parts = few ? 1 : omp_get_max_threads();
	struct part *part = mem_zero((size_t)parts, sizeof *part);

	bytes = bytes ? bytes : ""; /* no text at all */
	made->offsets = mem_grow(
	    made->offsets, &made->offsets_room, (size_t)texts + 1, sizeof *made->offsets);
	made->offsets[0] = 0;
	int64_t *lengths = made->offsets + 1;
#pragma omp parallel for schedule(static, 1) num_threads(parts)
	for (int p = 0; p < parts; p++) {
		part[p].first = share(offsets, texts, p, parts);
		part[p].last = share(offsets, texts, p + 1, parts);
		encode_part(&part[p], tokenizer, bytes, offsets, prompt, most, lengths);
	}
	for (int64_t i = 0; i < texts; i++)
		made->offsets[i + 1] += made->offsets[i];
	gather(made, part, parts);
	free(part);
}

void
tokenised_free(struct tokenised *made)
{
	free(made->offsets);
	free(made->ids);
}

int64_t
tokenise_prompt(const struct tokenizer *tokenizer, const char *prompt)
{
	struct ids ids = { 0 };
	size_t before, after;

	tokenizer_template(tokenizer, &before, &after);
	tokenizer_encode(tokenizer, prompt, strlen(prompt), 0, true, &ids);
	int64_t count = (int64_t)(ids.count - after);
	ids_free(&ids);
	return count;
}
