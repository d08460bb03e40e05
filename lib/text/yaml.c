#include "text/yaml.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strings.h"

enum { DEPTH_MAX = 64, NODES_MAX = 1000000 };

/* The tree is made event by event: libyaml's documents have no limit of depth, and it finds an anchor among n in n steps. */
struct yaml_reader {
	yaml_parser_t parser;
	const char *name;
	int line;      /* number of the first line */
	int64_t nodes; /* made: aliases can expand a small file without limit */
	struct strings *anchors;
	struct tree *
	    *anchored; /* copies, by number of the anchor; NULL: not yet complete */
	size_t room;
};

static int
line_of(const struct yaml_reader *reader, const yaml_event_t *event)
{
	return reader->line + (int)event->start_mark.line;
}

/* Reads the next event; the caller deletes it. */
static void
next(struct yaml_reader *reader, yaml_event_t *event)
{
	yaml_parser_t *parser = &reader->parser;

	if (yaml_parser_parse(parser, event))
		return;
	const char *problem = parser->problem ? parser->problem : "unreadable";
	if (parser->error == YAML_READER_ERROR) /* there is no mark yet */
		die("%s: not valid YAML: %s at byte %zu", reader->name, problem,
		    parser->problem_offset);
	die("%s:%zu: not valid YAML: %s", reader->name,
	    parser->problem_mark.line + (size_t)reader->line, problem);
}

/* Counts a node, and the depth at which it stands. */
static void
enter(struct yaml_reader *reader, int depth, int line)
{
	if (depth > DEPTH_MAX)
		die("%s:%d: nested deeper than %d", reader->name, line, DEPTH_MAX);
	if (++reader->nodes > NODES_MAX)
		die("%s:%d: more than %d values", reader->name, line, NODES_MAX);
}

static struct tree *
scalar(const yaml_event_t *event)
{
	static const char *const nulls[] = { "~", "null", "Null", "NULL", NULL };
	static const char *const trues[] = { "true", "True", "TRUE", NULL };
	static const char *const falses[] = { "false", "False", "FALSE", NULL };
	const char *text = (const char *)event->data.scalar.value;
	char *end;

	if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return tree_of_bytes(text, event->data.scalar.length);
	if (!*text || tree_listed(nulls, text))
		return tree_of_null();
	if (tree_listed(trues, text) || tree_listed(falses, text))
		return tree_of_boolean(tree_listed(trues, text));
	if (strspn(text, "+-0123456789") == strlen(text)) {
		errno = 0;
		long long integer = strtoll(text, &end, 10);
		if (!*end && !errno)
			return tree_of_integer(integer);
	}
	if (strspn(text, "+-.0123456789eE_") == strlen(text)) {
		double real = strtod(text, &end);
		if (!*end && isfinite(real))
			return tree_of_real(real);
	}
	return tree_of_bytes(text, event->data.scalar.length);
}

/* Anchors and aliases. ------------------------------------------------------------- */

/* The number of the anchor that a node has; -1: none. */
static int64_t
anchor_of(struct yaml_reader *reader, const yaml_char_t *anchor, int line)
{
	const char *name = (const char *)anchor;
	bool fresh;

	if (!name)
		return -1;
	int64_t number = strings_add(reader->anchors, name, strlen(name), &fresh);
	if (!fresh)
		die("%s:%d: not valid YAML: found duplicate anchor", reader->name, line);
	reader->anchored = mem_grow(reader->anchored, &reader->room, (size_t)number + 1,
	    sizeof *reader->anchored);
	reader->anchored[number] = NULL;
	return number;
}

/* The node for which an alias stands. */
static const struct tree *
meant(const struct yaml_reader *reader, const yaml_event_t *event)
{
	const char *name = (const char *)event->data.alias.anchor;
	int64_t number = strings_find(reader->anchors, name, strlen(name));

	if (number < 0)
		die("%s:%d: not valid YAML: found undefined alias", reader->name,
		    line_of(reader, event));
	if (!reader->anchored[number])
		die("%s:%d: the alias '%s' is a part of its own value", reader->name,
		    line_of(reader, event), name);
	return reader->anchored[number];
}

static struct tree *
repeat(struct yaml_reader *reader, const struct tree *tree, int depth)
{
	struct tree leaf = *tree;

	enter(reader, depth, tree->line);
	leaf.key = NULL;
	leaf.count = 0;
	struct tree *copy = tree_copy(&leaf);
	copy->file = reader->name;
	for (size_t i = 0; i < tree->count; i++) {
		struct tree *item =
		    tree_add(copy, repeat(reader, tree->items[i], depth + 1));
		if (tree->items[i]->key)
			item->key = mem_string(tree->items[i]->key);
	}
	return copy;
}

/* Nodes. --------------------------------------------------------------------------- */

static struct tree *convert(struct yaml_reader *reader, yaml_event_t *event, int depth);

/* The key that an event is, to be freed. */
static char *
key_of(struct yaml_reader *reader, const yaml_event_t *event)
{
	const struct tree *alias =
	    event->type == YAML_ALIAS_EVENT ? meant(reader, event) : NULL;
	const yaml_char_t *text = event->data.scalar.value;

	if (alias ? alias->kind != TREE_STRING : event->type != YAML_SCALAR_EVENT)
		die("%s:%d: a key must be a plain word", reader->name,
		    line_of(reader, event));
	if (alias)
		return mem_string(alias->string);
	int64_t anchor =
	    anchor_of(reader, event->data.scalar.anchor, line_of(reader, event));
	if (anchor >= 0)
		reader->anchored[anchor] = scalar(event);
	return mem_string((const char *)text);
}

