/*
 * jinja - renders chat templates: the part of Jinja that templates of embedding models and rerankers use, as transformers renders it.
 * Debian has no C library for Jinja.
 *
 * Text; {{ expressions }} of texts, whole numbers, lists and objects, with slices and namespaces, the filters selectattr, rejectattr,
 * map(attribute=), first, last, list, length, join, default, trim and string, the methods strip, lstrip, rstrip, startswith, endswith
 * and get; {% set %}, {% if %}, {% for %}, which may end in a condition; {# comments #}.  White space around tags is removed as with
 * trim_blocks and lstrip_blocks.  Other parts of Jinja are refused by name where they are reached; a branch that is not taken may hold
 * anything.
 */
#ifndef TEXT_JINJA_H
#define TEXT_JINJA_H

#include <stddef.h>

#include "text/tree.h"

struct jinja;

/* name: for messages. */
struct jinja *jinja_new(const char *source, size_t length, const char *name);
void jinja_free(struct jinja *template);

/* The text, to be freed, and its length.  variables: an object.  Dies where the template is wrong or not supported.
 * Thread-safe. */
char *jinja_render(
    const struct jinja *template, const struct tree *variables, size_t *length);

#endif
