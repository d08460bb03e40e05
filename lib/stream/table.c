#include "stream/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "text/json.h"

/* What the sample shows of a field: the kinds of its values, and of the elements of its lists. */
enum {
	SEEN_NOTHING = 1, /* null or absent */
	SEEN_STRING = 2,
	SEEN_INTEGER = 4,
	SEEN_REAL = 8,
	SEEN_BOOL = 16,
	SEEN_LIST = 32,
	SEEN_NESTED = 64,
	SEEN_KINDS = 126, /* all but the first */
	ITEM_STRING = 128,
	ITEM_INTEGER = 256,
	ITEM_REAL = 512,
	ITEM_BOOL = 1024
};

struct field {
	struct column column; /* its name is owned */
	bool json;	      /* values that are no strings become JSON text */
	unsigned seen;
	struct buffer bytes;
	struct numbers offsets[STREAM_DEPTH];
};

struct table {
	struct datafile *file;
	bool settled;
	table_look *look;
	void *context;
	const char **numbers; /* names of the fields whose strings are numbers */
	size_t number_count, number_capacity;
	struct field *fields;
	size_t count, capacity;
	struct tree *sample[TABLE_SAMPLE];  /* copies of the first records, */
	int64_t sample_lines[TABLE_SAMPLE]; /* and their lines */
	size_t sampled, taken;
	bool hurried;	/* the input paused before the sample was whole */
	int64_t stored; /* rows, of all records */
	double since;	/* when the first row was read of those that wait for others */
	struct numbers lines; /* of the rows */
	struct array *arrays; /* [count] */
	int64_t rows;
};

