#include "sample/fields.h"

#include <math.h>
#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "text/json.h"

/* The value of a field, which may be null; NULL: missing. */
static const struct tree *
member(const struct tree *record, const char *name)
{
	char *end;

	if (record->kind == TREE_LIST) {
		unsigned long index = strtoul(name, &end, 10);
		return !*end && index < record->count ? record->items[index] : NULL;
	}
	if (record->kind != TREE_OBJECT)
		tree_die(record, "neither an object nor a list");
	for (size_t i = 0; i < record->count; i++)
		if (!strcmp(record->items[i]->key, name)) {
			tree_once(record->items[i]);
			return record->items[i];
		}
	return NULL;
}

const struct tree *
fields_find(const struct tree *record, const char *name)
{
	const struct tree *value = member(record, name);

	return tree_is_missing(value) ? NULL : value;
}

/* The first names of a record's fields, for an error; to be freed. */
static char *
names_of(const struct tree *record)
{
	enum { MOST = 8 };
	char *names = mem_string("");

	for (size_t i = 0; i < record->count && i < MOST; i++) {
		bool last = i == MOST - 1 && record->count > MOST;
		char *longer = mem_format("%s%s'%s'%s", names, i ? ", " : "",
		    record->items[i]->key, last ? " ..." : "");
		free(names);
		names = longer;
	}
	return names;
}

const struct tree *
fields_need(const struct tree *record, const char *name)
{
	const struct tree *value = member(record, name);

	if (!value && record->kind == TREE_OBJECT && record->count)
		tree_die(record, "has no field '%s'; it has %s", name, names_of(record));
	if (!value)
		tree_die(record, "has no field '%s'", name);
	return value;
}

static bool
is_message(const struct tree *value)
{
	return value->kind == TREE_OBJECT && tree_get(value, "role") &&
	       tree_get(value, "content");
}

static bool
is_conversation(const struct tree *value)
{
	size_t messages = 0;

	if (value->kind != TREE_LIST)
		return false;
	while (messages < value->count && is_message(value->items[messages]))
		messages++;
	return messages && messages == value->count;
}

static bool
is_list(const struct tree *value)
{
	return value->kind == TREE_LIST && !is_conversation(value);
}

size_t
fields_texts(const struct tree *value)
{
	return is_list(value) ? value->count : value->kind != TREE_NULL;
}

const struct tree *
fields_text(const struct tree *value, size_t index)
{
	return is_list(value) ? value->items[index] : value;
}

/* Appends the text of a passage or of a message. */
static void
append_object(struct buffer *to, const struct tree *record, const char *name,
    const struct tree *value)
{
	static const struct fields passage = { .spec = "title+text",
		.optional = "title" };

	if (value->kind == TREE_LIST && value->count > 1)
		tree_die(record,
		    "is a conversation of %zu messages, not a text: field '%s'",
		    value->count, name);
	if (value->kind == TREE_LIST)
		fields_append_value(
		    to, record, name, tree_get(value->items[0], "content"));
	else if (fields_find(value, "text"))
		fields_append(
		    to, value, &passage, &(struct fields_choice){ .all = true });
	else
		tree_die(record, "is an object without 'text': field '%s'", name);
}

double
fields_number(const struct tree *record, const char *name, const struct tree *value)
{
	double number;

	if (value->kind == TREE_INTEGER)
		return (double)value->integer;
	if (value->kind == TREE_REAL && isfinite(value->real))
		return value->real;
	if (value->kind == TREE_STRING &&
	    number_read(value->string, value->length, &number) && isfinite(number))
		return number;
	tree_die(record, "is not a number: field '%s'", name);
}

void
fields_append_value(struct buffer *to, const struct tree *record, const char *name,
    const struct tree *value)
{
	if (value->kind == TREE_OBJECT || is_conversation(value)) {
		append_object(to, record, name, value);
	} else if (value->kind == TREE_STRING) {
		buffer_add(to, value->string, value->length);
	} else if (value->kind == TREE_INTEGER || value->kind == TREE_BOOL ||
		   (value->kind == TREE_REAL && isfinite(value->real))) {
		char *text = json_text(value, 0);
		buffer_add(to, text, strlen(text));
		free(text);
	} else {
		tree_die(record, "is neither text nor number: field '%s'", name);
	}
}

/* Is the value's text another?  `to`, which is empty, is scratch memory. */
static bool
is_unlike(struct buffer *to, const struct tree *record, const char *name,
    const struct tree *value, const struct buffer *other)
{
	fields_append_value(to, record, name, value);
	size_t length = to->used;
	to->used = 0;
	return length != other->used || memcmp(to->data, other->data, length) != 0;
}

