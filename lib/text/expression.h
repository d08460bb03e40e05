/*
 * expression - regular expressions, by Oniguruma with Ruby's syntax, as the reference tokenizers run them.
 *
 * Letters and numbers are those of Oniguruma's edition of Unicode, 14 in Debian 12.  token/splitter.c matches the
 * expressions of well-known tokenizers faster.
 *
 * Oniguruma interprets.  Processor time of `tok -j 1` on SciFact's 7.8 MB with dolma2's vocabulary: GPT-2's
 * expression, written so that splitter.c does not know it, 0.62 s, o200k's 0.59, DeepSeek-V3's
 * 0.76.  Compiled by PCRE2: 0.31, 0.34 and 0.43, but 200 lines were needed to
 * translate or refuse what PCRE2 reads differently.  The reference takes some 4 s.
 *
 * Never include <regex.h>: Oniguruma exports regcomp and regexec, too, which do not fit libc's struct and would match
 * wrongly without an error.
 *
 * An empty match of a Replace inserts its content, as in the reference's normalizer.
 */
#ifndef TEXT_EXPRESSION_H
#define TEXT_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>

struct expression;

/* Dies if the pattern is invalid; `file` starts the message. */
struct expression *expression_new(const char *file, const char *pattern, size_t length);

/* Calls `each` for the matches, which may be empty, and the parts between them, in order, as splitter_parts does.  The
 * text is valid UTF-8.  `each` returns false to stop.  Thread-safe. */
bool expression_parts(const struct expression *expression, const char *text,
    size_t length,
    bool (*each)(void *context, const char *text, size_t length, bool match),
    void *context);

/* Whether the expression is found in a text of valid UTF-8. */
bool expression_found(
    const struct expression *expression, const char *text, size_t length);
void expression_free(struct expression *expression);

#endif
