/*
 * fields - the texts of a record, by the names of its fields as a recipe gives them.
 *
 * A record is an object, or a list, whose fields are its elements' numbers.  A text is a string, a number, a boolean, a
 * passage (an object with `text` and perhaps `title`, which goes before it), or a conversation of one message (a list of
 * an object with `role` and `content`).  Dies with FILE:LINE on a field that is not there, and on a value that is none
 * of these.
 */
#ifndef SAMPLE_FIELDS_H
#define SAMPLE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "text/tree.h"

struct fields {
	const char *spec;     /* a name, or several joined by '+' */
	const char *optional; /* a name that records may lack; NULL: none */
	const struct tree
	    *names; /* what values are called in their place; NULL: themselves */
};

/* Which text, where a field is a list of them. */
struct fields_choice {
	uint64_t chance; /* element chance modulo their number */
	/* only of those that are not this text, where nothing precedes it; NULL: of all */
	const struct buffer *unlike;
	bool all; /* all of them, with line ends between */
};

/* The fields whose lists make a row several records, one of each member. */
struct fields_each {
	const char **names; /* as strings; a NULL behind the last */
	bool needed;	    /* a row must have them all */
};

/* NULL: there is no such field, or it is null. */
const struct tree *fields_find(const struct tree *record, const char *name);

/* The same, but dies when it is not there, and may be null. */
const struct tree *fields_need(const struct tree *record, const char *name);

/* Append the text; of several fields with a blank between, trimmed, empty ones left out. */
void fields_append(struct buffer *to, const struct tree *record,
    const struct fields *fields, const struct fields_choice *choice);

/* How many texts a value is: of a list its members, of null none; and one of them. */
size_t fields_texts(const struct tree *value);
const struct tree *fields_text(const struct tree *value, size_t index);

/* Appends the text of one value of the field `name`. */
void fields_append_value(struct buffer *to, const struct tree *record, const char *name,
    const struct tree *value);

/* Records that a row makes: as many as its lists have members; of none of them a list, 1.  Dies on
 * lists of different lengths. */
size_t fields_members(const struct tree *row, const struct fields_each *each);

/* One of them as JSON, to be freed: the row with a member of each list in the list's place. */
char *fields_member(
    const struct tree *row, const struct fields_each *each, size_t member);

#endif