/* Sets the members in the object that '<<' merges, if there is one: own keys win, wherever it stands. */
static struct tree *
merge(struct yaml_reader *reader, struct tree *members)
{
	size_t at = 0;

	while (at < members->count && strcmp(members->items[at]->key, "<<"))
		at++;
	if (at == members->count)
		return members;
	struct tree *object = members->items[at];
	if (object->kind != TREE_OBJECT)
		die("%s:%d: '<<' merges mappings only", reader->name, object->line);
	free(object->key);
	object->key = NULL;
	for (size_t i = 0; i < members->count; i++)
		if (i != at)
			tree_set(object, members->items[i]->key, members->items[i]);
	members->count = 0; /* they were moved */
	tree_free(members);
	return object;
}

static struct tree *
object_of(struct yaml_reader *reader, int depth)
{
	struct tree *members = tree_object();
	yaml_event_t event;

	for (next(reader, &event); event.type != YAML_MAPPING_END_EVENT;
	     next(reader, &event)) {
		char *key = key_of(reader, &event);
		int line = line_of(reader, &event);
		yaml_event_delete(&event);
		next(reader, &event);
		struct tree *value = tree_add(members, convert(reader, &event, depth));
		value->key = key;
		value->line = line;
	}
	yaml_event_delete(&event);
	const struct tree *twice = tree_repeated(members);
	if (twice)
		die("%s:%d: '%s' is given twice", reader->name, twice->line, twice->key);
	return merge(reader, members);
}

static struct tree *
list_of(struct yaml_reader *reader, int depth)
{
	struct tree *list = tree_list();
	yaml_event_t event;

	for (next(reader, &event); event.type != YAML_SEQUENCE_END_EVENT;
	     next(reader, &event))
		tree_add(list, convert(reader, &event, depth));
	yaml_event_delete(&event);
	return list;
}

/* A tag that says no more than the kind of the node is allowed. */
static void
check_tag(const struct yaml_reader *reader, const yaml_char_t *given, const char *plain,
    int line)
{
	const char *tag = (const char *)given;

	if (tag && strcmp(tag, "!") && strcmp(tag, plain))
		die("%s:%d: the tag '%s' is not supported; leave tags out", reader->name,
		    line, tag);
}

/* Deletes the event. */
static struct tree *
convert(struct yaml_reader *reader, yaml_event_t *event, int depth)
{
	int line = line_of(reader, event);
	int64_t anchor = -1;
	struct tree *tree;

	if (event->type == YAML_ALIAS_EVENT) {
		tree = repeat(reader, meant(reader, event), depth);
		yaml_event_delete(event);
		return tree;
	}
	enter(reader, depth, line);
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		check_tag(reader, event->data.scalar.tag, YAML_DEFAULT_SCALAR_TAG, line);
		anchor = anchor_of(reader, event->data.scalar.anchor, line);
		tree = scalar(event);
		break;
	case YAML_SEQUENCE_START_EVENT:
		check_tag(reader, event->data.sequence_start.tag,
		    YAML_DEFAULT_SEQUENCE_TAG, line);
		anchor = anchor_of(reader, event->data.sequence_start.anchor, line);
		tree = list_of(reader, depth + 1);
		break;
	default:
		check_tag(reader, event->data.mapping_start.tag, YAML_DEFAULT_MAPPING_TAG,
		    line);
		anchor = anchor_of(reader, event->data.mapping_start.anchor, line);
		tree = object_of(reader, depth + 1);
	}
	yaml_event_delete(event);
	tree->line = line;
	tree->file = reader->name;
	if (anchor >= 0) /* a copy: '<<' takes the node itself apart */
		reader->anchored[anchor] = repeat(reader, tree, depth);
	return tree;
}

/* Whether a document follows. */
static bool
document_starts(struct yaml_reader *reader)
{
	yaml_event_t event;
	bool starts;

	do {
		next(reader, &event);
		starts = event.type == YAML_DOCUMENT_START_EVENT;
		bool begins = event.type == YAML_STREAM_START_EVENT;
		yaml_event_delete(&event);
		if (!begins)
			return starts;
	} while (true);
}

static struct tree *
read_document(struct yaml_reader *reader)
{
	yaml_event_t event;

	reader->anchors = strings_new();
	if (!document_starts(reader))
		die("%s: empty", reader->name);
	next(reader, &event);
	struct tree *tree = convert(reader, &event, 0);
	next(reader, &event); /* the document's end */
	yaml_event_delete(&event);
	if (document_starts(reader))
		die("%s: holds more than one document", reader->name);
	yaml_parser_delete(&reader->parser);
	for (int64_t i = 0; i < strings_count(reader->anchors); i++)
		tree_free(reader->anchored[i]);
	strings_free(reader->anchors);
	free(reader->anchored);
	return tree;
}

static void
start(struct yaml_reader *reader, const char *name, int line)
{
	*reader = (struct yaml_reader){ .name = name, .line = line };
	if (!yaml_parser_initialize(&reader->parser))
		die("out of memory: %s", name);
}

struct tree *
yaml_parse(const char *text, size_t length, const char *name, int line)
{
	struct yaml_reader reader;

	start(&reader, name, line);
	yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text, length);
	return read_document(&reader);
}

struct tree *
yaml_read(const char *path)
{
	char *name = mem_string(strcmp(path, "-") ? path : "<stdin>");
	FILE *file = strcmp(path, "-") ? fopen(path, "rb") : stdin;
	struct yaml_reader reader;

	if (!file)
		die("%s:", path);
	start(&reader, name, 1);
	yaml_parser_set_input_file(&reader.parser, file);
	struct tree *tree = read_document(&reader);
	tree->name = name;
	if (file != stdin)
		fclose(file);
	return tree;
}
