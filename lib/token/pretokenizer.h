/*
 * pretokenizer - the "pre_tokenizer" of a tokenizer.json: splits a text into pre-tokens, which the model encodes one
 * by one.
 *
 * Supports ByteLevel, Metaspace, Split, Digits, Punctuation, Whitespace, WhitespaceSplit, BertPreTokenizer and
 * Sequences of them; refuses any other by name.
 */
#ifndef TOKEN_PRETOKENIZER_H
#define TOKEN_PRETOKENIZER_H

#include <stdbool.h>
#include <stddef.h>

#include "text/tree.h"

struct pretokenizer;

/* node: "pre_tokenizer" of tokenizer.json; NULL: none, so that a text is one pre-token. */
struct pretokenizer *pretokenizer_new(const struct tree *node);

/* If the last step is ByteLevel, stops writing each byte as a character and returns true: the model encodes bytes
 * (bpe_rules). */
bool pretokenizer_leave_bytes(struct pretokenizer *pretokenizer);

/* Whether it needs the lead (normalizer.h): a Metaspace with prepend_scheme "first". */
bool pretokenizer_wants_lead(const struct pretokenizer *pretokenizer);

/* Calls `each` for the pre-tokens of a text of valid UTF-8, in order; none is empty.  If `each` returns false, stops
 * without reading on and returns false.  Linear time for the expressions that splitter.h matches itself.  lead: of the
 * text. */
typedef bool pretokenizer_piece(void *context, const char *text, size_t length);
bool pretokenizer_run(const struct pretokenizer *pretokenizer, const char *text,
    size_t length, size_t lead, pretokenizer_piece *each, void *context);
void pretokenizer_free(struct pretokenizer *pretokenizer);

#endif
