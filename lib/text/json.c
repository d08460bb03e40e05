#include "text/json.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/utf8.h"
#include "text/json_string.h"

enum { DEPTH_MAX = 512 };

static void
own_name(struct tree *tree, const char *name, int line)
{
	tree->file = name;
	tree->line = line;
	for (size_t i = 0; i < tree->count; i++)
		own_name(tree->items[i], name, line);
}

struct json_parser {
	const char *text, *at, *end, *name;
	int line; /* line of the first byte */
	int depth;
	bool python; /* accept Python's extensions */
};

static int
line_of(const struct json_parser *parser)
{
	int line = parser->line;

	for (const char *c = parser->text; c < parser->at; c++)
		line += *c == '\n';
	return line;
}

_Noreturn static void
fail(const struct json_parser *parser, const char *what)
{
	die("%s:%d: not valid JSON: %s", parser->name, line_of(parser), what);
}

static void
skip_blanks(struct json_parser *parser)
{
	while (parser->at < parser->end && json_is_blank(*parser->at))
		parser->at++;
}

/* Consumes the character if it comes next; returns whether it did. */
static bool
take(struct json_parser *parser, char wanted)
{
	skip_blanks(parser);
	if (parser->at == parser->end || *parser->at != wanted)
		return false;
	parser->at++;
	return true;
}

static struct tree *
parse_string(struct json_parser *parser)
{
	const char *start = ++parser->at;
	bool escapes = false;

	for (; parser->at < parser->end && *parser->at != '"'; parser->at++) {
		if ((unsigned char)*parser->at < ' ')
			fail(parser, "a control character in a string");
		if (*parser->at == '\\') {
			escapes = true;
			parser->at += parser->at + 1 < parser->end;
		}
	}
	size_t length = (size_t)(parser->at - start);
	if (parser->at == parser->end)
		fail(parser, "a string that does not end");
	size_t valid = utf8_valid(start, length);
	if (valid < length) {
		char what[64];
		parser->at = start + valid;
		snprintf(what, sizeof what, "unable to decode byte 0x%02x",
		    (unsigned char)*parser->at);
		fail(parser, what);
	}
	parser->at++;
	struct tree *string = tree_of_bytes(start, length);
	if (!escapes)
		return string;
	ptrdiff_t made = json_string_unescape(string->string, start, length);
	if (made < 0)
		fail(parser, "invalid escape in a string, or half of a surrogate pair");
	string->length = (size_t)made;
	string->string[made] = 0;
	return string;
}

/* Skips digits; dies if there is none. */
static void
skip_digits(struct json_parser *parser)
{
	const char *start = parser->at;

	while (parser->at < parser->end && *parser->at >= '0' && *parser->at <= '9')
		parser->at++;
	if (parser->at == start)
		fail(parser, "invalid token");
}

static bool
is_next(const struct json_parser *parser, const char *characters)
{
	return parser->at < parser->end && *parser->at && strchr(characters, *parser->at);
}

/* An integer beyond 64 bits is a real that keeps its digits. */
static struct tree *
parse_number(struct json_parser *parser)
{
	const char *start = parser->at;
	bool whole = true;
	int64_t integer;
	double real;

	parser->at += *parser->at == '-';
	if (is_next(parser, "0"))
		parser->at++;
	else
		skip_digits(parser);
	if (is_next(parser, ".")) {
		whole = false;
		parser->at++;
		skip_digits(parser);
	}
	if (is_next(parser, "eE")) {
		whole = false;
		parser->at++;
		parser->at += is_next(parser, "+-");
		skip_digits(parser);
	}
	size_t length = (size_t)(parser->at - start);
	if (whole && number_read_whole(start, length, &integer))
		return tree_of_integer(integer);
	if (whole && !parser->python)
		fail(parser, "too big integer");
	if (!number_read(start, length, &real))
		fail(parser, "a number that is too large");
	return whole ? tree_of_digits(start, length, real) : tree_of_real(real);
}

