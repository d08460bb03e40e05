#include "text/cut.h"

#include <string.h>

#include "text/json_string.h"

static const char *
record_end(struct cut *cut, const char *text, size_t held)
{
	for (size_t i = cut->searched; i < held; i++) {
		cut->quotes += text[i] == '"';
		if (text[i] == cut->end && cut->quotes % 2 == 0)
			return text + i;
	}
	return NULL;
}

static const char *
element_end(struct cut *cut, const char *text, size_t held)
{
	for (size_t i = cut->searched; i < held; i++) {
		char c = text[i];
		bool closes = c == '}' || c == ']';
		if (cut->quoted) {
			cut->quoted = cut->escaped || c != '"';
			cut->escaped = !cut->escaped && c == '\\';
			if (!cut->quoted && !cut->depth)
				return text + i + 1;
		} else if (c == '"') {
			cut->quoted = true;
		} else if (!cut->depth && (c == ',' || closes || json_is_blank(c))) {
			return text + i;
		} else if (closes) {
			if (!--cut->depth)
				return text + i + 1;
		} else {
			cut->depth += c == '{' || c == '[';
		}
	}
	return NULL;
}

const char *
cut_end(struct cut *cut, const char *text, size_t held)
{
	const char *stop = NULL;

	if (held > cut->searched)
		stop = cut->kind == CUT_CSV ? record_end(cut, text, held)
		       : cut->kind == CUT_ELEMENTS
			   ? element_end(cut, text, held)
			   : memchr(text + cut->searched, cut->end, held - cut->searched);
	cut->searched = stop ? (size_t)(stop - text) : held;
	return stop;
}

void
cut_next(struct cut *cut)
{
	*cut = (struct cut){ .kind = cut->kind, .end = cut->end };
}

/* The first line end of a table; in CSV, outside quotes. */
static char
table_line_end(bool csv, const char *text, size_t held, bool whole)
{
	size_t quotes = 0;

	for (size_t i = 0; i < held; i++) {
		quotes += csv && text[i] == '"';
		if (quotes % 2 || (text[i] != '\n' && text[i] != '\r'))
			continue;
		if (text[i] == '\n')
			return '\n';
		if (i + 1 < held)
			return text[i + 1] == '\n' ? '\n' : '\r';
		return whole ? '\r' : 0;
	}
	return whole ? '\n' : 0;
}

char
cut_line_end(bool table, bool csv, const char *text, size_t held, bool whole)
{
	if (table)
		return table_line_end(csv, text, held, whole);
	if (held && memchr(text, '\n', held))
		return '\n';
	return !whole ? 0 : held && memchr(text, '\r', held) ? '\r' : '\n';
}

/* Whether the first line, which begins with two brackets, is a part of an array of lists or all of it. */
static int
is_array_of_lists(const char *text, size_t from, size_t held, bool whole)
{
	const char *end = memchr(text + from, '\n', held - from);
	size_t line = end ? (size_t)(end - text) : held;

	if (!end && !whole)
		return -1;
	if (json_skip_blanks(text, line, held) == held)
		return whole ? 1 : -1;
	while (json_is_blank(text[line]))
		line--;
	return text[line] != ']';
}

int
cut_is_array(const char *text, size_t held, bool whole)
{
	size_t mark = held >= 3 && !memcmp(text, "\xEF\xBB\xBF", 3) ? 3 : 0;
	size_t first = json_skip_blanks(text, mark, held);

	if (first == held)
		return whole ? 0 : -1;
	if (text[first] != '[')
		return 0;
	size_t second = json_skip_blanks(text, first + 1, held);
	if (second == held)
		return whole ? 0 : -1;
	if (text[second] == ']' && json_skip_blanks(text, second + 1, held) == held)
		return whole ? 1 : -1;
	if (text[second] != '[')
		return text[second] == '{';
	if (memchr(text + first, '\n', second - first))
		return 1;
	return is_array_of_lists(text, first, held, whole);
}
