/*
 * pretokenizer - the "pre_tokenizer" of a tokenizer.json: a text into the pieces that the model
 * takes one by one.
 *
 * ByteLevel, Metaspace, Split, Digits, Punctuation, Whitespace, WhitespaceSplit, BertPreTokenizer
 * and Sequences of them, as the reference has them; any other is refused by name.
 */
#ifndef TOKEN_PRETOKENIZER_H
#define TOKEN_PRETOKENIZER_H

#include <stdbool.h>
#include <stddef.h>

#include "text/tree.h"

struct pretokenizer;

/* From the file's "pre_tokenizer"; NULL: none, a text is one piece. */
struct pretokenizer *pretokenizer_new(const struct tree *node);

/* Whether the last thing it does is to write each byte as a character (ByteLevel).  If so, it
 * no longer does: a model of bytes takes the pieces as they are. */
bool pretokenizer_leave_bytes(struct pretokenizer *pretokenizer);

/* Whether it asks for the lead (normalizer.h): a Metaspace whose prepend_scheme is first. */
bool pretokenizer_wants_lead(const struct pretokenizer *pretokenizer);

/* The pieces, none of them empty, of valid UTF-8, in order; `each` returns false to stop, and
 * then so does this, before it has looked at what follows.  Linear for the expressions that
 * splitter.h knows.  lead: the text's. */
typedef bool pretokenizer_piece(void *context, const char *text, size_t length);
bool pretokenizer_run(const struct pretokenizer *pretokenizer, const char *text,
    size_t length, size_t lead, pretokenizer_piece *each, void *context);
void pretokenizer_free(struct pretokenizer *pretokenizer);

#endif
