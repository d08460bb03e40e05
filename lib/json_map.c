#include "json_map.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "json.h"
#include "mem.h"
#include "utf8.h"

/* A cursor that only walks; what it cannot read it leaves to the strict parser, which then
 * says what is wrong and where. */
struct cursor {
	const char *at, *end;
};

static bool
take(struct cursor *cursor, char wanted)
{
	while (cursor->at < cursor->end && strchr(" \t\r\n", *cursor->at) && *cursor->at)
		cursor->at++;
	if (cursor->at == cursor->end || *cursor->at != wanted)
		return false;
	cursor->at++;
	return true;
}

/* The raw inside of a string. */
static bool
take_string(struct cursor *cursor, const char **start, size_t *length)
{
	if (!take(cursor, '"'))
		return false;
	*start = cursor->at;
	for (; cursor->at < cursor->end && *cursor->at != '"'; cursor->at++)
		if (*cursor->at == '\\' && ++cursor->at == cursor->end)
			return false;
	if (cursor->at == cursor->end)
		return false;
	*length = (size_t)(cursor->at++ - *start);
	return true;
}

static bool
skip_value(struct cursor *cursor)
{
	const char *start;
	size_t length;
	int depth = 0;

	take(cursor, 0); /* white space */
	while (cursor->at < cursor->end) {
		char c = *cursor->at;
		if (c == '"') {
			if (!take_string(cursor, &start, &length))
				return false;
			continue;
		}
		if ((c == ',' || c == '}' || c == ']') && depth == 0)
			return true;
		depth += (c == '{' || c == '[') - (c == '}' || c == ']');
		cursor->at++;
	}
	return false;
}

/* Enter the object at the cursor and stop at the value of a member. */
static bool
enter(struct cursor *cursor, const char *key)
{
	const char *start;
	size_t length;

	if (!take(cursor, '{'))
		return false;
	do {
		if (!take_string(cursor, &start, &length) || !take(cursor, ':'))
			return false;
		if (length == strlen(key) && !memcmp(start, key, length))
			return true;
		if (!skip_value(cursor))
			return false;
	} while (take(cursor, ','));
	return false;
}

static bool
hex4(const char *text, const char *end, int32_t *code)
{
	if (end - text < 4)
		return false;
	*code = 0;
	for (int i = 0; i < 4; i++) {
		const char *digits = "0123456789abcdef";
		const char *digit =
		    memchr(digits, text[i] | (text[i] >= 'A' ? 0x20 : 0), 16);
		if (!digit)
			return false;
		*code = *code << 4 | (int32_t)(digit - digits);
	}
	return true;
}

/* Undo the escapes; returns the length, or -1. */
static ptrdiff_t
unescape(char *to, const char *text, size_t length)
{
	const char *end = text + length;
	char *start = to;

	while (text < end) {
		static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
		const char *which;
		int32_t code, low;
		if (*text != '\\') {
			*to++ = *text++;
		} else if (text[1] != 'u') {
			if (!(which = memchr(from, text[1], sizeof from - 1)))
				return -1;
			*to++ = into[which - from];
			text += 2;
		} else {
			if (!hex4(text + 2, end, &code))
				return -1;
			text += 6;
			if (code >= 0xD800 && code < 0xDC00) {
				if (end - text < 6 || text[0] != '\\' || text[1] != 'u' ||
				    !hex4(text + 2, end, &low) || low < 0xDC00 ||
				    low > 0xDFFF)
					return -1;
				code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
				text += 6;
			} else if (code >= 0xDC00 && code < 0xE000) {
				return -1;
			}
			to += utf8_encode(code, to);
		}
	}
	return to - start;
}

static bool
take_integer(struct cursor *cursor, int64_t *number)
{
	bool negative = take(cursor, '-');
	const char *start = cursor->at;

	*number = 0;
	while (cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9' &&
	       cursor->at - start < 18)
		*number = 10 * *number + (*cursor->at++ - '0');
	if (negative)
		*number = -*number;
	return cursor->at > start && cursor->at < cursor->end &&
	       strchr(" \t\r\n,}", *cursor->at);
}

static bool
take_members(struct cursor *cursor, json_map_member *member, void *context)
{
	size_t room = 0;
	char *scratch = NULL;
	bool good = take(cursor, '{');

	if (good && take(cursor, '}'))
		return true;
	while (good) {
		const char *text;
		size_t length;
		int64_t number;
		good = take_string(cursor, &text, &length) && take(cursor, ':') &&
		       take_integer(cursor, &number) &&
		       utf8_valid(text, length) == length;
		if (good && memchr(text, '\\', length)) {
			scratch = mem_grow(scratch, &room, length + 1, 1);
			ptrdiff_t made = unescape(scratch, text, length);
			good = made >= 0;
			text = scratch;
			length = (size_t)made;
		}
		if (good)
			member(context, text, length, number);
		if (good && !take(cursor, ','))
			break;
	}
	free(scratch);
	return good && take(cursor, '}');
}

/* The text with a span replaced by null and its line breaks, so that lines keep their number. */
static struct tree *
parse_without(
    const char *path, const char *text, size_t length, const char *start, const char *end)
{
	char *rest = mem_new(mem_add(length, 5, path), 1), *to = rest;

	memcpy(to, text, (size_t)(start - text));
	to += start - text;
	memcpy(to, "null", 4);
	to += 4;
	for (const char *at = start; (at = memchr(at, '\n', (size_t)(end - at))); at++)
		*to++ = '\n';
	memcpy(to, end, (size_t)(text + length - end));
	to += text + length - end;
	char *name = mem_string(path);
	struct tree *tree = json_parse(rest, (size_t)(to - rest), name, 1);
	tree->name = name;
	free(rest);
	return tree;
}

struct tree *
json_map_read(const char *path, const char *text, size_t length, const char *outer,
    const char *inner, json_map_member *member, void *context)
{
	struct cursor cursor = { text, text + length };

	if (enter(&cursor, outer) && enter(&cursor, inner) && !take(&cursor, 0) &&
	    cursor.at < cursor.end && *cursor.at == '{') {
		const char *start = cursor.at;
		if (take_members(&cursor, member, context))
			return parse_without(path, text, length, start, cursor.at);
		tree_free(json_parse(
		    text, length, path, 1)); /* says what is wrong, if it is JSON's */
		die("%s: '%s' of '%s' must be an object of integers", path, inner, outer);
	}
	char *name = mem_string(path);
	struct tree *tree = json_parse(text, length, name, 1);
	tree->name = name;
	return tree;
}
