/*
 * pretoken - the "pre_tokenizer" of a tokenizer.json: a text into the pieces that the model
 * takes one by one.
 *
 * ByteLevel, Split, Digits, Punctuation, Whitespace, WhitespaceSplit, BertPreTokenizer and
 * Sequences of them, as the reference has them; any other is refused by name.
 */
#ifndef PRETOKEN_H
#define PRETOKEN_H

#include <stdbool.h>
#include <stddef.h>

#include "text/tree.h"

struct pretoken;

/* From the file's "pre_tokenizer"; NULL: none, a text is one piece. */
struct pretoken *pretoken_new(const struct tree *node);

/* Whether the last thing it does is to write each byte as a character (ByteLevel).  If so, it
 * no longer does: a model of bytes takes the pieces as they are. */
bool pretoken_leave_bytes(struct pretoken *pretoken);

/* The pieces, none of them empty, of valid UTF-8, in order; `each` returns false to stop, and
 * then so does this, before it has looked at what follows.  Linear for the expressions that
 * splitter.h knows. */
typedef bool pretoken_piece(void *context, const char *text, size_t length);
bool pretoken_run(const struct pretoken *pretoken, const char *text, size_t length,
    pretoken_piece *each, void *context);
void pretoken_free(struct pretoken *pretoken);

#endif
