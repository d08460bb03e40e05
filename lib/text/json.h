/*
 * json - JSON texts as trees, and trees as JSON.
 *
 * Strict: duplicate members, invalid UTF-8, nesting beyond 512, trailing bytes and numbers that
 * overflow are refused, with FILE:LINE.  NaN and infinities are written as null.
 */
#ifndef TEXT_JSON_H
#define TEXT_JSON_H

#include <stddef.h>

#include "text/tree.h"

/* `name` is how messages call the text; `line` is the line it starts on (for JSON
 * Lines), normally 1.  The name is borrowed.  Free with tree_free. */
struct tree *json_parse(const char *text, size_t length, const char *name, int line);

/* The same of other people's JSON, as Python writes and reads it: NaN, Infinity and -Infinity are reals, an integer
 * beyond 64 bits is a real that keeps its digits (tree.h).  Of members of one name the last counts;
 * where they differ, who asks for it dies (tree_once). */
struct tree *json_parse_python(
    const char *text, size_t length, const char *name, int line);

/* Read a whole file, as json_parse_python; dies when it is absent. */
struct tree *json_read(const char *path);

/* NULL when the file does not exist. */
struct tree *json_read_optional(const char *path);

/* Read the file `name` in a folder: json_find returns NULL when it does not exist, json_need dies. */
struct tree *json_find(const char *folder, const char *name);
struct tree *json_need(const char *folder, const char *name);

/* Compact when indent is 0.  Reals are written so that they read back equal.
 * The caller frees the text. */
char *json_text(const struct tree *tree, int indent);

/* Two blanks a level, and the end of a line, to standard output. */
void json_print(const struct tree *tree);

#endif
