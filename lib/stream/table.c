#include "stream/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "stream/kinds.h"
#include "stream/stream_format.h"
#include "text/json.h"

struct table_field {
	struct column column; /* its name is owned */
	bool json;	      /* values other than strings become JSON text */
	unsigned seen;
	struct buffer bytes;
	struct numbers offsets[STREAM_DEPTH];
};

struct table {
	struct datafile *file;
	bool decided;
	table_look *look;
	void *context;
	const char **numbers; /* names of the fields of table_number */
	size_t number_count, number_capacity;
	struct table_field *fields;
	size_t count, capacity;
	struct tree *sample[TABLE_SAMPLE];  /* copies of the first records */
	int64_t sample_lines[TABLE_SAMPLE]; /* their lines */
	size_t sampled, taken;
	bool hurried;	      /* the input paused before the sample was complete */
	int64_t stored;	      /* rows of all records */
	double since;	      /* time at which the first waiting row was read */
	double patience;      /* seconds that it waits for others */
	double paused;	      /* time of the last pause */
	struct numbers lines; /* of the rows */
	struct array *arrays; /* [count] */
	int64_t rows;
};

struct table *
table_open(struct datafile *file)
{
	struct table *table = mem_zero(1, sizeof *table);

	table->file = file;
	table->patience = TABLE_PATIENCE;
	return table;
}

void
table_number(struct table *table, const char *name)
{
	table->numbers = mem_grow(table->numbers, &table->number_capacity,
	    table->number_count + 1, sizeof *table->numbers);
	table->numbers[table->number_count++] = name;
}

void
table_watch(struct table *table, table_look *look, void *context)
{
	table->look = look;
	table->context = context;
}

/* Whether the next row would be in the sample if the input were a file. */
static bool
in_sample(const struct table *table)
{
	return table->hurried && table->stored < TABLE_SAMPLE;
}

_Noreturn static void
fail(const struct table *table, const struct table_field *field, int64_t line,
    const char *what)
{
	die("%s:%lld: field '%s': %s%s", datafile_name(table->file), (long long)line,
	    field->column.name, what,
	    in_sample(table)
		? " (a pause of the input decided on the columns early; a file would not)"
		: "");
}

/* Inference. ----------------------------------------------------------------------- */

static struct table_field *
find(const struct table *table, const char *name, size_t guess)
{
	if (guess < table->count && !strcmp(table->fields[guess].column.name, name))
		return &table->fields[guess];
	for (size_t i = 0; i < table->count; i++)
		if (!strcmp(table->fields[i].column.name, name))
			return &table->fields[i];
	return NULL;
}

/* A stream would refuse them in the end; until then each row's would be looked for among all that came before. */
static struct table_field *
add_field(struct table *table, const char *name)
{
	if (table->count == STREAM_COLUMNS)
		die("%s:%lld: more than %d fields; a stream has at most so many columns",
		    datafile_name(table->file), (long long)datafile_line(table->file),
		    STREAM_COLUMNS);
	table->fields = mem_grow(
	    table->fields, &table->capacity, table->count + 1, sizeof *table->fields);
	struct table_field *field = &table->fields[table->count++];
	*field = (struct table_field){ .column.name = mem_string(name) };
	const char *fault = column_fault(&field->column);
	if (fault)
		fail(table, field, datafile_line(table->file), fault);
	return field;
}

static void
look_at_object(struct table *table, const struct tree *object)
{
	for (size_t i = 0; i < object->count; i++) {
		struct table_field *field = find(table, object->items[i]->key, i);
		if (!field)
			field = add_field(table, object->items[i]->key);
		field->seen |= kinds_of(object->items[i]);
	}
}

/* Whether the rows read have waited long enough for the next one.  A writer that wants an answer sends nothing before
 * it comes: after a wait in vain the next one is shorter. */