/* Literals of JSON and of Python's writer. */
static struct tree *
parse_word(struct json_parser *parser)
{
	static const char *const words[] = { "true", "false", "null", "NaN", "Infinity",
		"-Infinity" };
	size_t left = (size_t)(parser->end - parser->at), i = 0, length = 0;
	size_t count = parser->python ? sizeof words / sizeof *words : 3;

	for (; i < count; i++) {
		length = strlen(words[i]);
		if (left >= length && !memcmp(parser->at, words[i], length))
			break;
	}
	if (i == count)
		return NULL;
	parser->at += length;
	return i < 2	? tree_of_boolean(i == 0)
	       : i == 2 ? tree_of_null()
			: tree_of_real(i == 3	? NAN
				       : i == 4 ? INFINITY
						: -INFINITY);
}

static struct tree *parse_value(struct json_parser *parser);

static struct tree *
parse_list(struct json_parser *parser)
{
	struct tree *list = tree_list();

	parser->at++;
	if (take(parser, ']'))
		return list;
	do
		tree_add(list, parse_value(parser));
	while (take(parser, ','));
	if (!take(parser, ']'))
		fail(parser, "',' or ']' expected");
	return list;
}

static struct tree *
parse_object(struct json_parser *parser)
{
	struct tree *object = tree_object();

	parser->at++;
	if (take(parser, '}'))
		return object;
	do {
		skip_blanks(parser);
		if (!is_next(parser, "\""))
			fail(parser, "a member's name in quotes expected");
		struct tree *key = parse_string(parser);
		if (strlen(key->string) != key->length)
			fail(parser, "NUL byte in object key");
		if (!take(parser, ':'))
			fail(parser, "':' expected");
		struct tree *value = tree_add(object, parse_value(parser));
		value->key = key->string;
		key->string = NULL;
		tree_free(key);
	} while (take(parser, ','));
	if (!take(parser, '}'))
		fail(parser, "',' or '}' expected");
	if (tree_unify(object) && !parser->python)
		fail(parser, "duplicate object key");
	return object;
}

static struct tree *
parse_value(struct json_parser *parser)
{
	struct tree *tree;

	skip_blanks(parser);
	if (parser->at == parser->end)
		fail(parser, "it ends where a value is expected");
	char c = *parser->at;
	if (c == '"')
		return parse_string(parser);
	if (c == '{' || c == '[') {
		if (++parser->depth > DEPTH_MAX)
			die("%s:%d: JSON is nested deeper than %d", parser->name,
			    line_of(parser), DEPTH_MAX);
		tree = c == '{' ? parse_object(parser) : parse_list(parser);
		parser->depth--;
		return tree;
	}
	tree = parse_word(parser);
	return tree ? tree : parse_number(parser);
}

static struct tree *
parse(const char *text, size_t length, const char *name, int line, bool python)
{
	struct json_parser parser = { text, text, text + length, name, line ? line : 1, 0,
		python };
	struct tree *tree = parse_value(&parser);

	skip_blanks(&parser);
	if (parser.at < parser.end)
		fail(&parser, "end of file expected");
	own_name(tree, name, line);
	return tree;
}

struct tree *
json_parse(const char *text, size_t length, const char *name, int line)
{
	return parse(text, length, name, line, false);
}

struct tree *
json_parse_python(const char *text, size_t length, const char *name, int line)
{
	return parse(text, length, name, line, true);
}

struct tree *
json_read_optional(const char *path)
{
	size_t length;
	char *text = file_read(path, &length);

	if (!text)
		return NULL;
	char *name = mem_string(path); /* the tree outlives the caller's string */
	struct tree *tree = json_parse_python(text, length, name, 0);
	tree->name = name;
	free(text);
	return tree;
}

struct tree *
json_read(const char *path)
{
	struct tree *tree = json_read_optional(path);

	if (!tree)
		die("%s: no such file", path);
	return tree;
}

struct tree *
json_find(const char *folder, const char *name)
{
	char *path = mem_format("%s/%s", folder, name);
	struct tree *tree = json_read_optional(path);

	free(path);
	return tree;
}

struct tree *
json_need(const char *folder, const char *name)
{
	char *path = mem_format("%s/%s", folder, name);
	struct tree *tree = json_read(path);

	free(path);
	return tree;
}
