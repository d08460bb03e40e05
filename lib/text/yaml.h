/*
 * yaml - parses YAML into trees (tree.h), by libyaml.
 *
 * Core schema: null, true/false, integers, reals, strings; quoted scalars are strings.  Anchors, aliases and merge keys
 * work.  Dies with FILE:LINE on duplicate keys, several documents and tags.
 */
#ifndef TEXT_YAML_H
#define TEXT_YAML_H

#include "text/tree.h"

/* "-" is standard input.  Free with tree_free. */
struct tree *yaml_read(const char *path);

/* The same of a text, whose first line is number `line` of the file `name`, which the nodes borrow. */
struct tree *yaml_parse(const char *text, size_t length, const char *name, int line);

#endif
