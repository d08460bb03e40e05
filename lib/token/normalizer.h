/*
 * normalizer - the "normalizer" of a tokenizer.json: what happens to a text before it is split.
 *
 * NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, BertNormalizer, Precompiled, Replace, Prepend, Strip
 * and Sequences of them, as the reference has them; any other is refused by name.
 *
 * What stands for the input's first character is the `lead`: so many bytes at a text's start, which
 * Metaspace asks for.  The last four keep it as the reference's alignments do.
 */
#ifndef TOKEN_NORMALIZER_H
#define TOKEN_NORMALIZER_H

#include <stddef.h>

#include "text/tree.h"
#include "token/wordpiece.h"

struct normalizer;

/* From the file's "normalizer"; NULL: none. */
struct normalizer *normalizer_new(const struct tree *node);

/* The first step that does not keep the lead, by its type; NULL: all do. */
const char *normalizer_without_lead(const struct normalizer *normalizer);

/* The normalised text, to be freed, its bytes in *made; NULL when it is the text itself.  *lead: the
 * text's, then that of what was made; NULL: nobody asks. */
char *normalizer_apply(const struct normalizer *normalizer, const char *text,
    size_t length, size_t *made, size_t *lead);
void normalizer_free(struct normalizer *normalizer);

/* The rules of a BertNormalizer. */
void normalizer_bert_rules(const struct tree *node, struct wordpiece_rules *rules);

#endif
