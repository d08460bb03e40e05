#include "score/per_query.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/output.h"
#include "text/datafile.h"
#include "text/tsv.h"

struct per_query *
per_query_create(const char *path)
{
	struct per_query *table = mem_zero(1, sizeof *table);

	table->ids = strings_new();
	table->output = output_open(path, false);
	return table;
}

void
per_query_add(struct per_query *table, const char *id, size_t length)
{
	bool fresh;

	if (!table)
		return;
	const char *name = output_name(table->output);
	int64_t number = strings_add(table->ids, id, length, &fresh);

	id = strings_get(table->ids, number); /* ends with a NUL */
	tsv_check_name(name, "id", id, length, "a table");
	if (!fresh)
		die("%s: the id '%.100s' occurs again; each query needs an id of its own: rename it",
		    name, id);
}

const char *
per_query_id(struct reader *reader, const struct record *record, int64_t row,
    int64_t number, char room[VALUES_ROOM], size_t *length)
{
	static const char *const names[] = { "_id", "id", NULL };
	int column = record ? values_find(reader, names) : -1;

	if (column < 0) {
		*length = (size_t)snprintf(room, VALUES_ROOM, "%lld", (long long)number);
		return room;
	}
	values_single(reader, column, 0);
	return values_text(
	    stream_column(reader, column), &record->columns[column], row, room, length);
}

void
per_query_add_row(struct per_query *table, struct reader *reader,
    const struct record *record, int64_t row, int64_t number)
{
	char room[VALUES_ROOM];
	size_t length;

	if (!table)
		return;
	const char *id = per_query_id(reader, record, row, number, room, &length);
	per_query_add(table, id, length);
}

static struct per_query_column *
new_column(struct per_query *table, const char *name)
{
	table->columns =
	    mem_resize(table->columns, (size_t)table->count + 1, sizeof *table->columns);
	struct per_query_column *column = &table->columns[table->count++];
	*column = (struct per_query_column){ mem_string(name), { 0 } };
	return column;
}

void
per_query_column(struct per_query *table, const double *values, const char *format, ...)
{
	va_list arguments;
	char name[256];

	if (!table)
		return;
	va_start(arguments, format);
	vsnprintf(name, sizeof name, format, arguments);
	va_end(arguments);
	struct per_query_column *column = new_column(table, name);
	for (int64_t i = 0; i < strings_count(table->ids); i++)
		series_add(&column->values, values[i]);
}

static void
put(struct per_query *table, const char *text)
{
	output_write(table->output, text, strlen(text));
}

void
per_query_finish(struct per_query *table)
{
	char room[NUMBER_ROOM];

	put(table, "id");
	for (int i = 0; i < table->count; i++) {
		put(table, "\t");
		put(table, table->columns[i].name);
	}
	put(table, "\n");
	for (int64_t row = 0; row < strings_count(table->ids); row++) {
		put(table, strings_get(table->ids, row));
		for (int i = 0; i < table->count; i++) {
			double value =
			    table->columns[i].values.at[row] + 0; /* prints -0 as 0 */
			put(table, "\t");
			put(table,
			    isnan(value) ? "nan" : number_write(room, value, false));
		}
		put(table, "\n");
	}
	output_finish(table->output);
	per_query_free(table);
}

static double
number(const struct datafile *file, const struct tree *cell)
{
	double value = NAN;

	if (strcmp(cell->string, "nan") != 0 &&
	    !number_read(cell->string, cell->length, &value))
		die("%s:%lld: %s: '%.100s' is not a number", datafile_name(file),
		    (long long)datafile_line(file), cell->key, cell->string);
	return value;
}

struct per_query *
per_query_read(const char *path)
{
	return per_query_read_input(input_open(path));
}

struct per_query *
per_query_read_input(struct input *input)
{
	struct per_query *table = mem_zero(1, sizeof *table);
	struct datafile *file = datafile_open_input(input, DATAFILE_TSV);
	const struct tree *row;
	bool fresh;

	table->ids = strings_new();
	while ((row = datafile_next(file))) {
		const struct tree *id = row->items[0];
		int64_t at = strings_add(table->ids, id->string, id->length, &fresh);
		if (!fresh)
			die("%s:%lld: the id '%.100s' occurs again", datafile_name(file),
			    (long long)datafile_line(file), id->string);
		for (size_t i = 1; at == 0 && i < row->count; i++)
			new_column(table, row->items[i]->key);
		for (size_t i = 1; i < row->count; i++)
			series_add(
			    &table->columns[i - 1].values, number(file, row->items[i]));
	}
	if (!table->count)
		die("%s: there are no scores in it; expected what --per-query writes",
		    datafile_name(file));
	datafile_warn_repaired(file);
	datafile_close(file);
	return table;
}

int
per_query_find(const struct per_query *table, const char *name)
{
	for (int i = 0; i < table->count; i++)
		if (!strcmp(table->columns[i].name, name))
			return i;
	return -1;
}

void
per_query_free(struct per_query *table)
{
	for (int i = 0; i < table->count; i++) {
		free(table->columns[i].name);
		free(table->columns[i].values.at);
	}
	free(table->columns);
	strings_free(table->ids);
	free(table);
}
