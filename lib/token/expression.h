/*
 * expression - regular expressions of tokenizer.json that no hand-written code knows.
 *
 * Only this module knows PCRE2.  It is given what Oniguruma, in Ruby's syntax, would understand
 * in the same way; \s, \w and their like are spelt out; the rest is refused by name.
 */
#ifndef EXPRESSION_H
#define EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>

struct expression;

/* Dies naming `file` and what in the pattern is not supported. */
struct expression *expression_new(const char *file, const char *pattern, size_t length);

/* Whether it can match where nothing is. */
bool expression_may_be_empty(const struct expression *expression);

/* Alternating parts of valid UTF-8: matches, which may be empty, and what lies between them; as
 * splitter_parts has them.  Safe to call from several threads. */
bool expression_parts(const struct expression *expression, const char *text,
    size_t length,
    bool (*each)(void *context, const char *text, size_t length, bool match),
    void *context);
void expression_free(struct expression *expression);

#endif
