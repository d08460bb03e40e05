/*
 * text_field - the texts of a column, or of several columns joined.
 *
 * "text" is the column text; "document=title+text" joins two columns row by row with a blank: each text is trimmed,
 * and empty ones are skipped.
 */
#ifndef TOKEN_TEXT_FIELD_H
#define TOKEN_TEXT_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/stream.h"
#include "stream/text_column.h"

struct text_field {
	char *name;
	char **parts; /* [count] column names */
	int *columns; /* [count] column indices, set by text_field_find */
	size_t count;
	bool
	    required; /* every record of a text file must have it; initially true unless joined */
	struct text_column joined; /* of text_field_texts */
};

struct text_field_list {
	struct text_field **items;
	size_t count, capacity;
};

/* Appends a field given as an option: "text", "document=title+text".  Usage error on "a+b" without a name and on a name that the
 * list has. */
struct text_field *text_field_add(struct text_field_list *list, const char *option);

/* Append the usual fields that the record or columns have: text, sentence1, sentence2, query, document, negatives,
 * positive, negative, sentences, sent1, sent2, human_summaries, machine_summaries.  If there is none, append "text",
 * which text_field_check and text_field_find then report as missing. */
void text_field_add_members(struct text_field_list *list, const struct tree *record);
void text_field_add_columns(
    struct text_field_list *list, const struct column *columns, int count);
void text_field_list_free(struct text_field_list *list);

/* Dies if a required field of a text file's record is missing or null; the message lists the members. */
void text_field_check(const struct text_field *field, const char *file, int64_t line,
    const struct tree *record);

/* Finds the columns.  Dies if one is missing, is not text, or has lists of texts that would be joined; the message
 * lists the text columns of `input`. */
void text_field_find(
    struct text_field *field, const char *input, const struct column *columns, int count);

/* The texts of a record; borrowed from the record or from the field. */
struct array text_field_texts(struct text_field *field, const struct record *record);

#endif
