/*
 * fields - the texts of a record, by the field names of a recipe.
 *
 * A record is an object, or a list, whose fields are its indices.  A text is a string, a number, a boolean, a passage (an object
 * with `text` and perhaps `title`, which goes before it), or a conversation of one message (a list of an object with `role` and
 * `content`).  Dies with FILE:LINE on a missing field, and on any other value.
 */
#ifndef SAMPLE_FIELDS_H
#define SAMPLE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "text/tree.h"

struct fields {
	const char *spec;	  /* a name, or several joined by '+' */
	const char *optional;	  /* a name that records may lack; NULL: none */
	const struct tree *names; /* texts that replace values; NULL: none */
};

/* Chooses the text of a field that is a list. */
struct fields_choice {
	uint64_t chance;	     /* element number chance % count */
	const struct buffer *unlike; /* among texts that differ from this; NULL: all */
	bool all;		     /* all texts, joined by newlines */
};

/* The fields whose lists turn a row into several records, one per member. */
struct fields_each {
	const char **names; /* strings, NULL at the end */
	bool needed;	    /* a row must have them all */
};

/* NULL: the field is missing or null. */
const struct tree *fields_find(const struct tree *record, const char *name);

/* May be null; dies if the field is missing. */
const struct tree *fields_need(const struct tree *record, const char *name);

/* Appends the text; several fields are trimmed and joined by a blank, without empty ones. */
void fields_append(struct buffer *to, const struct tree *record,
    const struct fields *fields, const struct fields_choice *choice);

/* The number of texts of a value: a list's members, 0 for null, else 1; and one of them. */
size_t fields_texts(const struct tree *value);
const struct tree *fields_text(const struct tree *value, size_t index);

/* Appends the text of one value of the field `name`. */
void fields_append_value(struct buffer *to, const struct tree *record, const char *name,
    const struct tree *value);

/* A number, or a text of one; dies otherwise. */
double fields_number(
    const struct tree *record, const char *name, const struct tree *value);

/* The number of records of a row: the length of its lists; 1 without lists.  Dies if their lengths differ. */
size_t fields_members(const struct tree *row, const struct fields_each *each);

/* One of them as JSON: the row with a member of each list instead of the list.  The caller frees it. */
char *fields_member(
    const struct tree *row, const struct fields_each *each, size_t member);

#endif
