#include "stream/values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "stream/coded.h"

static bool
is_vectors(const struct column *column, int depth)
{
	bool number = dtype_is_float(column->dtype) || column->dtype == DTYPE_I8 ||
		      column->dtype == DTYPE_U8 || column->dtype == DTYPE_BOOL;

	return column->depth == depth && column->rank == 1 && number;
}

/* Whether it is "X.KIND", of vectors. */
static bool
is_kind(const struct column *column, const char *kind, int depth)
{
	const char *dot = strrchr(column->name, '.');

	return dot && dot > column->name && strcmp(dot + 1, kind) == 0 &&
	       is_vectors(column, depth);
}

bool
values_is_embedding(const struct column *column)
{
	return is_kind(column, "emb", column->depth) ||
	       (!strcmp(column->name, "emb") && is_vectors(column, column->depth));
}

static char *
columns_named(const struct reader *reader)
{
	char *list = mem_string("");

	for (int i = 0; i < stream_columns(reader); i++)
		list = mem_list(list, stream_column(reader, i)->name);
	return list;
}

static int
find_named(const struct reader *reader, const char *name, int depth)
{
	int found = stream_find(reader, name);

	return found >= 0 && is_vectors(stream_column(reader, found), depth) ? found : -1;
}

/* Dies if the column is there, with lists for no lists or the other way. */
static void
refuse_lists(const struct reader *reader, const char *field, const char *kind, int depth)
{
	char *name = mem_format("%s.%s", field, kind);

	if (find_named(reader, name, !depth) >= 0 ||
	    find_named(reader, field, !depth) >= 0)
		die("%s: column '%s' has %s, and %s wanted", stream_name(reader),
		    find_named(reader, name, !depth) >= 0 ? name : field,
		    depth ? "a vector a row" : "lists of vectors",
		    depth ? "lists of vectors are" : "a vector a row is");
	free(name);
}

/* Dies, listing the columns, or those with vectors. */
_Noreturn static void
no_vectors(const struct reader *reader, const char *field, const char *kind, int depth)
{
	const char *lists = depth ? " in lists" : "";
	char *vectors = mem_string("");

	if (field)
		refuse_lists(reader, field, kind, depth);
	if (field)
		die("%s: there is no column '%s.%s' of vectors%s, only: %s",
		    stream_name(reader), field, kind, lists, columns_named(reader));
	for (int i = 0; i < stream_columns(reader); i++)
		if (is_vectors(stream_column(reader, i), depth))
			vectors = mem_list(vectors, stream_column(reader, i)->name);
	if (*vectors)
		die("%s: there is no column '*.%s' of %s%s; of vectors there is %s: choose one with --field",
		    stream_name(reader), kind,
		    strcmp(kind, "emb") ? "vectors" : "embeddings", lists, vectors);
	die("%s: there is no column '*.%s' of vectors%s, only: %s", stream_name(reader),
	    kind, lists, columns_named(reader));
}

static char *
columns_of_kind(const struct reader *reader, const char *kind, int depth)
{
	char *list = mem_string("");

	for (int i = 0; i < stream_columns(reader); i++)
		if (is_kind(stream_column(reader, i), kind, depth))
			list = mem_list(list, stream_column(reader, i)->name);
	return list;
}

/* The only X.KIND; else "KIND": 'mts from npy' gives the name "emb". */
static int
find_only(const struct reader *reader, const char *kind, int depth)
{
	int found = -1;

	for (int i = 0; i < stream_columns(reader); i++) {
		if (!is_kind(stream_column(reader, i), kind, depth))
			continue;
		if (found >= 0)
			die("%s: there are several columns of %s: %s; choose one with --field",
			    stream_name(reader),
			    strcmp(kind, "emb") ? "vectors of tokens" : "embeddings",
			    columns_of_kind(reader, kind, depth));
		found = i;
	}
	return found >= 0 ? found : find_named(reader, kind, depth);
}

static int
find_vectors(const struct reader *reader, const char *field, const char *kind, int depth)
{
	if (!field)
		return find_only(reader, kind, depth);
	char *name = mem_format("%s.%s", field, kind);
	int found = find_named(reader, name, depth);

	free(name);
	return found >= 0 ? found : find_named(reader, field, depth);
}

int
values_find_embedding(const struct reader *reader, const char *field, int depth)
{
	return find_vectors(reader, field, "emb", depth);
}

static int
need_vectors(const struct reader *reader, const char *field, const char *kind, int depth)
{
	int found = find_vectors(reader, field, kind, depth);

	if (found < 0 && stream_columns(reader) == 0)
		die("%s: it has no columns; was the input of the first program empty?",
		    stream_name(reader));
	if (found < 0)
		no_vectors(reader, field, kind, depth);
	return found;
}

int
values_embedding(const struct reader *reader, const char *field, int depth)
{
	return need_vectors(reader, field, "emb", depth);
}

int
values_tokens(const struct reader *reader, const char *field)
{
	return need_vectors(reader, field, "tokens", 1);
}

int
values_width(const struct reader *reader, int column)
{
	int64_t width = stream_column(reader, column)->shape[0];
	struct coded *coded = coded_open(reader, column);

	if (coded)
		die("%s: column '%s' holds %s; 'mts cast f32' makes floats of them",
		    stream_name(reader), stream_column(reader, column)->name,
		    coded->least ? "codes of 8 bits" : "single bits");
	if (width < 1 || width > 1 << 20)
		die("%s: column '%s': a width of %lld is not in 1..%d",
		    stream_name(reader), stream_column(reader, column)->name,
		    (long long)width, 1 << 20);
	return (int)width;
}

