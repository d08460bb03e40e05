/*
 * normalizer - the "normalizer" of a tokenizer.json: transforms a text before it is split.
 *
 * Supports NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, BertNormalizer, Precompiled, Replace, Prepend, Strip and
 * Sequences of them; refuses any other by name.
 *
 * The lead is the number of bytes at the start of a text that come from the input's first character; Metaspace needs
 * it. Precompiled, Replace, Prepend and Strip track it as the reference's alignments do.
 */
#ifndef TOKEN_NORMALIZER_H
#define TOKEN_NORMALIZER_H

#include <stddef.h>

#include "text/tree.h"
#include "token/wordpiece.h"

struct normalizer;

/* node: "normalizer" of tokenizer.json; NULL: none. */
struct normalizer *normalizer_new(const struct tree *node);

/* The type of the first step that does not track the lead; NULL: all do. */
const char *normalizer_without_lead(const struct normalizer *normalizer);

/* Bytes that the steps of a normalizer, or of a pre-tokeniser, may make of a text: each may make two of one, so that a
 * short list of them would fill any memory.  Unicode's forms make 18 of one at most. */
size_t normalizer_most(size_t length);

/* The normalised text, to be freed; *made: its length in bytes.  Returns NULL if the text is unchanged.  *lead: in,
 * that of the text; out, that of the result; NULL: not needed. */
char *normalizer_apply(const struct normalizer *normalizer, const char *text,
    size_t length, size_t *made, size_t *lead);
void normalizer_free(struct normalizer *normalizer);

/* Reads the options of a BertNormalizer. */
void normalizer_bert_rules(const struct tree *node, struct wordpiece_rules *rules);

#endif
