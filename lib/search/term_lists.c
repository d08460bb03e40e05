#include "search/term_lists.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "search/vectors.h"

enum { VOCABULARY = 1 << 28 };

static const char weights_ending[] = ".weights";

/* The column of weights beside a column of ids, or -1. */
static int
find_weights(const struct reader *reader, int ids)
{
	char *name = mem_format("%s%s", stream_column(reader, ids)->name, weights_ending);
	int found = stream_find(reader, name);

	free(name);
	return found;
}

static bool
are_lists(const struct column *column, bool weights)
{
	bool type = column->dtype == DTYPE_I32 || column->dtype == DTYPE_I64 ||
		    (weights && dtype_is_float(column->dtype));

	return type && !column->text && column->depth == 1 && column->rank == 0;
}

static int
find_named(const struct reader *reader, const char *name)
{
	int found = stream_find(reader, name);

	return found >= 0 && are_lists(stream_column(reader, found), false) &&
		       find_weights(reader, found) >= 0
		   ? found
		   : -1;
}

int
term_lists_find(const struct reader *reader, const char *field)
{
	int found = -1;

	if (field) {
		char *name = mem_format("%s.sparse", field);
		found = find_named(reader, field);
		found = found >= 0 ? found : find_named(reader, name);
		free(name);
		return found;
	}
	for (int i = 0; i < stream_columns(reader); i++) {
		const char *name = stream_column(reader, i)->name,
			   *dot = strrchr(name, '.');
		if (!dot || strcmp(dot, ".sparse") || find_named(reader, name) < 0)
			continue;
		if (found >= 0)
			die("%s: there are several columns of terms: %s and %s; choose one with --field",
			    stream_name(reader), stream_column(reader, found)->name,
			    name);
		found = i;
	}
	return found;
}

struct term_lists *
term_lists_open(struct reader *reader, int column)
{
	struct term_lists *lists = mem_zero(1, sizeof *lists);
	const char *count = tree_string(stream_properties(reader), "sparse.terms", "0");

	lists->reader = reader;
	lists->ids_column = column;
	lists->weights_column = find_weights(reader, column);
	if (!are_lists(stream_column(reader, lists->weights_column), true))
		die("%s: the column '%s' is not a list of weights", stream_name(reader),
		    stream_column(reader, lists->weights_column)->name);
	long vocabulary = strtol(count, NULL, 10);
	if (vocabulary < 0 || vocabulary > VOCABULARY)
		die("%s: 'sparse.terms' is '%s', which is not a number of terms",
		    stream_name(reader), count);
	lists->vocabulary = (int)vocabulary;
	return lists;
}

/* Dies if the terms of a row are not as `encode` writes them. */
static void
check_row(const struct term_lists *lists, int64_t row)
{
	int64_t most = lists->vocabulary ? lists->vocabulary : VOCABULARY, before = -1;
	const char *wrong = NULL;

	for (int64_t i = lists->offsets[row]; i < lists->offsets[row + 1]; i++) {
		if (lists->ids[i] <= before)
			wrong = "ids of terms do not ascend from 0";
		else if (lists->ids[i] >= most)
			wrong = "a term is beyond the vocabulary";
		else if (!isfinite(lists->weights[i]))
			wrong = "a weight is not finite";
		before = lists->ids[i];
	}
	if (wrong)
		die("%s: record %lld: row %lld of '%s': %s", stream_name(lists->reader),
		    (long long)stream_records(lists->reader), (long long)row + 1,
		    stream_column(lists->reader, lists->ids_column)->name, wrong);
}

/* The ids of a record, as i32; -1 for one that is none. */
static const int32_t *
ids_of(struct term_lists *lists, const struct array *array, size_t count)
{
	const int64_t *from = array->data;

	if (stream_column(lists->reader, lists->ids_column)->dtype == DTYPE_I32)
		return array->data;
	lists->narrow =
	    mem_grow(lists->narrow, &lists->narrow_room, count, sizeof *lists->narrow);
	for (size_t i = 0; i < count; i++)
		lists->narrow[i] =
		    from[i] < 0 || from[i] >= VOCABULARY ? -1 : (int32_t)from[i];
	return lists->narrow;
}

void
term_lists_load(struct term_lists *lists, const struct record *record)
{
	const struct array *ids = &record->columns[lists->ids_column];
	const struct array *weights = &record->columns[lists->weights_column];
	const struct column *column = stream_column(lists->reader, lists->weights_column);
	size_t count = (size_t)weights->offsets[0][record->rows];

	values_same_lengths(
	    lists->reader, record, lists->ids_column, lists->weights_column);
	lists->offsets = ids->offsets[0];
	lists->ids = ids_of(lists, ids, (size_t)ids->offsets[0][record->rows]);
	lists->weights = weights->data;
	if (column->dtype != DTYPE_F32) {
		lists->room.data = mem_grow(
		    lists->room.data, &lists->room.capacity, count, sizeof(float));
		tensor_to_f32(lists->room.data, weights->data, column->dtype, count);
		lists->weights = lists->room.data;
	}
	for (int64_t row = 0; row < record->rows; row++)
		check_row(lists, row);
}

void
term_lists_close(struct term_lists *lists)
{
	free(lists->room.data);
	free(lists->narrow);
	free(lists);
}

float *
term_rows_add(struct term_rows *rows, const int32_t *ids, int64_t count)
{
	int64_t start = rows->count ? rows->starts[rows->count] : 0;
	size_t end = (size_t)(start + count);

	rows->starts = mem_grow(rows->starts, &rows->starts_room, (size_t)rows->count + 2,
	    sizeof *rows->starts);
	rows->ids = mem_grow(rows->ids, &rows->ids_room, end + 1, sizeof *rows->ids);
	rows->weights =
	    mem_grow(rows->weights, &rows->weights_room, end + 1, sizeof *rows->weights);
	rows->starts[rows->count++] = start;
	rows->starts[rows->count] = start + count;
	if (count)
		memcpy(rows->ids + start, ids, (size_t)count * sizeof *ids);
	return rows->weights + start;
}

double
term_rows_dot(
    const struct term_rows *one, int64_t i, const struct term_rows *other, int64_t j)
{
	int64_t a = one->starts[i], b = other->starts[j];
	double sum = 0;

	while (a < one->starts[i + 1] && b < other->starts[j + 1]) {
		if (one->ids[a] == other->ids[b])
			sum += (double)one->weights[a++] * other->weights[b++];
		else if (one->ids[a] < other->ids[b])
			a++;
		else
			b++;
	}
	return sum;
}

void
term_rows_clear(struct term_rows *rows)
{
	rows->count = 0;
}

void
term_rows_free(struct term_rows *rows)
{
	free(rows->starts);
	free(rows->ids);
	free(rows->weights);
	*rows = (struct term_rows){ 0 };
}
