/*
 * tokenise - tokenises texts of files and streams into one stream of token ids.
 *
 * An input is a text file (datafile.h) or a .mts stream.  A text field X becomes the column X.ids, i32, of the same
 * depth; other fields pass through.  All inputs must have the same fields.  Records of streams keep their rows; rows
 * of text files are grouped into records of `rows` rows or 64 MiB of text.
 *
 * With `passage`, each text is cut into passages first (passage_rows.h), and texts are kept; a file of plain lines is
 * one document, and a folder is the documents below it (documents.h).
 */
#ifndef TOKEN_TOKENISE_H
#define TOKEN_TOKENISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text/datafile.h"
#include "token/shard.h"
#include "token/frame.h"
#include "token/pair.h"
#include "token/pair_template.h"
#include "token/text_field.h"

/* The end at which longer texts are cut; TOKENISE_MODEL: the model's. */
enum tokenise_side { TOKENISE_MODEL, TOKENISE_LEFT, TOKENISE_RIGHT };

struct tokenise_options {
	const char *model; /* folder */
	const char *task,
	    *prompt; /* at most one of them; NULL: the prompt of the record or model */
	const char *template;	       /* a name or a text with {text}; NULL: none */
	enum frame_prepare prepare;    /* preparation of texts (frame.h) */
	struct text_field_list fields; /* empty: the usual names (text_field.h) */
	enum datafile_format format;   /* of text files */
	struct shard shard;	       /* of text files */
	int64_t max_line;	       /* limit of a line in bytes */
	size_t most;		       /* ids of a text; 0: the model's limit */
	enum tokenise_side side;
	size_t
	    passage; /* most ids of a passage; 0: only folders are cut, into at most 256 ids */
	size_t overlap; /* tokens that a passage shares with the one before it */
	bool pair;	/* two fields become one column of pairs (token_columns.h) */
	struct pair_asking asking;	 /* of pairs (pair_template.h) */
	enum pair_truncation truncation; /* of pairs */
	bool refuse;			 /* die on a longer text instead of cutting it */
	bool keep;			 /* keep the texts */
	int level;			 /* of compression; -1: the stream's default */
	int64_t rows;
	const char *output; /* "-": standard output */
};

struct tokenise;

/* Opens the tokenizer.  The options are borrowed; if `fields` is empty, it is filled from the first input.  files
 * [count]: the inputs, for progress; none: standard input. */
struct tokenise *tokenise_open(
    struct tokenise_options *options, char *const *files, int count);

/* Tokenises one input; "-": standard input. */
void tokenise_add(struct tokenise *stream, const char *path);

/* Tokenises the shard of text files that the options name.  The first records of each file determine its columns, even
 * in another shard: so all shards have the same columns. */
void tokenise_add_shard(struct tokenise *stream, char *const *files, int count);

/* Finishes the stream; warns of texts that were cut or had invalid UTF-8. */
void tokenise_close(struct tokenise *stream);

#endif
