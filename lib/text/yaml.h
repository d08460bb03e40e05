/*
 * yaml - YAML recipes as trees.  Only this module knows libyaml.
 *
 * The core schema: null, true/false, integers, reals, strings; quoted scalars are
 * strings.  Anchors, aliases and merge keys work; duplicate keys, several documents
 * and tags are refused with FILE:LINE.
 */
#ifndef TEXT_YAML_H
#define TEXT_YAML_H

#include "text/tree.h"

/* "-" is standard input.  Free with tree_free. */
struct tree *yaml_read(const char *path);

#endif
