/*
 * yaml_entries - large YAML files whose entries are parsed when they are asked for.
 *
 * The file consists of top-level keys, each with a value on its line or, below it, entries in flow style, one per line:
 *
 *	languages: eng-Latn
 *	tasks:
 *	  STS12: { type: STS, path: mteb/sts12-sts }
 *
 * An entry has kind TREE_UNREAD, its key and its line until yaml_entry parses it; a fault in it is found only then.
 */
#ifndef TEXT_YAML_ENTRIES_H
#define TEXT_YAML_ENTRIES_H

#include "text/tree.h"

/* As yaml_read, which it calls for a file that is not in this form.  Free with tree_free. */
struct tree *yaml_read_entries(const char *path);

/* Parses the entry if it is unread, and returns it.  Dies as yaml_read does. */
struct tree *yaml_entry(struct tree *entry);

/* Parses all unread entries of a section, in less time than one by one. */
void yaml_entries(struct tree *section);

#endif
