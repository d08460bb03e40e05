/*
 * tokenise - texts of files and streams to one stream of token ids.
 *
 * Every input is a text file (plain, gzip, zstd; JSON Lines, TSV, CSV, lines) or a tensor stream.
 * A field X of text becomes the column X.ids, i32, of the same depth; other fields pass
 * through.  All inputs have the same fields.  Records of streams stay as they are; of text
 * files `rows` rows make one, or as many as hold 64 MiB.
 *
 * With passages each text is cut into passages first (passage_rows.h), a text file of lines as a whole, and a folder
 * is the documents below it (documents.h); the texts then stay.
 */
#ifndef TOKEN_TOKENISE_H
#define TOKEN_TOKENISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text/datafile.h"
#include "token/shard.h"
#include "token/frame.h"
#include "token/text_field.h"

/* Where longer texts are cut. */
enum tokenise_side { TOKENISE_MODEL, TOKENISE_LEFT, TOKENISE_RIGHT };

struct tokenise_options {
	const char *model; /* folder */
	const char *task,
	    *prompt; /* at most one of them; NULL: as the record or the model says */
	const char *template;	       /* a name or a text with {text}; NULL: none */
	enum frame_prepare prepare;    /* what is done to a text first */
	struct text_field_list fields; /* none: those of the usual names that are there */
	enum datafile_format format;   /* of text files */
	struct shard shard;	       /* which part of them */
	int64_t max_line;	       /* the longest in them, in bytes */
	size_t most;		       /* ids of a text; 0: as the model says */
	enum tokenise_side side;
	size_t
	    passage; /* ids of a passage at most; 0: only folders are cut, into 256 ids or what the model takes */
	size_t overlap; /* tokens that a passage repeats of the one before it */
	bool refuse;	/* die on a longer text, do not cut it */
	bool keep;	/* the texts stay */
	int level;	/* of compression; -1: the stream's default */
	int64_t rows;
	const char *output; /* "-": standard output */
};

struct tokenise;

/* Opens the tokenizer; the options are borrowed, their fields are filled in when none are.  files:
 * what will be added, for the progress; none: standard input. */
struct tokenise *tokenise_open(
    struct tokenise_options *options, char *const *files, int count);

/* Tokenise one input ("-": standard input). */
void tokenise_add(struct tokenise *stream, const char *path);

/* Tokenise the part of text files that the options name.  The first records of each file decide on its
 * columns, though they be of another part: so all parts have the same. */
void tokenise_add_shard(struct tokenise *stream, char *const *files, int count);

/* Finish the stream; warn of texts that were cut or repaired, with their number. */
void tokenise_close(struct tokenise *stream);

#endif
