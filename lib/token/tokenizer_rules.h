/*
 * tokenizer_rules - tokenizer.json as the rest of the folder has it.
 *
 * What transformers changes when it opens the file: of the classes that say how a text is normalised or split, their
 * settings or defaults win; of all, added and special tokens.  Where versions 4.57 and 5 differ the file stands, and a
 * setting that contradicts it is refused by its key.
 */
#ifndef TOKEN_TOKENIZER_RULES_H
#define TOKEN_TOKENIZER_RULES_H

#include "token/tokenizer_parts.h"
#include "token/tokenizer_settings.h"

/* "normalizer" and "pre_tokenizer" of tokenizer.json's root. */
void tokenizer_rules_apply(struct tree *root, const struct tokenizer_settings *settings);

/* "added_tokens", each with its id; the tokenizer has its vocabulary. */
void tokenizer_rules_add(struct tokenizer *tokenizer, struct tree *root,
    const struct tokenizer_settings *settings);

/* The tokens around a text, after tokenizer.json's.  file: whether there is one; without it they are the class's. */
void tokenizer_rules_around(
    struct tokenizer *tokenizer, const struct tokenizer_settings *settings, bool file);

/* Whether longer texts lose their beginning. */
bool tokenizer_rules_cut_left(
    const struct tree *root, const struct tokenizer_settings *settings);

#endif