/* Chooses one text of a list. */
static const struct tree *
choose(struct buffer *to, const struct tree *record, const char *name,
    const struct tree *list, const struct fields_choice *choice)
{
	size_t others = 0, at;

	if (!choice->unlike)
		return list->items[choice->chance % list->count];
	for (size_t i = 0; i < list->count; i++)
		others += is_unlike(to, record, name, list->items[i], choice->unlike);
	if (!others)
		tree_die(record,
		    "has one text, which cannot be query and document: field '%s'", name);
	others = choice->chance % others + 1;
	for (at = 0; others; at++)
		others -= is_unlike(to, record, name, list->items[at], choice->unlike);
	return list->items[at - 1];
}

/* Replaces a value by its name, of a mapping or a list. */
static void
rename_value(struct buffer *to, size_t start, const struct tree *record,
    const struct fields *fields)
{
	const struct tree *name = NULL;
	size_t length = to->used - start;
	int64_t number;

	buffer_add(to, "", 1); /* a name ends with a NUL */
	const char *value = to->data + start;
	if (fields->names->kind == TREE_OBJECT)
		name = tree_get(fields->names, value);
	else if (number_read_whole(value, length, &number) && number >= 0 &&
		 (uint64_t)number < fields->names->count)
		name = fields->names->items[number];
	if (!name || strlen(value) != length)
		tree_die(record, "the '%s' is '%s', for which 'names' has no name",
		    fields->spec, value);
	to->used = start;
	buffer_add(to, name->string, name->length);
}

static void
append_field(struct buffer *to, const struct tree *record, const char *name,
    const struct tree *value, const struct fields_choice *choice)
{
	bool list = is_list(value) && value->count;

	for (size_t i = 0; list && choice->all && i < value->count; i++) {
		if (i)
			buffer_add(to, "\n", 1);
		fields_append_value(to, record, name, value->items[i]);
	}
	if (!list)
		fields_append_value(to, record, name, value);
	else if (!choice->all)
		fields_append_value(
		    to, record, name, choose(to, record, name, value, choice));
}

/* Trims the text from `start` on. */
static void
trim(struct buffer *to, size_t start)
{
	static const char blanks[] = " \t\r\n";
	size_t first = start;

	while (to->used > start && memchr(blanks, to->data[to->used - 1], 4))
		to->used--;
	while (first < to->used && memchr(blanks, to->data[first], 4))
		first++;
	memmove(to->data + start, to->data + first, to->used - first);
	to->used -= first - start;
}

/* fields_append for a spec of several names. */
static void
append_joined(struct buffer *to, const struct tree *record, const struct fields *fields,
    const struct fields_choice *choice)
{
	const char *at = fields->spec;
	bool any = false;

	for (size_t length; at; at = at[length] ? at + length + 1 : NULL) {
		length = strcspn(at, "+");
		char *name = mem_format("%.*s", (int)length, at);
		bool optional = fields->optional && !strcmp(name, fields->optional);
		const struct tree *value =
		    optional ? fields_find(record, name) : fields_need(record, name);
		size_t before = to->used;
		if (any)
			buffer_add(to, " ", 1);
		size_t start = to->used;
		if (value)
			append_field(to, record, name, value, choice);
		trim(to, start);
		if (to->used == start)
			to->used = before; /* empty: no blank for it */
		else
			any = true;
		free(name);
	}
}

void
fields_append(struct buffer *to, const struct tree *record, const struct fields *fields,
    const struct fields_choice *choice)
{
	size_t start = to->used;

	buffer_add(to, "", 0);
	if (strchr(fields->spec, '+')) {
		append_joined(to, record, fields, choice);
		return;
	}
	append_field(to, record, fields->spec, fields_need(record, fields->spec), choice);
	if (fields->names)
		rename_value(to, start, record, fields);
}

size_t
fields_members(const struct tree *row, const struct fields_each *each)
{
	const char *first = NULL;
	size_t count = 1;

	for (const char *const *name = each->names; *name; name++) {
		const struct tree *value =
		    each->needed ? fields_need(row, *name) : fields_find(row, *name);
		if (!value || value->kind != TREE_LIST)
			continue;
		if (first && value->count != count)
			tree_die(row,
			    "'%s' is a list of %zu, '%s' one of %zu; they go together, member by member",
			    first, count, *name, value->count);
		first = *name;
		count = value->count;
	}
	return count;
}

static bool
is_of_each(
    const struct tree *row, const struct fields_each *each, const struct tree *value)
{
	for (const char *const *name = each->names; *name; name++)
		if (fields_find(row, *name) == value)
			return value->kind == TREE_LIST;
	return false;
}

char *
fields_member(const struct tree *row, const struct fields_each *each, size_t member)
{
	struct tree record = *row;
	struct tree *members = mem_new(row->count, sizeof *members);

	record.items = mem_new(row->count, sizeof *record.items);
	for (size_t i = 0; i < row->count; i++) {
		struct tree *value = record.items[i] = row->items[i];
		if (!is_of_each(row, each, value))
			continue;
		members[i] = *value->items[member];
		members[i].key = value->key;
		record.items[i] = members + i;
	}
	char *text = json_text(&record, 0);
	free(record.items);
	free(members);
	return text;
}