static bool
pauses(struct table *table)
{
	static const double least = 1e-3;

	if (!datafile_waits(table->file, table->since + table->patience))
		return false;
	table->paused = clock_now();
	table->patience = table->patience > least ? table->patience / 4 : 0;
	return true;
}

/* Notes that the first row of a record was read.  One that comes sooner after a pause than any answer is one of many. */
static void
begin_waiting(struct table *table)
{
	static const double soon = 2e-3;

	table->since = clock_now();
	if (table->since - table->paused < soon)
		table->patience = TABLE_PATIENCE;
}

/* Storing. ------------------------------------------------------------------------- */

static void
put_offset(struct numbers *offsets, size_t value)
{
	numbers_add(offsets, (int64_t)value);
}

static void
put_boolean(const struct table *table, struct table_field *field,
    const struct tree *value, int64_t line)
{
	if (!value || value->kind != TREE_BOOL)
		fail(
		    table, field, line, "not true or false, as the values before it are");
	buffer_add(&field->bytes, &(char){ value->boolean }, 1);
}

static void
put_number(const struct table *table, struct table_field *field, const struct tree *value,
    int64_t line)
{
	bool nothing = tree_is_missing(value);

	if (!nothing && value->kind != TREE_INTEGER && value->kind != TREE_REAL)
		fail(table, field, line, "not a number, as the values before it are");
	if (!nothing && (kinds_is_wide(value) ||
			    (field->column.dtype == DTYPE_F64 && kinds_is_long(value))))
		fail(table, field, line,
		    "an integer with more digits than the column of numbers keeps; write it as a string, and so those before it");
	if (field->column.dtype == DTYPE_F64)
		buffer_add(&field->bytes, nothing ? &(double){ NAN } : &value->real,
		    sizeof(double));
	else if (nothing || value->kind == TREE_REAL)
		fail(table, field, line,
		    nothing ? "null or absent where whole numbers were before"
			    : "a real where whole numbers were before");
	else
		buffer_add(&field->bytes, &value->integer, sizeof value->integer);
}

static void
put_item(const struct table *table, struct table_field *field, const struct tree *item,
    int64_t line)
{
	if (field->column.text) {
		if (item->kind != TREE_STRING)
			fail(table, field, line,
			    "an element is not a string, as those before it are");
		buffer_add(&field->bytes, item->string, item->length);
		put_offset(&field->offsets[1], field->bytes.used);
	} else if (field->column.dtype == DTYPE_BOOL) {
		put_boolean(table, field, item, line);
	} else {
		if (!tree_is_missing(item) && item->kind != TREE_INTEGER &&
		    item->kind != TREE_REAL)
			fail(table, field, line,
			    "an element is not a number, as those before it are");
		put_number(table, field, item, line);
	}
}

static void
put_list(const struct table *table, struct table_field *field, const struct tree *value,
    int64_t line)
{
	bool nothing = tree_is_missing(value);

	if (!nothing && value->kind != TREE_LIST)
		fail(table, field, line, "not a list, as the values before it are");
	for (size_t i = 0; !nothing && i < value->count; i++)
		put_item(table, field, value->items[i], line);
	put_offset(&field->offsets[0],
	    field->column.text ? field->offsets[1].count - 1
			       : field->bytes.used / dtype_size(field->column.dtype));
}

static void
put_text(const struct table *table, struct table_field *field, const struct tree *value,
    int64_t line)
{
	bool nothing = tree_is_missing(value);

	if (!nothing && in_sample(table))
		field->seen |= kinds_of(value);
	if (!nothing && value->kind == TREE_STRING) {
		buffer_add(&field->bytes, value->string, value->length);
	} else if (!nothing) {
		field->json |= in_sample(table) && (field->seen & SEEN_STRING);
		if (!field->json)
			fail(table, field, line,
			    "not a string, as the values before it are");
		char *text = json_text(value, 0);
		buffer_add(&field->bytes, text, strlen(text));
		free(text);
	}
	put_offset(&field->offsets[0], field->bytes.used);
}

