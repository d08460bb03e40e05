#include "token/text_field.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"

static struct text_field *
field_new(const char *option)
{
	struct text_field *field = mem_zero(1, sizeof *field);
	const char *equals = strchr(option, '=');
	size_t room = 0;

	if (!equals && strchr(option, '+'))
		die_usage("--field: '%s' needs a name: NAME=%s", option, option);
	if (!*option || equals == option)
		die_usage("--field: '%s' has an empty name", option);
	field->name = equals ? mem_format("%.*s", (int)(equals - option), option)
			     : mem_string(option);
	for (const char *at = equals ? equals + 1 : option; at;) {
		size_t length = equals ? strcspn(at, "+") : strlen(at);
		if (!length)
			die_usage("--field: '%s' names an empty part", option);
		field->parts =
		    mem_grow(field->parts, &room, field->count + 1, sizeof *field->parts);
		field->parts[field->count++] = mem_format("%.*s", (int)length, at);
		at = at[length] ? at + length + 1 : NULL;
	}
	field->columns = mem_new(field->count, sizeof *field->columns);
	field->required = field->count == 1;
	return field;
}

static void
field_free(struct text_field *field)
{
	for (size_t i = 0; i < field->count; i++)
		free(field->parts[i]);
	free(field->parts);
	free(field->columns);
	free(field->name);
	text_column_free(&field->joined);
	free(field);
}

struct text_field *
text_field_add(struct text_field_list *list, const char *option)
{
	struct text_field *field = field_new(option);

	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->items[i]->name, field->name))
			die_usage("--field: '%s' is given twice", field->name);
	list->items = mem_grow(
	    list->items, &list->capacity, list->count + 1, sizeof(struct text_field *));
	return list->items[list->count++] = field;
}

static const char *const usual[] = { "text", "sentence1", "sentence2", "query",
	"document", "negatives", "positive", "negative", "sentences", "sent1", "sent2",
	"human_summaries", "machine_summaries", NULL };

void
text_field_add_members(struct text_field_list *list, const struct tree *record)
{
	for (size_t u = 0; usual[u]; u++) {
		const struct tree *value = tree_get(record, usual[u]);
		if (value && (value->kind == TREE_STRING || value->kind == TREE_LIST))
			text_field_add(list, usual[u])->required =
			    value->kind == TREE_STRING;
	}
	if (!list->count)
		text_field_add(list, usual[0]);
}

void
text_field_add_columns(
    struct text_field_list *list, const struct column *columns, int count)
{
	for (size_t u = 0; usual[u]; u++)
		for (int i = 0; i < count; i++)
			if (columns[i].text && !strcmp(columns[i].name, usual[u]))
				text_field_add(list, usual[u]);
	if (!list->count)
		text_field_add(list, usual[0]);
}

void
text_field_list_free(struct text_field_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		field_free(list->items[i]);
	free(list->items);
}

void
text_field_check(const struct text_field *field, const char *file, int64_t line,
    const struct tree *record)
{
	char *names;

	if (!field->required || tree_get(record, field->parts[0]))
		return;
	for (size_t i = 0; i < record->count; i++)
		if (!strcmp(record->items[i]->key, field->parts[0]))
			die("%s:%lld: '%s' is null; leave the row out, or let it be \"\"",
			    file, (long long)line, field->parts[0]);
	names = mem_string("");
	for (size_t i = 0; i < record->count; i++)
		names = mem_list(names, record->items[i]->key);
	if (record->count == 1 && strpbrk(names, ";,\t"))
		die("%s:%lld: there is no '%s'; the only field is '%s': fields are separated by commas in CSV, by tabs in TSV",
		    file, (long long)line, field->parts[0], names);
	die("%s:%lld: there is no '%s'; fields are: %s (choose with -f)", file,
	    (long long)line, field->parts[0], *names ? names : "(none)");
}

_Noreturn static void
die_absent(const char *part, const char *input, const struct column *columns, int count)
{
	char *names = mem_string("");

	for (int i = 0; i < count; i++)
		if (columns[i].text)
			names = mem_list(names, columns[i].name);
	die("%s: there is no text '%s'; texts are: %s (choose with -f)", input, part,
	    *names ? names : "(none)");
}

void
text_field_find(
    struct text_field *field, const char *input, const struct column *columns, int count)
{
	for (size_t p = 0; p < field->count; p++) {
		int i = 0;
		while (i < count && strcmp(columns[i].name, field->parts[p]))
			i++;
		if (i == count || !columns[i].text)
			die_absent(field->parts[p], input, columns, count);
		if (field->count > 1 && columns[i].depth != 1)
			die("%s: '%s' holds lists of texts, which cannot be joined",
			    input, field->parts[p]);
		field->columns[p] = i;
	}
}

struct array
text_field_texts(struct text_field *field, const struct record *record)
{
	struct buffer *bytes = &field->joined.bytes;

	if (field->count == 1)
		return record->columns[field->columns[0]];
	text_column_clear(&field->joined);
	for (int64_t row = 0; row < record->rows; row++) {
		size_t start = bytes->used;
		for (size_t p = 0; p < field->count; p++) {
			const struct array *array = &record->columns[field->columns[p]];
			const int64_t *offsets = array->offsets[0] + row;
			const char *text = (const char *)array->data + offsets[0];
			size_t end = (size_t)(offsets[1] - offsets[0]);
			size_t first = utf8_space_end(text, end, 0);
			size_t length = utf8_space_start(text, end, first) - first;
			if (!length)
				continue;
			buffer_add(bytes, " ", bytes->used > start);
			buffer_add(bytes, text + first, length);
		}
		text_column_end(&field->joined);
	}
	return text_column_array(&field->joined);
}
