/*
 * token_columns - the columns of ids that tok makes of a record's texts.
 *
 * A text field X becomes the column X.ids, i32, of the same depth.  With options->pair two fields become one: pair.ids, i32 [.],
 * and pair.second, i32, the place where the second segment begins (pair.h; 0: all tokens have the type 0).
 * With a role, X.attended may stand beside them (role.h).
 */
#ifndef TOKEN_TOKEN_COLUMNS_H
#define TOKEN_TOKEN_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include "stream/stream.h"
#include "stream/table.h"
#include "token/role.h"
#include "token/template.h"
#include "token/tokenise.h"

struct token_columns;

struct token_counts {
	int64_t texts, cut, repaired, empty;
};

/* options, tokenizer, template (NULL: none) and role (NULL: none) are borrowed.  most: ids of a text or pair; 0: no limit. */
struct token_columns *token_columns_new(struct tokenise_options *options,
    const struct tokenizer *tokenizer, const struct template *template, struct role *role,
    size_t most);
void token_columns_free(struct token_columns *made);

/* A new frame of texts, as the columns' own, for at most `most` ids; the caller frees it. */
struct frame *token_columns_frame(const struct token_columns *made, size_t most);

/* The prompt that texts get unless their record has one; NULL: none. */
const char *token_columns_prompt(const struct token_columns *made);

/* Adds the columns to a stream; the fields have been found in columns. */
void token_columns_add(
    struct token_columns *made, const struct column *columns, struct writer *writer);

/* Where a record comes from, for messages. */
struct token_place {
	const char *name;
	int64_t number; /* of the record, from 1 */
	const struct table
	    *lines; /* of a text file; NULL: rows are not lines of a file */
};

/* Fills in the columns of a record.  Dies where a text must not be cut and is too long. */
void token_columns_make(struct token_columns *made, const struct token_place *place,
    const struct record *from, struct record *to);

const struct token_counts *token_columns_counts(const struct token_columns *made);

#endif
