/*
 * json_string - the escapes of JSON's strings.
 */
#ifndef TEXT_JSON_STRING_H
#define TEXT_JSON_STRING_H

#include <stddef.h>

/* Undoes the escapes of what stands between the quotes.  `to` has room for `length` bytes and may not
 * overlap the text.  Returns the length, or -1 for an escape that JSON does not have. */
ptrdiff_t json_string_unescape(char *to, const char *text, size_t length);

#endif
