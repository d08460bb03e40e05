#include "search/texts_by_id.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/input.h"
#include "base/mem.h"
#include "stream/stream.h"
#include "stream/table.h"
#include "stream/values.h"
#include "token/text_field.h"

enum { ROWS = 1024, RECORD_BYTES = 64 << 20 };

struct texts_reading {
	struct row_texts *texts;
	struct text_field_list fields; /* one */
	const struct strings *ids;
	const bool *wanted;
	const char *name; /* of the input */
	const char *field;
};

static int
find(const struct column *columns, int count, const char *name)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(columns[i].name, name))
			return i;
	return -1;
}

/* The column of ids; dies if there is none. */
static int
find_ids(const struct texts_reading *reading, const struct column *columns, int count)
{
	int id = find(columns, count, "_id");

	if (id < 0)
		id = find(columns, count, "id");
	if (id < 0)
		die("%s: there is no '_id' or 'id', by which a run names the rows",
		    reading->name);
	const struct column *column = &columns[id];
	bool number = column->dtype == DTYPE_I64 && !column->rank && !column->depth;
	if (!number && (!column->text || column->depth != 1))
		die("%s: '%s' is neither a text nor an integer in each row",
		    reading->name, column->name);
	return id;
}

/* The field that was asked for, else "text", else "query". */
static struct text_field *
field_of(struct texts_reading *reading, bool has_text)
{
	const char *otherwise = has_text ? "text" : "query";

	if (!reading->fields.count)
		text_field_add(
		    &reading->fields, reading->field ? reading->field : otherwise);
	return reading->fields.items[0];
}

static void
take(struct texts_reading *reading, const struct column *columns, int count,
    const struct record *record)
{
	int id = find_ids(reading, columns, count);
	struct text_field *field = field_of(reading, find(columns, count, "text") >= 0);

	text_field_find(field, reading->name, columns, count);
	if (columns[field->columns[0]].depth != 1)
		die("%s: '%s' has lists of texts; one text a row is expected",
		    reading->name, field->name);
	struct array texts = text_field_texts(field, record);
	for (int64_t row = 0; row < record->rows; row++) {
		char digits[VALUES_ROOM];
		size_t length;
		const char *own =
		    values_text(&columns[id], &record->columns[id], row, digits, &length);
		int64_t number = strings_find(reading->ids, own, length);
		const int64_t *offsets = texts.offsets[0] + row;
		if (number >= 0 && reading->wanted[number])
			row_texts_put(reading->texts, number,
			    (const char *)texts.data + offsets[0],
			    (size_t)(offsets[1] - offsets[0]));
	}
}

/* Dies if a record of a text file has no text. */
static void
look(void *context, const struct datafile *file, const struct tree *record)
{
	struct texts_reading *reading = context;

	text_field_check(field_of(reading, tree_get(record, "text")), datafile_name(file),
	    datafile_line(file), record);
}

static void
read_table(struct texts_reading *reading, struct input *input)
{
	struct datafile *file = datafile_open_input(input, DATAFILE_GUESS);
	struct table *table = table_open(file);
	struct record record;

	table_watch(table, look, reading);
	while (table_next(table, ROWS, RECORD_BYTES, &record)) {
		int count = table_columns(table);
		struct column *columns = mem_new((size_t)count, sizeof *columns);
		for (int i = 0; i < count; i++)
			columns[i] = *table_column(table, i);
		take(reading, columns, count, &record);
		free(columns);
	}
	datafile_warn_repaired(file);
	table_close(table);
}

static void
read_stream(struct texts_reading *reading, struct input *input)
{
	struct reader *reader = stream_open_input(input);
	struct record record;

	while (stream_next(reader, &record))
		take(reading, stream_column(reader, 0), stream_columns(reader), &record);
	stream_close(reader);
}

static void
demand_all(const struct texts_reading *reading, const char *what)
{
	int64_t missing = 0, first = 0, all = 0;

	for (int64_t i = strings_count(reading->ids) - 1; i >= 0; i--) {
		all += reading->wanted[i];
		if (!reading->wanted[i] || row_texts_get(reading->texts, i))
			continue;
		missing++;
		first = i;
	}
	if (missing)
		die("%s: %lld of the run's %lld %s have no text there; first: '%.60s'",
		    reading->name, (long long)missing, (long long)all, what,
		    strings_get(reading->ids, first));
}

void
texts_by_id(struct row_texts *texts, const char *path, const char *field,
    const struct strings *ids, const bool *wanted, const char *what)
{
	struct input *input = input_open(path);
	char *name = mem_string(input_name(input));
	struct texts_reading reading = {
		.texts = texts, .ids = ids, .wanted = wanted, .name = name, .field = field
	};

	if (stream_is(input))
		read_stream(&reading, input);
	else
		read_table(&reading, input);
	demand_all(&reading, what);
	text_field_list_free(&reading.fields);
	free(name);
}
