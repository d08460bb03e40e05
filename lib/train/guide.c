#include "train/guide.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

enum { SIDES = 3 };

void
guide_open(
    struct guide *guide, const struct reader *reader, const char *alone, int negatives)
{
	const char *names[SIDES] = { alone ? alone : "query", alone ? NULL : "document",
		negatives < 0 ? NULL : "negatives" };
	int depth = negatives < 0 ? 0 : stream_column(reader, negatives)->depth - 1;

	guide->width = 0;
	for (int side = 0; side < SIDES; side++) {
		int *column = &guide->columns[side];
		*column = -1;
		if (!names[side])
			continue;
		*column =
		    values_find_embedding(reader, names[side], side == 2 ? depth : 0);
		if (*column < 0)
			die("%s: has no column \"%s.emb\", the vectors of a guide or teacher; 'encode -m MODEL' makes it, 'mts paste' puts it beside the token ids",
			    stream_name(reader), names[side]);
		int width = values_width(reader, *column);
		if (guide->width && width != guide->width)
			die("%s: \"%s.emb\" has vectors of %d components, \"%s.emb\" of %d",
			    stream_name(reader), names[side], width, names[0],
			    guide->width);
		guide->width = width;
	}
}

void
guide_take(struct guide *guide, const struct reader *reader, const struct record *record,
    const int64_t counts[SIDES])
{
	size_t width = (size_t)guide->width, at = 0, all = 0;

	for (int side = 0; side < SIDES; side++)
		all += (size_t)counts[side];
	guide->vectors =
	    mem_grow(guide->vectors, &guide->room, all * width, sizeof *guide->vectors);
	for (int side = 0; side < SIDES; side++) {
		int index = guide->columns[side];
		if (index < 0)
			continue;
		const struct column *column = stream_column(reader, index);
		const struct array *array = &record->columns[index];
		if (column_elements(column, array, record->rows) != counts[side])
			die("%s: record %lld: \"%s\" does not have one vector for each text",
			    stream_name(reader), (long long)stream_records(reader),
			    column->name);
		const float *from =
		    values_floats(column, array, counts[side], &guide->floats);
		for (int64_t i = 0; i < counts[side]; i++, at += width) {
			float *to = guide->vectors + at;
			memcpy(to, from + (size_t)i * width, width * sizeof *to);
			values_refuse_nan(reader, index, array, i, to, guide->width);
		}
	}
}

void
guide_free(struct guide *guide)
{
	free(guide->vectors);
	free(guide->floats.data);
}
