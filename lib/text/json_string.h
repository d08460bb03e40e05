/*
 * json_string - unescapes JSON strings; white space of JSON.
 */
#ifndef TEXT_JSON_STRING_H
#define TEXT_JSON_STRING_H

#include <stdbool.h>
#include <stddef.h>

static inline bool
json_is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* The place of the first character at or after `at` that is not white space; `length`: there is none. */
static inline size_t
json_skip_blanks(const char *text, size_t at, size_t length)
{
	while (at < length && json_is_blank(text[at]))
		at++;
	return at;
}

/* Unescapes text[length], the bytes between the quotes, into to[length], which must not overlap.  Returns the number of
 * bytes written, or -1 on an invalid escape. */
ptrdiff_t json_string_unescape(char *to, const char *text, size_t length);

#endif
