#include "text/yaml.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/err.h"
#include "base/mem.h"

enum { DEPTH_MAX = 64, NODES_MAX = 1000000 };

struct yaml_reader {
	yaml_document_t document;
	const char *name;
	int line; /* number of the first line */
	size_t
	    nodes; /* number of nodes made: aliases can expand a small file without limit */
};

static int
line_of(const struct yaml_reader *reader, const yaml_node_t *node)
{
	return reader->line + (int)node->start_mark.line;
}

static struct tree *
scalar(const yaml_node_t *node)
{
	static const char *const nulls[] = { "~", "null", "Null", "NULL", NULL };
	static const char *const trues[] = { "true", "True", "TRUE", NULL };
	static const char *const falses[] = { "false", "False", "FALSE", NULL };
	const char *text = (const char *)node->data.scalar.value;
	char *end;

	if (node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return tree_of_bytes(text, node->data.scalar.length);
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
	return tree_of_bytes(text, node->data.scalar.length);
}

static struct tree *convert(struct yaml_reader *reader, int index, int depth);

static const char *
key_of(struct yaml_reader *reader, const yaml_node_pair_t *pair)
{
	const yaml_node_t *key = yaml_document_get_node(&reader->document, pair->key);

	if (key->type != YAML_SCALAR_NODE)
		die("%s:%d: a key must be a plain word", reader->name,
		    line_of(reader, key));
	return (const char *)key->data.scalar.value;
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
object_of(struct yaml_reader *reader, const yaml_node_t *node, int depth)
{
	struct tree *members = tree_object();

	for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	     pair < node->data.mapping.pairs.top; pair++) {
		const yaml_node_t *key =
		    yaml_document_get_node(&reader->document, pair->key);
		const char *name = key_of(reader, pair);
		struct tree *value =
		    tree_add(members, convert(reader, pair->value, depth + 1));
		value->key = mem_string(name);
		value->line = line_of(reader, key);
	}
	const struct tree *twice = tree_repeated(members);
	if (twice)
		die("%s:%d: '%s' is given twice", reader->name, twice->line, twice->key);
	return merge(reader, members);
}

/* libyaml gives every node the tag of its kind, unless the file gives another. */
static void
check_tag(const struct yaml_reader *reader, const yaml_node_t *node)
{
	const char *expected = node->type == YAML_SCALAR_NODE ? YAML_DEFAULT_SCALAR_TAG
			       : node->type == YAML_SEQUENCE_NODE
				   ? YAML_DEFAULT_SEQUENCE_TAG
				   : YAML_DEFAULT_MAPPING_TAG;

	if (node->tag && strcmp((const char *)node->tag, expected))
		die("%s:%d: the tag '%s' is not known; leave tags out", reader->name,
		    line_of(reader, node), (const char *)node->tag);
}

static struct tree *
convert(struct yaml_reader *reader, int index, int depth)
{
	const yaml_node_t *node = yaml_document_get_node(&reader->document, index);
	struct tree *tree;

	if (depth > DEPTH_MAX || ++reader->nodes > NODES_MAX)
		die("%s:%d: nested too deeply, or too large", reader->name,
		    line_of(reader, node));
	check_tag(reader, node);
	switch (node->type) {
	case YAML_SCALAR_NODE: tree = scalar(node); break;
	case YAML_SEQUENCE_NODE:
		tree = tree_list();
		for (yaml_node_item_t *item = node->data.sequence.items.start;
		     item < node->data.sequence.items.top; item++)
			tree_add(tree, convert(reader, *item, depth + 1));
		break;
	default: tree = object_of(reader, node, depth);
	}
	tree->line = line_of(reader, node);
	tree->file = reader->name;
	return tree;
}

static void
load(yaml_parser_t *parser, yaml_document_t *document, const struct yaml_reader *reader)
{
	if (yaml_parser_load(parser, document))
		return;
	const char *problem = parser->problem ? parser->problem : "unreadable";
	if (parser->error == YAML_READER_ERROR) /* there is no mark yet */
		die("%s: not valid YAML: %s at byte %zu", reader->name, problem,
		    parser->problem_offset);
	die("%s:%zu: not valid YAML: %s", reader->name,
	    parser->problem_mark.line + (size_t)reader->line, problem);
}

static struct tree *
read_document(yaml_parser_t *parser, const char *name, int line)
{
	struct yaml_reader reader = { .name = name, .line = line };

	load(parser, &reader.document, &reader);
	if (!yaml_document_get_root_node(&reader.document))
		die("%s: empty", name);
	struct tree *tree = convert(&reader, 1, 0);
	yaml_document_delete(&reader.document);
	yaml_document_t next;
	load(parser, &next, &reader);
	if (yaml_document_get_root_node(&next))
		die("%s: holds more than one document", name);
	yaml_document_delete(&next);
	yaml_parser_delete(parser);
	return tree;
}

static void
start(yaml_parser_t *parser, const char *name)
{
	if (!yaml_parser_initialize(parser))
		die("out of memory: %s", name);
}

struct tree *
yaml_parse(const char *text, size_t length, const char *name, int line)
{
	yaml_parser_t parser;

	start(&parser, name);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
	return read_document(&parser, name, line);
}

struct tree *
yaml_read(const char *path)
{
	char *name = mem_string(strcmp(path, "-") ? path : "<stdin>");
	FILE *file = strcmp(path, "-") ? fopen(path, "rb") : stdin;
	yaml_parser_t parser;

	if (!file)
		die("%s:", path);
	start(&parser, name);
	yaml_parser_set_input_file(&parser, file);
	struct tree *tree = read_document(&parser, name, 1);
	tree->name = name;
	if (file != stdin)
		fclose(file);
	return tree;
}