static void
put_value(const struct table *table, struct table_field *field, const struct tree *value,
    int64_t line)
{
	if (field->column.text && field->column.depth == 1)
		put_text(table, field, value, line);
	else if (field->column.depth)
		put_list(table, field, value, line);
	else if (field->column.dtype == DTYPE_BOOL)
		put_boolean(table, field, value, line);
	else
		put_number(table, field, value, line);
}

static const struct tree *
value_of(const struct tree *object, const char *name, size_t guess)
{
	if (guess < object->count && !strcmp(object->items[guess]->key, name))
		return object->items[guess];
	for (size_t i = 0; i < object->count; i++)
		if (!strcmp(object->items[i]->key, name))
			return object->items[i];
	return NULL;
}

static void
put_object(struct table *table, const struct tree *object, int64_t line)
{
	size_t met = 0;

	for (size_t i = 0; i < table->count; i++) {
		struct table_field *field = &table->fields[i];
		const struct tree *value = value_of(object, field->column.name, i);
		met += value != NULL;
		if (value && value->repeated)
			fail(table, field, line, "is given twice, with different values");
		put_value(table, field, value, line);
	}
	for (size_t i = 0; met < object->count; i++)
		if (!find(table, object->items[i]->key, i))
			die("%s:%lld: field '%s' appears here for the first time, too late to become a column; let the first %d records have it, if only as null",
			    datafile_name(table->file), (long long)line,
			    object->items[i]->key, (int)table->sampled);
	put_offset(&table->lines, (size_t)line);
	table->rows++;
	table->stored++;
}

/* Reading. ------------------------------------------------------------------------- */

_Noreturn static void
die_number(const struct table *table, const char *name, const struct tree *value,
    const char *what)
{
	die("%s:%lld: field '%s': '%.60s' is %s", datafile_name(table->file),
	    (long long)datafile_line(table->file), name, value->string, what);
}

/* Turns the strings of the fields of table_number into numbers, the empty string into null. */
static void
read_numbers(const struct table *table, struct tree *object)
{
	for (size_t i = 0; i < table->number_count; i++) {
		const char *name = table->numbers[i];
		const struct tree *value = tree_get(object, name);
		int64_t whole;
		double real;
		if (value && (value->kind == TREE_BOOL || value->kind >= TREE_LIST))
			die("%s:%lld: field '%s' is no number, nor the text of one",
			    datafile_name(table->file),
			    (long long)datafile_line(table->file), name);
		if (!value || value->kind != TREE_STRING)
			continue;
		if (!value->length)
			tree_set(object, name, tree_of_null());
		else if (number_read_whole(value->string, value->length, &whole))
			tree_set(object, name, tree_of_integer(whole));
		else if (!number_read(value->string, value->length, &real))
			die_number(table, name, value, "not a number");
		else if (!strpbrk(value->string, ".eE"))
			die_number(
			    table, name, value, "beyond 64 bits; leave the column text");
		else
			tree_set(object, name, tree_of_real(real));
	}
}

static const struct tree *
next_object(struct table *table)
{
	struct tree *object = datafile_next(table->file);

	if (object && table->look)
		table->look(table->context, table->file, object);
	if (object)
		read_numbers(table, object);
	return object;
}

