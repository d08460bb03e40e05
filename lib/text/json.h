/*
 * json - parses JSON into trees (tree.h) and writes trees as JSON.
 *
 * The parser dies with FILE:LINE on duplicate members, invalid UTF-8, nesting beyond 512, trailing bytes and
 * overflowing numbers.  NaN and infinities are written as null.
 */
#ifndef TEXT_JSON_H
#define TEXT_JSON_H

#include <stddef.h>

#include "text/tree.h"

/* Parses a text; free the tree with tree_free.  name: for messages, borrowed by the tree.  line: number of the text's
 * first line, which all values get; 0: a whole file, whose values have no line. */
struct tree *json_parse(const char *text, size_t length, const char *name, int line);

/* As json_parse, with Python's extensions: NaN, Infinity and -Infinity are reals; an integer beyond 64 bits is a real
 * that keeps its digits (tree.h).  Of duplicate members the last counts; if they differ, tree_get dies (tree_once). */
struct tree *json_parse_python(
    const char *text, size_t length, const char *name, int line);

/* Parses a file as json_parse_python does; dies if it does not exist. */
struct tree *json_read(const char *path);

/* As json_read, but returns NULL if the file does not exist. */
struct tree *json_read_optional(const char *path);

/* Parse the file `name` of a folder.  If it does not exist, json_find returns NULL and json_need dies. */
struct tree *json_find(const char *folder, const char *name);
struct tree *json_need(const char *folder, const char *name);

/* The JSON text, to be freed; compact if indent is 0.  Reals read back equal. */
char *json_text(const struct tree *tree, int indent);

/* Prints to standard output, indented by two blanks, with a line feed at the end. */
void json_print(const struct tree *tree);

#endif
