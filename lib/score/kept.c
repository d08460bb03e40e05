#include "score/kept.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/mem.h"

struct kept
kept_start(const char *path, const struct vectors *vectors)
{
	struct stat status;
	bool again = stat(path, &status) == 0 && S_ISREG(status.st_mode);

	return (struct kept){
		.width = vectors->width, .lists = vectors->lists, .again = again
	};
}

void
kept_add(struct kept *kept, struct vectors *vectors, const struct record *record)
{
	size_t bytes = (size_t)kept->width * sizeof *kept->x;
	int64_t more = column_elements(stream_column(vectors->reader, vectors->column),
	    &record->columns[vectors->column], record->rows);
	int64_t rows = kept->rows + more;

	if (!kept->again) {
		vectors_load(vectors, record);
		kept->x = mem_grow(kept->x, &kept->room, (size_t)rows, bytes);
		memcpy(kept->x + kept->rows * kept->width, vectors->raw,
		    (size_t)more * bytes);
	}
	kept->rows = rows;
}

void
kept_fetch(struct kept *kept, const char *path, const char *field, const bool *wanted)
{
	size_t bytes = (size_t)kept->width * sizeof *kept->x;
	int64_t row = 0, count = 0;
	struct record record;

	if (!kept->again)
		return;
	struct reader *reader = stream_open(path);
	struct vectors *vectors =
	    vectors_open(reader, field, kept->lists ? VECTORS_LISTS : 0);
	kept->place = mem_new((size_t)kept->rows, sizeof *kept->place);
	for (int64_t i = 0; i < kept->rows; i++)
		kept->place[i] = wanted[i] ? count++ : -1;
	kept->x = mem_new((size_t)count, bytes);
	while (stream_next(reader, &record)) {
		vectors_load(vectors, &record);
		for (int64_t i = 0; i < vectors->count; i++, row++)
			if (row < kept->rows && wanted[row] &&
			    vectors->width == kept->width)
				memcpy(kept->x + kept->place[row] * kept->width,
				    vectors->raw + i * kept->width, bytes);
	}
	if (row != kept->rows || vectors->width != kept->width)
		die("%s: it had %lld rows a moment ago and has %lld now",
		    stream_name(reader), (long long)kept->rows, (long long)row);
	inform("%s: %lld of %lld rows are drawn", path, (long long)count, (long long)row);
	vectors_close(vectors);
	stream_close(reader);
}

const float *
kept_row(const struct kept *kept, int64_t row)
{
	return kept->x + (kept->place ? kept->place[row] : row) * kept->width;
}

void
kept_free(struct kept *kept)
{
	free(kept->x);
	free(kept->place);
}