/* Reads the sample and decides the columns' types. */
static void
decide_columns(struct table *table)
{
	const struct tree *object;

	table->decided = true;
	while (table->sampled < TABLE_SAMPLE && !table->hurried &&
	       (object = next_object(table))) {
		look_at_object(table, object);
		table->sample_lines[table->sampled] = datafile_line(table->file);
		table->sample[table->sampled++] = tree_copy(object);
		if (table->sampled == 1)
			begin_waiting(table);
		table->hurried = table->sampled < TABLE_SAMPLE && pauses(table);
	}
	for (size_t f = 0; f < table->count; f++) {
		struct table_field *field = &table->fields[f];
		for (size_t i = 0; i < table->sampled; i++)
			if (!value_of(table->sample[i], field->column.name, f))
				field->seen |= SEEN_NOTHING;
		field->json = kinds_decide(field->seen, &field->column);
	}
	for (size_t i = 0; i < table->number_count && table->sampled; i++) {
		const struct table_field *field = find(table, table->numbers[i], 0);
		if (!field)
			die("%s: there is no field '%s'", datafile_name(table->file),
			    table->numbers[i]);
		if (field->column.text && (field->seen & SEEN_LONG))
			die("%s: field '%s': integers of more than 15 digits, and empty values or reals beside them, are exact only as text; leave it out of the numbers",
			    datafile_name(table->file), table->numbers[i]);
	}
	table->arrays = mem_zero(table->count, sizeof *table->arrays);
}

static void
drop_sample(struct table *table)
{
	for (; table->taken < table->sampled; table->taken++)
		tree_free(table->sample[table->taken]);
}

void
table_seek(struct table *table, int64_t from, int64_t to)
{
	decide_columns(table);
	drop_sample(table);
	datafile_seek(table->file, from, to, 1);
}

static void
start_rows(struct table *table)
{
	table->rows = 0;
	table->lines.count = 0;
	for (size_t i = 0; i < table->count; i++) {
		struct table_field *field = &table->fields[i];
		field->bytes.used = 0;
		for (int d = 0; d < STREAM_DEPTH; d++) {
			field->offsets[d].count = 0;
			put_offset(&field->offsets[d], 0);
		}
	}
}

static int64_t
bytes_held(const struct table *table)
{
	size_t bytes = 0;

	for (size_t i = 0; i < table->count; i++)
		bytes += table->fields[i].bytes.used;
	return (int64_t)bytes;
}

/* Appends the next row; returns false at the end and if the input pauses. */
static bool
put_next(struct table *table)
{
	if (table->taken < table->sampled) {
		struct tree **object = &table->sample[table->taken];
		put_object(table, *object, table->sample_lines[table->taken++]);
		tree_free(*object);
		*object = NULL;
		return true;
	}
	if (table->rows && pauses(table))
		return false;
	const struct tree *object = next_object(table);
	if (object)
		put_object(table, object, datafile_line(table->file));
	if (table->rows == 1)
		begin_waiting(table);
	return object;
}

bool
table_next(struct table *table, int64_t rows, int64_t bytes, struct record *record)
{
	if (!table->decided)
		decide_columns(table);
	start_rows(table);
	while (table->rows < rows && (!table->rows || bytes_held(table) < bytes))
		if (!put_next(table))
			break;
	for (size_t i = 0; i < table->count; i++) {
		const struct table_field *field = &table->fields[i];
		table->arrays[i] = (struct array){ .data = field->bytes.data };
		for (int d = 0; d < field->column.depth; d++)
			table->arrays[i].offsets[d] = field->offsets[d].data;
	}
	*record = (struct record){ table->rows, NULL, table->arrays };
	return table->rows > 0;
}

int
table_columns(const struct table *table)
{
	return (int)table->count;
}

const struct column *
table_column(const struct table *table, int index)
{
	return &table->fields[index].column;
}

int64_t
table_line(const struct table *table, int64_t row)
{
	return table->lines.data[row];
}

const struct datafile *
table_file(const struct table *table)
{
	return table->file;
}

void
table_close(struct table *table)
{
	if (!table)
		return;
	drop_sample(table);
	for (size_t i = 0; i < table->count; i++) {
		free((char *)table->fields[i].column.name);
		free(table->fields[i].bytes.data);
		for (int d = 0; d < STREAM_DEPTH; d++)
			free(table->fields[i].offsets[d].data);
	}
	datafile_close(table->file);
	free(table->lines.data);
	free(table->arrays);
	free(table->numbers);
	free(table->fields);
	free(table);
}
