#include "token/tokenised.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "token/ids.h"

enum { ALONE = 1 << 15 };

/* The result of one thread: texts first .. last-1. */
struct tokenised_part {
	struct ids ids;
	int64_t first, last, cut, repaired, first_cut;
};

static void
encode_part(struct tokenised_part *part, const struct frame *frame, const char *bytes,
    const int64_t *offsets, int64_t *lengths)
{
	struct framed string = { 0 };

	for (int64_t i = part->first; i < part->last; i++) {
		const char *text = bytes + offsets[i];
		size_t length = (size_t)(offsets[i + 1] - offsets[i]),
		       before = part->ids.count;
		part->repaired += utf8_valid(text, length) < length;
		if (frame_encode(frame, text, length, &string, &part->ids) &&
		    part->cut++ == 0)
			part->first_cut = i;
		lengths[i] = (int64_t)(part->ids.count - before);
	}
	free(string.text);
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
gather(struct tokenised *made, struct tokenised_part *part, int parts)
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
tokenise_texts(struct tokenised *made, const struct frame *frame, const char *bytes,
    const int64_t *offsets, int64_t texts)
{
	bool few = offsets[texts] - offsets[0] < ALONE; /* too few for threads */
	int parts = few ? 1 : omp_get_max_threads();
	struct tokenised_part *part = mem_zero((size_t)parts, sizeof *part);

	bytes = bytes ? bytes : ""; /* bytes may be NULL if there are no texts */
	made->offsets = mem_grow(
	    made->offsets, &made->offsets_room, (size_t)texts + 1, sizeof *made->offsets);
	made->offsets[0] = 0;
	int64_t *lengths = made->offsets + 1;
#pragma omp parallel for schedule(static, 1) num_threads(parts)
	for (int p = 0; p < parts; p++) {
		part[p].first = share(offsets, texts, p, parts);
		part[p].last = share(offsets, texts, p + 1, parts);
		encode_part(&part[p], frame, bytes, offsets, lengths);
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
