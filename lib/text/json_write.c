#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/err.h"
#include "base/number.h"
#include "base/utf8.h"
#include "text/json.h"

struct json_writer {
	struct buffer text;
	int indent; /* 0: compact */
};

static void
put(struct json_writer *writer, const char *text)
{
	buffer_add(&writer->text, text, strlen(text));
}

/* Writes the escape of a character that JSON or a terminal needs escaped; returns its length, 0: no escape. */
static size_t
escape_of(char escape[8], int32_t code)
{
	static const char from[] = "\"\\\b\f\n\r\t", into[] = "\"\\bfnrt";
	const char *which = code && code < 127 ? strchr(from, (char)code) : NULL;

	if (which)
		return (size_t)snprintf(escape, 8, "\\%c", into[which - from]);
	if (code < ' ')
		return (size_t)snprintf(escape, 8, "\\u%04X", (unsigned)code);
	if (code >= 127 && utf8_is_harmful(code))
		return (size_t)snprintf(escape, 8, "\\u%04x", (unsigned)code & 0xFFFF);
	return 0;
}

static void
put_string(struct json_writer *writer, const char *text, size_t length)
{
	size_t start = 0, bytes, made;
	char escape[8];
	int32_t code;

	if (utf8_valid(text, length) != length)
		die("a text that is not valid UTF-8 cannot be written as JSON");
	put(writer, "\"");
	for (size_t at = 0; at < length; at += bytes) {
		bytes = 1;
		code = (unsigned char)text[at];
		if (code > 127)
			bytes = utf8_decode(text + at, length - at, &code);
		if (!(made = escape_of(escape, code)))
			continue;
		buffer_add(&writer->text, text + start, at - start);
		buffer_add(&writer->text, escape, made);
		start = at + bytes;
	}
	buffer_add(&writer->text, text + start, length - start);
	put(writer, "\"");
}

/* The fewest digits that read back equal: 0.03, not 0.029999999999999999.  2.0, not 2, which is an integer; 1e20, not 1e+20. */
static void
put_real(struct json_writer *writer, double value)
{
	char text[64], *exponent;

	snprintf(text, sizeof text, "%.*g", number_digits(value), value);
	if (!strpbrk(text, ".e"))
		strcat(text, ".0");
	if ((exponent = strchr(text, 'e'))) {
		char *from = ++exponent;
		if (*from == '-')
			exponent++;
		from += strspn(from, "+-0");
		memmove(exponent, from, strlen(from) + 1);
	}
	put(writer, text);
}

static void
put_line(struct json_writer *writer, int depth)
{
	if (!writer->indent)
		return;
	put(writer, "\n");
	for (int i = 0; i < depth * writer->indent; i++)
		put(writer, " ");
}

static void put_tree(struct json_writer *writer, const struct tree *tree, int depth);

static void
put_items(struct json_writer *writer, const struct tree *tree, int depth)
{
	bool object = tree->kind == TREE_OBJECT;

	put(writer, object ? "{" : "[");
	for (size_t i = 0; i < tree->count; i++) {
		const struct tree *item = tree->items[i];
		put(writer, i ? "," : "");
		put_line(writer, depth + 1);
		if (object) {
			put_string(writer, item->key, strlen(item->key));
			put(writer, writer->indent ? ": " : ":");
		}
		put_tree(writer, item, depth + 1);
	}
	if (tree->count)
		put_line(writer, depth);
	put(writer, object ? "}" : "]");
}

static void
put_tree(struct json_writer *writer, const struct tree *tree, int depth)
{
	char digits[NUMBER_ROOM];

	switch (tree->kind) {
	case TREE_NULL: put(writer, "null"); return;
	case TREE_BOOL: put(writer, tree->boolean ? "true" : "false"); return;
	case TREE_INTEGER:
		buffer_add(
		    &writer->text, digits, number_put_whole(digits, tree->integer));
		return;
	case TREE_REAL:
		if (tree->string)
			put(writer, tree->string);
		else if (isfinite(tree->real))
			put_real(writer, tree->real);
		else
			put(writer, "null");
		return;
	case TREE_STRING: put_string(writer, tree->string, tree->length); return;
	default: put_items(writer, tree, depth); return;
	}
}

char *
json_text(const struct tree *tree, int indent)
{
	struct json_writer writer = { .indent = indent };

	put_tree(&writer, tree, 0);
	buffer_add(&writer.text, "", 1);
	return writer.text.data;
}

void
json_print(const struct tree *tree)
{
	char *text = json_text(tree, 2);

	puts(text);
	free(text);
}