struct table *
table_open(struct datafile *file)
{
	struct table *table = mem_zero(1, sizeof *table);

	table->file = file;
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

/* Whether the next row had a say in the columns, were this a file. */
static bool
in_sample(const struct table *table)
{
	return table->hurried && table->stored < TABLE_SAMPLE;
}

_Noreturn static void
fail(const struct table *table, const struct field *field, int64_t line, const char *what)
{
	die("%s:%lld: field '%s': %s%s", datafile_name(table->file), (long long)line,
	    field->column.name, what,
	    in_sample(table) ? " (a pause of the input decided on the columns early; a "
			       "file would not)"
			     : "");
}

/* Looking. ------------------------------------------------------------------------- */

static unsigned
look(const struct tree *value)
{
	unsigned seen = SEEN_LIST;

	switch (value->kind) {
	case TREE_NULL: return SEEN_NOTHING;
	case TREE_BOOL: return SEEN_BOOL;
	case TREE_INTEGER: return SEEN_INTEGER;
	case TREE_REAL: return SEEN_REAL;
	case TREE_OBJECT: return SEEN_NESTED;
	case TREE_STRING: return SEEN_STRING;
	default: break;
	}
	for (size_t i = 0; i < value->count; i++)
		switch (value->items[i]->kind) {
		case TREE_STRING: seen |= ITEM_STRING; break;
		case TREE_INTEGER: seen |= ITEM_INTEGER; break;
		case TREE_REAL: seen |= ITEM_REAL; break;
		case TREE_BOOL: seen |= ITEM_BOOL; break;
		default: return SEEN_NESTED;
		}
	return seen;
}

static struct field *
find(const struct table *table, const char *name, size_t guess)
{
	if (guess < table->count && !strcmp(table->fields[guess].column.name, name))
		return &table->fields[guess];
	for (size_t i = 0; i < table->count; i++)
		if (!strcmp(table->fields[i].column.name, name))
			return &table->fields[i];
	return NULL;
}

static struct field *
add_field(struct table *table, const char *name)
{
	table->fields = mem_grow(
	    table->fields, &table->capacity, table->count + 1, sizeof *table->fields);
	struct field *field = &table->fields[table->count++];
	*field = (struct field){ .column.name = mem_string(name) };
	return field;
}

static void
look_at_object(struct table *table, const struct tree *object)
{
	for (size_t i = 0; i < object->count; i++) {
		struct field *field = find(table, object->items[i]->key, i);
		if (!field)
			field = add_field(table, object->items[i]->key);
		field->seen |= look(object->items[i]);
	}
}

/* Whether the rows that are read must wait no longer for the next one. */
static bool
pauses(const struct table *table)
{
	return datafile_waits(table->file, table->since + TABLE_PATIENCE);
}

/* Deciding. ------------------------------------------------------------------------ */

static void
set_kind(struct field *field, enum dtype dtype, bool text, int depth)
{
	field->column.dtype = dtype;
	field->column.text = text;
	field->column.depth = depth;
}

/* No bits but these. */
static bool
only(unsigned seen, unsigned bits)
{
	return !(seen & ~bits);
}

static void
decide_list(struct field *field)
{
	unsigned seen =
	    field->seen & (ITEM_STRING | ITEM_INTEGER | ITEM_REAL | ITEM_BOOL);

	field->json = false;
	if (only(seen, ITEM_STRING))
		set_kind(field, DTYPE_U8, true, 2);
	else if (only(seen, ITEM_INTEGER | ITEM_REAL))
		set_kind(field, seen & ITEM_REAL ? DTYPE_F64 : DTYPE_I64, false, 1);
	else if (only(seen, ITEM_BOOL))
		set_kind(field, DTYPE_BOOL, false, 1);
	else
		field->json = true;
}

static void
decide(struct field *field)
{
	unsigned seen = field->seen, kind = seen & SEEN_KINDS;
	bool nothing = seen & SEEN_NOTHING;

	field->json = !only(kind, SEEN_STRING);
	set_kind(field, DTYPE_U8, true, 1);
	if (kind && only(kind, SEEN_INTEGER | SEEN_REAL)) {
		bool whole = kind == SEEN_INTEGER && !nothing;
		set_kind(field, whole ? DTYPE_I64 : DTYPE_F64, false, 0);
	} else if (kind == SEEN_BOOL && !nothing) {
		set_kind(field, DTYPE_BOOL, false, 0);
	} else if (kind == SEEN_LIST) {
		decide_list(field);
	}
}

/* Storing. ------------------------------------------------------------------------- */

static void
put_offset(struct numbers *offsets, size_t value)
{
	numbers_add(offsets, (int64_t)value);
}

static void
put_boolean(const struct table *table, struct field *field, const struct tree *value,
    int64_t line)
{
	if (!value || value->kind != TREE_BOOL)
		fail(
		    table, field, line, "not true or false, as the values before it are");
	buffer_add(&field->bytes, &(char){ value->boolean }, 1);
}

static void
put_number(const struct table *table, struct field *field, const struct tree *value,
    int64_t line)
{
	bool nothing = !value || value->kind == TREE_NULL;

	if (!nothing && value->kind != TREE_INTEGER && value->kind != TREE_REAL)
		fail(table, field, line, "not a number, as the values before it are");
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
put_item(
    const struct table *table, struct field *field, const struct tree *item, int64_t line)
{
	if (field->column.text) {
		if (item->kind != TREE_STRING)
			fail(table, field, line,
			    "an element is no string, as those before it are");
		buffer_add(&field->bytes, item->string, item->length);
		put_offset(&field->offsets[1], field->bytes.used);
	} else if (field->column.dtype == DTYPE_BOOL) {
		put_boolean(table, field, item, line);
	} else {
		if (item->kind != TREE_INTEGER && item->kind != TREE_REAL)
			fail(table, field, line,
			    "an element is no number, as those before it are");
		put_number(table, field, item, line);
	}
}

static void
put_list(const struct table *table, struct field *field, const struct tree *value,
    int64_t line)
{
	bool nothing = !value || value->kind == TREE_NULL;

	if (!nothing && value->kind != TREE_LIST)
		fail(table, field, line, "not a list, as the values before it are");
	for (size_t i = 0; !nothing && i < value->count; i++)
		put_item(table, field, value->items[i], line);
	put_offset(&field->offsets[0],
	    field->column.text ? field->offsets[1].count - 1
			       : field->bytes.used / dtype_size(field->column.dtype));
}

static void
put_text(const struct table *table, struct field *field, const struct tree *value,
    int64_t line)
{
	bool nothing = !value || value->kind == TREE_NULL;

	if (!nothing && in_sample(table))
		field->seen |= look(value);
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
put_value(const struct table *table, struct field *field, const struct tree *value,
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
		struct field *field = &table->fields[i];
		const struct tree *value = value_of(object, field->column.name, i);
		met += value != NULL;
		put_value(table, field, value, line);
	}
	for (size_t i = 0; met < object->count; i++)
		if (!find(table, object->items[i]->key, i))
			die("%s:%lld: field '%s' appears here for the first time, too "
			    "late to become "
			    "a column; let the first %d records have it, if only as null",
			    datafile_name(table->file), (long long)line,
			    object->items[i]->key, (int)table->sampled);
	put_offset(&table->lines, (size_t)line);
	table->rows++;
	table->stored++;
}

/* Reading. ------------------------------------------------------------------------- */

/* The strings of the fields that are numbers, as what they say; the empty one as null. */
static void
read_numbers(const struct table *table, struct tree *object)
{
	for (size_t i = 0; i < table->number_count; i++) {
		const char *name = table->numbers[i];
		const struct tree *value = tree_get(object, name);
		int64_t whole;
		double real;
		if (!value || value->kind != TREE_STRING)
			continue;
		if (!value->length)
			tree_set(object, name, tree_of_null());
		else if (number_read_whole(value->string, value->length, &whole))
			tree_set(object, name, tree_of_integer(whole));
		else if (number_read(value->string, value->length, &real))
			tree_set(object, name, tree_of_real(real));
		else
			die("%s:%lld: field '%s': '%.60s' is not a number",
			    datafile_name(table->file),
			    (long long)datafile_line(table->file), name, value->string);
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

/* Read ahead what decides the columns. */
static void
settle(struct table *table)
{
	const struct tree *object;

	table->settled = true;
	while (table->sampled < TABLE_SAMPLE && !table->hurried &&
	       (object = next_object(table))) {
		look_at_object(table, object);
		table->sample_lines[table->sampled] = datafile_line(table->file);
		table->sample[table->sampled++] = tree_copy(object);
		if (table->sampled == 1)
			table->since = clock_now();
		table->hurried = table->sampled < TABLE_SAMPLE && pauses(table);
	}
	for (size_t f = 0; f < table->count; f++) {
		struct field *field = &table->fields[f];
		for (size_t i = 0; i < table->sampled; i++)
			if (!value_of(table->sample[i], field->column.name, f))
				field->seen |= SEEN_NOTHING;
		decide(field);
	}
	for (size_t i = 0; i < table->number_count && table->sampled; i++)
		if (!find(table, table->numbers[i], 0))
			die("%s: there is no field '%s'", datafile_name(table->file),
			    table->numbers[i]);
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
	settle(table);
	drop_sample(table);
	datafile_seek(table->file, from, to, 1);
}

static void
start_rows(struct table *table)
{
	table->rows = 0;
	table->lines.count = 0;
	for (size_t i = 0; i < table->count; i++) {
		struct field *field = &table->fields[i];
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

/* False at the end, and where the rows that there are must wait no longer. */
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
		table->since = clock_now();
	return object;
}

bool
table_next(struct table *table, int64_t rows, int64_t bytes, struct record *record)
{
	if (!table->settled)
		settle(table);
	start_rows(table);
	while (table->rows < rows && (!table->rows || bytes_held(table) < bytes))
		if (!put_next(table))
			break;
	for (size_t i = 0; i < table->count; i++) {
		const struct field *field = &table->fields[i];
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
