/*
 * normal - the "normalizer" of a tokenizer.json: what happens to a text before it is split.
 *
 * NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, BertNormalizer, Replace, Prepend, Strip and
 * Sequences of them, as the reference has them; any other is refused by name.
 */
#ifndef NORMAL_H
#define NORMAL_H

#include <stddef.h>

#include "text/tree.h"
#include "token/wordpiece.h"

struct normal;

/* From the file's "normalizer"; NULL: none. */
struct normal *normal_new(const struct tree *node);

/* The normalised text, to be freed, its bytes in *made; NULL when it is the text itself. */
char *normal_apply(
    const struct normal *normal, const char *text, size_t length, size_t *made);
void normal_free(struct normal *normal);

/* The rules of a BertNormalizer. */
void normal_bert_rules(const struct tree *node, struct wordpiece_rules *rules);

#endif
