/*
 * field - the texts that a program is asked to work on: a column, or several joined.
 *
 * "text" is the column text; "document=title+text" joins two, row by row, by one blank:
 * each stripped of white space at its ends, empty ones left out.
 */
#ifndef FIELD_H
#define FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/stream.h"

struct field {
	char *name;
	char **parts; /* names of columns */
	int *columns; /* their indices, once found */
	size_t count;
	bool
	    required; /* every record of a text file must have it; at first: not joined */
	char *bytes;  /* what field_text joined */
	int64_t *offsets;
	size_t bytes_room, offsets_room;
};

struct field_list {
	struct field **items;
	size_t count, capacity;
};

/* Append a field; `option` as the command line has it: "text", "document=title+text".  Exits 2
 * on "a+b" without a name. */
struct field *field_add(struct field_list *list, const char *option);

/* Append the usual names that are there: text, sentence1, sentence2, query, document, negatives,
 * positive, negative, sentences, sent1, sent2, human_summaries, machine_summaries; "text", which will
 * be missed, when there is none. */
void field_add_members(struct field_list *list, const struct tree *record);
void field_add_columns(struct field_list *list, const struct column *columns, int count);
void field_list_free(struct field_list *list);

/* Die, naming file, line and the members there are, when a record of a text file lacks a
 * field that is required, or has null. */
void field_check(
    const struct field *field, const char *file, int64_t line, const struct tree *record);

/* Look the parts up; dies, naming `input` and the text columns there are, when one is absent
 * or no text, or when lists of texts are to be joined. */
void field_find(
    struct field *field, const char *input, const struct column *columns, int count);

/* The field's texts in a record; borrowed from the record, or from the field. */
struct array field_text(struct field *field, const struct record *record);

#endif
