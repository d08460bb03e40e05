#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "stream/stream_format.h"
#include "text/json.h"

/* Whether the start of a file is text: UTF-8 without control characters except white space. */
static bool
is_text(const char *bytes, size_t size)
{
	enum { LOOK = 512, CHARACTER = 4 };
	size_t look = size < LOOK ? size : LOOK;

	for (size_t i = 0; i < look; i++) {
		unsigned char byte = (unsigned char)bytes[i];
		if ((byte < 32 && !strchr("\t\n\r\f", byte)) || !byte || byte == 127)
			return false;
	}
	size_t valid = utf8_valid(bytes, look);
	return look && (valid == look || (look < size && look - valid < CHARACTER));
}

void
header_refuse_text(const char *bytes, size_t size, const char *name)
{
	if (strncmp(bytes, "mts ", size < 4 ? size : 4) != 0 && is_text(bytes, size))
		die("%s: it is text, not a tensor stream; tok makes a stream of texts, 'mts from' one of tables of numbers",
		    name);
	if (size >= 6 && !memcmp(bytes, "\x93NUMPY", 6))
		die("%s: it is an array of NumPy, not a tensor stream; 'mts from npy' makes one of it",
		    name);
	if (size >= 2 && !memcmp(bytes, "\x1f\x8b", 2))
		die("%s: it is compressed by gzip, not a tensor stream; decompress it (tok reads compressed texts directly)",
		    name);
}

/* Dies unless the members hold what mts(5) says. */
static void
check_members(const struct tree *header)
{
	static const char *const strings[] = { "tokenizer", "model", NULL };
	static const char *const told[] = { "program", "version", "command", NULL };
	const struct tree *history = tree_get(header, "history");
	const struct tree *properties = tree_get(header, "properties");

	if (tree_get(header, "columns")->kind != TREE_LIST || history->kind != TREE_LIST)
		tree_die(header, "'columns' and 'history' must be lists");
	if (properties->kind != TREE_OBJECT)
		tree_die(header, "'properties' must be an object");
	for (size_t i = 0; i < history->count; i++) {
		const struct tree *entry = history->items[i];
		if (entry->kind != TREE_OBJECT)
			tree_die(header, "'history' must be a list of objects");
		for (const char *const *name = told; *name; name++)
			tree_string(entry, *name, "");
		tree_integer(entry, "seed", 0);
	}
	for (const char *const *name = strings; *name; name++) {
		const struct tree *property = tree_get(properties, *name);
		if (property && property->kind != TREE_STRING)
			tree_die(header, "the property '%s' must be a string", *name);
	}
}

static struct tree *
parse_text(const char *text, size_t size, const char *name)
{
	static const char magic[] = "mts ", version[] = "1\n";
	const size_t start = sizeof magic + sizeof version - 2;
	static const char *const members[] = { "columns", "properties", "history", NULL };

	header_refuse_text(text, size, name);
	if (size < start || memcmp(text, magic, sizeof magic - 1))
		die("%s: header: not a tensor stream", name);
	if (memcmp(text + sizeof magic - 1, version, sizeof version - 1))
		die("%s: header: another version of the format; this program reads version 1",
		    name);
	if (size > STREAM_HEADER)
		die("%s: header: it is longer than 16 MiB", name);
	if (text[size - 1] != '\n')
		die("%s: header: it does not end with a newline", name);
	char *called = mem_format("%s: header", name);
	struct tree *header = json_parse(text + start, size - start, called, 0);
	header->name = called;
	tree_only(header, members);
	for (const char *const *member = members; *member; member++)
		tree_need(header, *member);
	check_members(header);
	return header;
}

static void
parse_column(struct column *column, const struct tree *tree)
{
	static const char *const members[] = { "name", "dtype", "text", "depth", "shape",
		NULL };

	tree_only(tree, members);
	const char *dtype = tree_string(tree, "dtype", ""), *fault;
	column->name = tree_string(tree, "name", "");
	if (strlen(column->name) != tree_need(tree, "name")->length)
		tree_die(tree, "a column's name has a control character");
	if (!dtype_parse(dtype, &column->dtype))
		tree_die(tree, "column '%s': dtype '%s' is not supported", column->name,
		    dtype);
	column->text = tree_boolean(tree, "text", false);
	if (tree_get(tree, "depth"))
		column->depth = (int)tree_integer_in(tree, "depth", 0, STREAM_DEPTH);
	const struct tree *shape = tree_get(tree, "shape");
	if (shape && (shape->kind != TREE_LIST || shape->count > STREAM_RANK))
		tree_die(tree,
		    "column '%s': the shape must be a list of at most 4 integers",
		    column->name);
	column->rank = shape ? (int)shape->count : 0;
	for (int i = 0; i < column->rank; i++) {
		if (!tree_is_whole(shape->items[i]))
			tree_die(tree, "column '%s': the shape must be integers",
			    column->name);
		column->shape[i] = shape->items[i]->integer;
	}
	if ((fault = column_fault(column)))
		tree_die(tree, "column '%s': %s", column->name, fault);
}

struct header
header_parse(const char *text, size_t size, const char *name)
{
	struct header header = { .tree = parse_text(text, size, name) };
	const struct tree *list = tree_get(header.tree, "columns");

	if (list->count > STREAM_COLUMNS)
		tree_die(list, "there are more than %d columns", STREAM_COLUMNS);
	header.columns = mem_zero(list->count, sizeof *header.columns);
	for (; header.count < (int)list->count; header.count++) {
		struct column *column = &header.columns[header.count];
		parse_column(column, list->items[header.count]);
		for (int i = 0; i < header.count; i++)
			if (!strcmp(column->name, header.columns[i].name))
				tree_die(
				    list, "two columns are called '%s'", column->name);
	}
	return header;
}

/* The first property of `one` that differs or is absent in `two`; NULL: none. */
static const char *
property_difference(const struct header *one, const struct header *two)
{
	const struct tree *here = tree_get(one->tree, "properties");
	const struct tree *there = tree_get(two->tree, "properties");

	for (size_t i = 0; i < here->count; i++) {
		const struct tree *value = here->items[i],
				  *other = tree_get(there, value->key);
		if (value->kind != TREE_NULL && (!other || !tree_equal(value, other)))
			return value->key;
	}
	return NULL;
}

char *
header_difference(const struct header *one, const struct header *two)
{
	for (int i = 0; i < one->count && i < two->count; i++) {
		const char *what = column_difference(&one->columns[i], &two->columns[i]);
		if (what) {
			char *here = column_text(&one->columns[i]);
			char *there = column_text(&two->columns[i]);
			char *text = mem_format(
			    "the %s of the columns %s and %s differ", what, here, there);
			free(here);
			free(there);
			return text;
		}
	}
	if (one->count != two->count)
		return mem_format("%d columns here, %d there", one->count, two->count);
	const char *property = property_difference(one, two);
	if (!property)
		property = property_difference(two, one);
	return property ? mem_format("the property '%s' differs", property) : NULL;
}

void
header_free(struct header *header)
{
	free(header->columns);
	tree_free(header->tree);
}
