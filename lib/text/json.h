/*
 * json - JSON texts as trees, and trees as JSON.  Only this module knows jansson.
 *
 * Strict: duplicate members, invalid UTF-8, nesting beyond 512, trailing bytes and
 * numbers that overflow are refused, with FILE:LINE.
 */
#ifndef JSON_H
#define JSON_H

#include <stddef.h>

#include "text/tree.h"

/* `name` is how messages call the text; `line` is the line it starts on (for JSON
 * Lines), normally 1.  The name is borrowed.  Free with tree_free. */
struct tree *json_parse(const char *text, size_t length, const char *name, int line);

/* Read a whole file; dies when it is absent.  Integers beyond 64 bits are reals there: transformers
 * writes a length without a limit as 10^30. */
struct tree *json_read(const char *path);

/* NULL when the file does not exist. */
struct tree *json_read_optional(const char *path);

/* Compact when indent is 0.  Reals are written so that they read back equal.
 * The caller frees the text. */
char *json_text(const struct tree *tree, int indent);

/* Two blanks a level, and the end of a line, to standard output. */
void json_print(const struct tree *tree);

#endif
