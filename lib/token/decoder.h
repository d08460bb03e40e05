/*
 * decoder - turns tokens into text: the "decoder" of a tokenizer.json.
 *
 * Supports ByteLevel, WordPiece, Metaspace, Replace (of a string), ByteFallback, Fuse, Strip and Sequences of them.
 * Without a decoder tokens are joined by blanks.  Others are refused by name in decoder_run.
 */
#ifndef TOKEN_DECODER_H
#define TOKEN_DECODER_H

#include <stddef.h>

#include "base/buffer.h"
#include "text/tree.h"

/* A list of texts.  Zeroed: empty. */
struct pieces {
	struct buffer bytes;
	struct numbers ends; /* offsets in bytes */
	size_t most;	     /* bytes; decoder_run's */
};

void pieces_add(struct pieces *pieces, const char *text, size_t length);
void pieces_free(struct pieces *pieces);

struct decoder;

/* section: "decoder" of tokenizer.json; NULL: none. */
struct decoder *decoder_new(const struct tree *section);

/* The text of the tokens, to be freed; *made: its length in bytes.  It is valid UTF-8, with U+FFFD for each invalid
 * part. Changes the tokens.  Dies if the decoder is not supported. */
char *decoder_run(const struct decoder *decoder, struct pieces *tokens, size_t *made);
void decoder_free(struct decoder *decoder);

#endif
