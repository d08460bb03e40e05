#include "papers/moee/rank_correlation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strings.h"
#include "score/measure/correlation.h"
#include "score/measure/stats.h"
#include "score/per_query.h"
#include "stream/stream.h"
#include "stream/values.h"
#include "text/lines.h"

/* The numbers of a file. */
struct list {
	const char *path;
	char *name;
	int block;
	struct strings *ids;
	double *values; /* [ids] */
	size_t capacity;
};

struct matrix {
	struct list *lists;
	int count, blocks;
	char **block_names;
	double *rho; /* [count,count] */
};

static void
take_record(
    struct list *list, struct reader *reader, const struct record *record, int column)
{
	char room[VALUES_ROOM];

	for (int64_t row = 0; row < record->rows; row++) {
		int64_t at = strings_count(list->ids);
		bool fresh;
		size_t length;
		const char *id = per_query_id(reader, record, row, at + 1, room, &length);
		strings_add(list->ids, id, length, &fresh);
		if (!fresh)
			die("%s: the id '%.*s' occurs again", list->path,
			    length < 100 ? (int)length : 100, id);
		list->values = mem_grow(
		    list->values, &list->capacity, (size_t)at + 1, sizeof *list->values);
		list->values[at] =
		    values_number(reader, column, &record->columns[column], row);
	}
}

static void
read_stream(struct list *list, struct input *input, const char *wanted)
{
	struct reader *reader = stream_open_input(input);
	int column = stream_find(reader, wanted);
	struct record record;

	if (column < 0)
		stream_lacks(reader, wanted);
	values_single(reader, column, 0);
	list->ids = strings_new();
	while (stream_next(reader, &record))
		take_record(list, reader, &record, column);
	stream_close(reader);
}

static void
read_table(struct list *list, struct input *input, const char *wanted)
{
	struct per_query *table = per_query_read_input(input);
	char *names = NULL;

	for (int i = 0; i < table->count && !list->values; i++) {
		struct per_query_column *column = &table->columns[i];
		names = mem_list(names, column->name);
		if (strcmp(column->name, wanted) != 0)
			continue;
		list->values = column->values.at;
		list->ids = table->ids;
		column->values.at = NULL;
		table->ids = strings_new();
	}
	if (!list->values)
		die("%s: there is no column '%s', only: %s; choose one with --column",
		    list->path, wanted, names);
	free(names);
	per_query_free(table);
}

/* Sets the file's name without suffix, and the block of its folder. */
static void
name(struct matrix *matrix, struct list *list)
{
	const char *slash = strrchr(list->path, '/');
	const char *base = slash ? slash + 1 : list->path;
	const char *end = strrchr(base, '.');
	char *folder = slash ? mem_format("%.*s", (int)(slash - list->path), list->path)
			     : mem_string(".");

	list->name = end && end > base
			 ? mem_format("%.*s", (int)(end - list->path), list->path)
			 : mem_string(list->path);
	while (list->block < matrix->blocks &&
	       strcmp(matrix->block_names[list->block], folder) != 0)
		list->block++;
	if (list->block == matrix->blocks)
		matrix->block_names[matrix->blocks++] = mem_string(folder);
	free(folder);
}

/* Sorts the values in the order of the first list's ids. */
static void
sort_like(struct list *list, const struct list *first)
{
	int64_t rows = strings_count(first->ids);
	double *values = mem_new((size_t)rows + 1, sizeof *values);

	if (strings_count(list->ids) != rows)
		die("%s: it has %lld rows, %s %lld; compare the same pairs", list->path,
		    (long long)strings_count(list->ids), first->path, (long long)rows);
	for (int64_t i = 0; i < rows; i++) {
		int64_t at = strings_find(
		    list->ids, strings_get(first->ids, i), strings_length(first->ids, i));
		if (at < 0)
			die("%s: there is no row '%.100s', but in %s", list->path,
			    strings_get(first->ids, i), first->path);
		values[i] = list->values[at];
	}
	free(list->values);
	list->values = values;
}

