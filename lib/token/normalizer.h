/*
 * normalizer - the "normalizer" of a tokenizer.json: what happens to a text before it is split.
 *
 * NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, BertNormalizer, Replace, Prepend, Strip and
 * Sequences of them, as the reference has them; any other is refused by name.
 */
#ifndef NORMALIZER_H
#define NORMALIZER_H

#include <stddef.h>

#include "text/tree.h"
#include "token/wordpiece.h"

struct normalizer;

/* From the file's "normalizer"; NULL: none. */
struct normalizer *normalizer_new(const struct tree *node);

/* The normalised text, to be freed, its bytes in *made; NULL when it is the text itself. */
char *normalizer_apply(
    const struct normalizer *normalizer, const char *text, size_t length, size_t *made);
void normalizer_free(struct normalizer *normalizer);

/* The rules of a BertNormalizer. */
void normalizer_bert_rules(const struct tree *node, struct wordpiece_rules *rules);

#endif
