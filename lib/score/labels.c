#include "score/labels.h"

#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"

int
labels_column(const struct reader *reader, const char *wanted, const char *const *usual,
    const char *what)
{
	int column = wanted ? stream_find(reader, wanted) : values_find(reader, usual);

	if (column < 0)
		die("%s: there is no column '%s' of %s; name it with --label",
		    stream_name(reader), wanted ? wanted : usual[0], what);
	return column;
}

struct labelled_stream
labels_open(const char *path, const char *field, const char *wanted,
    const char *const *usual, const char *what)
{
	struct labelled_stream stream = { .reader = stream_open(path) };

	stream.vectors = vectors_open(stream.reader, field, 0);
	stream.label = labels_column(stream.reader, wanted, usual, what);
	return stream;
}

void
labels_close(struct labelled_stream *stream)
{
	vectors_close(stream->vectors);
	stream_close(stream->reader);
}

double
labels_finite(const struct reader *reader, int column, const struct record *record,
    int64_t index, const char *use)
{
	double value = values_number(reader, column, &record->columns[column], index);

	if (!isfinite(value))
		die("%s: record %lld: %s: value %lld is %g, not a number %s",
		    stream_name(reader), (long long)stream_records(reader),
		    stream_column(reader, column)->name, (long long)index + 1, value,
		    use);
	return value;
}

int32_t
labels_number(struct strings *names, const struct reader *reader, int column,
    const struct array *array, int64_t index, int32_t most)
{
	const struct column *labels = stream_column(reader, column);
	char room[VALUES_ROOM];
	size_t length;

	if (values_missing(labels, array, index))
		die("%s: record %lld: value %lld of '%s' is missing; leave out rows without a label, or label them",
		    stream_name(reader), (long long)stream_records(reader),
		    (long long)index + 1, labels->name);
	const char *text = values_text(labels, array, index, room, &length);
	int64_t number = strings_add(names, text, length, NULL);

	if (number >= most)
		die("%s: column '%s' has more than %d different values; these are not labels",
		    stream_name(reader), labels->name, most);
	return (int32_t)number;
}

long double
labels_value(const struct strings *names, int64_t label)
{
	long double value;
	bool is = number_read_long(
	    strings_get(names, label), strings_length(names, label), &value);

	return is ? value : NAN;
}

bool
labels_are_numbers(const struct strings *names)
{
	for (int64_t i = 0; i < strings_count(names); i++)
		if (isnan(labels_value(names, i)))
			return false;
	return true;
}

struct sorting {
	const struct strings *names;
	bool numeric;
};

static int
by_value(const void *a, const void *b, void *context)
{
	const struct sorting *sorting = context;
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
	long double p = 0, q = 0;

	if (sorting->numeric) {
		p = labels_value(sorting->names, x);
		q = labels_value(sorting->names, y);
	}
	return p == q ? strings_compare(sorting->names, x, y) : (p > q) - (p < q);
}

int32_t *
labels_sorted(const struct strings *names)
{
	struct sorting sorting = { names, labels_are_numbers(names) };
	size_t count = (size_t)strings_count(names);
	int32_t *order = mem_new(count, sizeof *order);

	for (size_t i = 0; i < count; i++)
		order[i] = (int32_t)i;
	qsort_r(order, count, sizeof *order, by_value, &sorting);
	return order;
}