static void
check(const struct list *list)
{
	int64_t rows = strings_count(list->ids);

	if (rows < 2)
		die("%s: %lld row%s; ranks are those of two at least", list->path,
		    (long long)rows, rows == 1 ? "" : "s");
	for (int64_t i = 0; i < rows; i++)
		if (!isfinite(list->values[i]))
			die("%s: row '%.100s': %g has no rank", list->path,
			    strings_get(list->ids, i), list->values[i]);
	if (stats_constant(list->values, rows))
		die("%s: all its %lld numbers are equal: they rank nothing", list->path,
		    (long long)rows);
}

static struct matrix
read_all(const char *const *paths, int count, const char *column)
{
	struct matrix matrix = { .count = count };

	matrix.lists = mem_zero((size_t)count, sizeof *matrix.lists);
	matrix.block_names = mem_new((size_t)count, sizeof *matrix.block_names);
	matrix.rho = mem_new((size_t)count, (size_t)count * sizeof *matrix.rho);
	for (int i = 0; i < count; i++) {
		struct list *list = &matrix.lists[i];
		struct input *input = input_open(paths[i]);
		list->path = paths[i];
		name(&matrix, list);
		(stream_is(input) ? read_stream : read_table)(list, input, column);
		check(list);
		sort_like(list, &matrix.lists[0]);
		for (int j = 0; j <= i; j++)
			matrix.rho[i * count + j] = matrix.rho[j * count + i] =
			    correlation_spearman(list->values, matrix.lists[j].values,
				strings_count(list->ids));
	}
	return matrix;
}

static void
print_matrix(const struct matrix *matrix)
{
	const struct lines lines = { stdout, false, 1 };
	size_t size = (size_t)matrix->count;
	const char **heads = mem_zero(size + 2, sizeof *heads);

	heads[0] = "name";
	for (int i = 0; i < matrix->count; i++)
		heads[1 + i] = matrix->lists[i].name;
	lines_head(&lines, heads);
	for (int i = 0; i < matrix->count; i++)
		lines_put(&lines, (const char *const[]){ matrix->lists[i].name },
		    matrix->rho + i * matrix->count, NULL, matrix->count);
	free(heads);
}

static void
print_block(const struct matrix *matrix, int a, int b)
{
	double pairs = 0, sum = 0, least = INFINITY, greatest = -INFINITY;

	for (int i = 0; i < matrix->count; i++)
		for (int j = a == b ? i + 1 : 0; j < matrix->count; j++) {
			double rho = matrix->rho[i * matrix->count + j];
			if (matrix->lists[i].block != a || matrix->lists[j].block != b)
				continue;
			pairs++;
			sum += rho;
			least = fmin(least, rho);
			greatest = fmax(greatest, rho);
		}
	if (pairs == 0)
		least = greatest = NAN;
	lines_put(&(const struct lines){ stdout, false, 2 },
	    (const char *const[]){ matrix->block_names[a], matrix->block_names[b] },
	    (double[]){ pairs, pairs ? sum / pairs : NAN, least, greatest }, NULL, 4);
}

static void
print_blocks(const struct matrix *matrix)
{
	static const char *const heads[] = { "a", "b", "pairs", "mean", "min", "max",
		NULL };

	lines_head(&(const struct lines){ stdout, false, 2 }, heads);
	for (int a = 0; a < matrix->blocks; a++)
		for (int b = a; b < matrix->blocks; b++)
			print_block(matrix, a, b);
}

void
rank_correlation_print(
    const char *const *paths, int count, const struct rank_correlation_options *options)
{
	struct matrix matrix =
	    read_all(paths, count, options->column ? options->column : "similarity");

	(options->blocks ? print_blocks : print_matrix)(&matrix);
	for (int i = 0; i < count; i++) {
		free(matrix.lists[i].name);
		free(matrix.lists[i].values);
		strings_free(matrix.lists[i].ids);
	}
	for (int i = 0; i < matrix.blocks; i++)
		free(matrix.block_names[i]);
	free(matrix.lists);
	free(matrix.block_names);
	free(matrix.rho);
}
