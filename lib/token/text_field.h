/*
 * text_field - the texts that a program is asked to work on: a column, or several joined.
 *
 * "text" is the column text; "document=title+text" joins two, row by row, by one blank:
 * each stripped of white space at its ends, empty ones left out.
 */
#ifndef TOKEN_TEXT_FIELD_H
#define TOKEN_TEXT_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/stream.h"

struct text_field {
	char *name;
	char **parts; /* names of columns */
	int *columns; /* their indices, once found */
	size_t count;
	bool
	    required; /* every record of a text file must have it; at first: not joined */
	char *bytes;  /* what text_field_texts joined */
	int64_t *offsets;
	size_t bytes_room, offsets_room;
};

struct text_field_list {
	struct text_field **items;
	size_t count, capacity;
};

/* Append a field; `option` as the command line has it: "text", "document=title+text".  Exits 2
 * on "a+b" without a name. */
struct text_field *text_field_add(struct text_field_list *list, const char *option);

/* Append the usual names that are there: text, sentence1, sentence2, query, document, negatives,
 * positive, negative, sentences, sent1, sent2, human_summaries, machine_summaries; "text", which will
 * be missed, when there is none. */
void text_field_add_members(struct text_field_list *list, const struct tree *record);
void text_field_add_columns(
    struct text_field_list *list, const struct column *columns, int count);
void text_field_list_free(struct text_field_list *list);

/* Die, naming file, line and the members there are, when a record of a text file lacks a
 * field that is required, or has null. */
void text_field_check(const struct text_field *field, const char *file, int64_t line,
    const struct tree *record);

/* Look the parts up; dies, naming `input` and the text columns there are, when one is absent
 * or no text, or when lists of texts are to be joined. */
void text_field_find(
    struct text_field *field, const char *input, const struct column *columns, int count);

/* The field's texts in a record; borrowed from the record, or from the field. */
struct array text_field_texts(struct text_field *field, const struct record *record);

#endif
