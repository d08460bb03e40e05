/*
 * tokenizer_rules - changes tokenizer.json by the other files of the folder, as transformers does.
 *
 * Settings and defaults of the tokenizer class override normalizer and pre-tokeniser; added and special tokens are
 * merged. Where versions 4.57 and 5 of transformers differ, tokenizer.json counts, and a setting that contradicts it
 * is an error.
 */
#ifndef TOKEN_TOKENIZER_RULES_H
#define TOKEN_TOKENIZER_RULES_H

#include "token/tokenizer_parts.h"
#include "token/tokenizer_settings.h"

/* Whether a component of tokenizer.json, NULL for none, is of this type. */
bool tokenizer_is_type(const struct tree *node, const char *type);

/* Changes "normalizer" and "pre_tokenizer" of root, a tokenizer.json. */
void tokenizer_rules_apply(struct tree *root, const struct tokenizer_settings *settings);

/* Completes "added_tokens" of root, each with an id.  The tokenizer has its vocabulary. */
void tokenizer_rules_add(struct tokenizer *tokenizer, struct tree *root,
    const struct tokenizer_settings *settings);

/* Sets the special tokens around a text and a pair.  file: there is a tokenizer.json, whose tokens were read; else they are the
 * class's. */
void tokenizer_rules_around(
    struct tokenizer *tokenizer, const struct tokenizer_settings *settings, bool file);

/* Whether truncation removes the start of a text. */
bool tokenizer_rules_cut_left(
    const struct tree *root, const struct tokenizer_settings *settings);

#endif
