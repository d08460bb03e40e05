/*
 * json_string - unescapes JSON strings.
 */
#ifndef TEXT_JSON_STRING_H
#define TEXT_JSON_STRING_H

#include <stddef.h>

/* Unescapes text[length], the bytes between the quotes, into to[length], which must not overlap.  Returns the number of
 * bytes written, or -1 on an invalid escape. */
ptrdiff_t json_string_unescape(char *to, const char *text, size_t length);

#endif