const char *
values_kind(const struct reader *reader, int column)
{
	const char *ending = strrchr(stream_column(reader, column)->name, '.');
	bool own = ending && (!strcmp(ending, ".hs") || !strcmp(ending, ".rw") ||
				 !strcmp(ending, ".tokens"));

	return tree_string(stream_properties(reader), own ? ending + 1 : "emb", NULL);
}

const float *
values_floats(const struct column *column, const struct array *array, int64_t elements,
    struct floats *room)
{
	size_t count =
	    mem_multiply((size_t)elements, (size_t)column->shape[0], column->name);

	if (column->dtype == DTYPE_F32)
		return array->data;
	room->data = mem_grow(room->data, &room->capacity, count, sizeof *room->data);
	tensor_to_f32(room->data, array->data, column->dtype, count);
	return room->data;
}

int
values_find(const struct reader *reader, const char *const *names)
{
	for (; *names; names++) {
		int column = stream_find(reader, *names);
		if (column >= 0)
			return column;
	}
	return -1;
}

bool
values_are_text(const struct column *column)
{
	return column->text;
}

void
values_single(const struct reader *reader, int index, int depth)
{
	const struct column *column = stream_column(reader, index);

	if (column->rank != 0 || column->depth != depth + (column->text ? 1 : 0))
		die("%s: column '%s' should hold %s text or number%s",
		    stream_name(reader), column->name,
		    depth ? "in each row a list of" : "one", depth ? "s" : " a row");
}

int64_t
values_start(const struct column *column, const struct array *array, int64_t row)
{
	int lists = column->depth - (column->text ? 1 : 0);

	return lists > 0 ? array->offsets[0][row] : row;
}

void
values_same_lengths(
    const struct reader *reader, const struct record *record, int column, int other)
{
	const int64_t *one = record->columns[column].offsets[0],
		      *two = record->columns[other].offsets[0];

	for (int64_t row = 0; row < record->rows; row++) {
		int64_t here = one[row + 1] - one[row], there = two[row + 1] - two[row];
		if (here != there)
			die("%s: record %lld: row %lld has %lld in %s and %lld in %s",
			    stream_name(reader), (long long)stream_records(reader),
			    (long long)row + 1, (long long)here,
			    stream_column(reader, column)->name, (long long)there,
			    stream_column(reader, other)->name);
	}
}

const char *
values_text(const struct column *column, const struct array *array, int64_t index,
    char room[VALUES_ROOM], size_t *length)
{
	if (column->text) {
		const int64_t *offsets = column_list_offsets(column, array);
		*length = (size_t)(offsets[index + 1] - offsets[index]);
		return (const char *)array->data + offsets[index];
	}
	if (column->dtype == DTYPE_I64) {
		int64_t value;
		memcpy(&value, (const char *)array->data + index * (int64_t)sizeof value,
		    sizeof value);
		*length = (size_t)snprintf(room, VALUES_ROOM, "%lld", (long long)value);
		return room;
	}
	double value = (double)tensor_number(array->data, column->dtype, index);
	bool single = dtype_is_float(column->dtype) && column->dtype != DTYPE_F64;
	*length = strlen(number_write(room, value, single));
	return room;
}

const char *
values_shown(const struct column *column, const struct array *array, int64_t index,
    char room[VALUES_ROOM], size_t *length)
{
	if (column->text || column->dtype != DTYPE_BOOL)
		return values_text(column, array, index, room, length);
	const char *word = ((const char *)array->data)[index] ? "true" : "false";
	*length = strlen(word);
	return word;
}

bool
values_missing(const struct column *column, const struct array *array, int64_t index)
{
	double value = 0;

	if (column->text) {
		const int64_t *offsets = column_list_offsets(column, array);
		return offsets[index + 1] == offsets[index];
	}
	if (dtype_is_float(column->dtype))
		value = (double)tensor_number(array->data, column->dtype, index);
	return isnan(value);
}

double
values_number(
    const struct reader *reader, int index, const struct array *array, int64_t at)
{
	const struct column *column = stream_column(reader, index);
	double value;

	if (!column->text)
		return (double)tensor_number(array->data, column->dtype, at);
	char room[VALUES_ROOM];
	size_t length;
	const char *text = values_text(column, array, at, room, &length);
	if (!number_read(text, length, &value))
		die("%s: record %lld: %s: '%.*s' is not a number", stream_name(reader),
		    (long long)stream_records(reader), column->name,
		    length < 60 ? (int)length : 60, text);
	return value;
}

static bool
is_finite(const float *vector, int width)
{
	/* x - x is 0 for finite x, else NaN; one sum instead of a branch per component */
	float sum = 0;

#pragma omp simd reduction(+ : sum)
	for (int i = 0; i < width; i++)
		sum += vector[i] - vector[i];
	return sum == 0;
}

void
values_refuse_nan(const struct reader *reader, int index, const struct array *array,
    int64_t at, const float *vector, int width)
{
	const struct column *column = stream_column(reader, index);
	int64_t row = at, first;

	if (is_finite(vector, width))
		return;
	for (int i = column->depth; i-- > 0;) {
		int64_t inner = row;
		for (row = 0; array->offsets[i][row + 1] <= inner; row++)
			;
	}
	first = row;
	for (int i = 0; i < column->depth; i++)
		first = array->offsets[i][first];
	char *which = column->depth
			  ? mem_format(": vector %lld", (long long)(at - first + 1))
			  : mem_string("");
	die("%s: record %lld: %s: row %lld%s is not finite (NaN or infinity); check the model that made it",
	    stream_name(reader), (long long)stream_records(reader), column->name,
	    (long long)row + 1, which);
}
