/*
 * decoder - tokens back to text, as the "decoder" of a tokenizer.json says.
 *
 * Steps: ByteLevel, WordPiece, Metaspace, Replace (of a string), ByteFallback, Fuse, Strip and
 * Sequences of them; without a decoder tokens are joined by blanks.  Others are named and refused, but only
 * when something is to be decoded.
 */
#ifndef TOKEN_DECODER_H
#define TOKEN_DECODER_H

#include <stddef.h>

#include "text/tree.h"

/* Texts one after another. */
struct pieces {
	char *bytes;
	size_t *ends; /* [count] */
	size_t used, room, count, ends_room;
};

void pieces_add(struct pieces *pieces, const char *text, size_t length);
void pieces_free(struct pieces *pieces);

struct decoder;

/* The section may be NULL: none. */
struct decoder *decoder_new(const struct tree *section);

/* What BERT's vocab.txt goes with: WordPiece, with the clean-up. */
struct decoder *decoder_wordpiece(void);

/* The text of the tokens, to be freed; its bytes in *made.  Valid UTF-8, a U+FFFD for each bad
 * part.  The tokens are used up.  Dies when the section was not understood. */
char *decoder_run(const struct decoder *decoder, struct pieces *tokens, size_t *made);
void decoder_free(struct decoder *decoder);

#endif
