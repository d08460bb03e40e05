#include "score/row_subset.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/mem.h"

struct row_subset
row_subset_start(const char *path, const struct vectors *vectors)
{
	struct stat status;
	bool again = stat(path, &status) == 0 && S_ISREG(status.st_mode);

	return (struct row_subset){
		.width = vectors->width, .lists = vectors->lists, .again = again
	};
}

void
row_subset_add(
    struct row_subset *subset, struct vectors *vectors, const struct record *record)
{
	size_t bytes = (size_t)subset->width * sizeof *subset->x;
	int64_t more = column_elements(stream_column(vectors->reader, vectors->column),
	    &record->columns[vectors->column], record->rows);
	int64_t rows = subset->rows + more;

	if (!subset->again) {
		vectors_load(vectors, record);
		subset->x = mem_grow(subset->x, &subset->room, (size_t)rows, bytes);
		memcpy(subset->x + subset->rows * subset->width, vectors->raw,
		    (size_t)more * bytes);
	}
	subset->rows = rows;
}

void
row_subset_want(struct row_subset *subset, const int64_t *rows, int64_t count)
{
	if (!subset->again)
		return;
	if (!subset->index)
		subset->index = mem_zero((size_t)subset->rows, sizeof *subset->index);
	for (int64_t i = 0; i < count; i++)
		subset->index[rows[i]] = 1;
}

void
row_subset_fetch(struct row_subset *subset, const char *path, const char *field)
{
	size_t bytes = (size_t)subset->width * sizeof *subset->x;
	int64_t row = 0, count = 0;
	struct record record;

	if (!subset->again)
		return;
	struct reader *reader = stream_open(path);
	struct vectors *vectors =
	    vectors_open(reader, field, subset->lists ? VECTORS_LISTS : 0);
	for (int64_t i = 0; i < subset->rows; i++)
		subset->index[i] = subset->index[i] ? count++ : -1;
	subset->x = mem_new((size_t)count, bytes);
	while (stream_next(reader, &record)) {
		vectors_load(vectors, &record);
		for (int64_t i = 0; i < vectors->count; i++, row++)
			if (row < subset->rows && subset->index[row] >= 0 &&
			    vectors->width == subset->width)
				memcpy(subset->x + subset->index[row] * subset->width,
				    vectors->raw + i * subset->width, bytes);
	}
	if (row != subset->rows || vectors->width != subset->width)
		die("%s: it had %lld rows a moment ago and has %lld now",
		    stream_name(reader), (long long)subset->rows, (long long)row);
	inform("%s: %lld of %lld rows are drawn", path, (long long)count, (long long)row);
	vectors_close(vectors);
	stream_close(reader);
}

const float *
row_subset_row(const struct row_subset *subset, int64_t row)
{
	return subset->x + (subset->index ? subset->index[row] : row) * subset->width;
}

float *
row_subset_gather(const struct row_subset *subset, const int64_t *rows, int64_t count)
{
	size_t bytes = (size_t)subset->width * sizeof *subset->x;
	float *x = mem_new((size_t)count + 1, bytes);

	for (int64_t i = 0; i < count; i++)
		memcpy(x + i * subset->width, row_subset_row(subset, rows[i]), bytes);
	return x;
}

void
row_subset_free(struct row_subset *subset)
{
	free(subset->x);
	free(subset->index);
}
