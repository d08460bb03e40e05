/*
 * expression - regular expressions of tokenizer.json that no hand-written code knows.
 *
 * Oniguruma with Ruby's syntax, as the reference runs them, so that each means what it means
 * there.  Its letters and numbers are those of its own Unicode: 14 in Debian 12.
 *
 * It interprets.  Processor time of `tok -j 1` on SciFact's 7.8 MB with dolma2's vocabulary: GPT-2's
 * expression, written so that splitter.c does not know it, 0.62 s, o200k's 0.59, DeepSeek-V3's
 * 0.76; compiled by PCRE2 0.31, 0.34 and 0.43, for 200 lines that translated what it reads
 * differently, or refused it; the reference takes some 4 s.
 *
 * The library also exports regcomp and regexec, over libc's: with <regex.h> a program would call
 * these by libc's struct, and match wrongly in silence.  So nobody here includes it.
 *
 * Where an expression of a Replace matches nothing, the content is put there, as by the reference's
 * normalizer; its ByteLevel then fails for want of alignments.
 */
#ifndef TEXT_EXPRESSION_H
#define TEXT_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>

struct expression;

/* Dies naming `file` and what is wrong with the pattern. */
struct expression *expression_new(const char *file, const char *pattern, size_t length);

/* Alternating parts of valid UTF-8: matches, which may be empty, and what lies between them; as
 * splitter_parts has them.  Safe to call from several threads. */
bool expression_parts(const struct expression *expression, const char *text,
    size_t length,
    bool (*each)(void *context, const char *text, size_t length, bool match),
    void *context);

/* Whether it is found in a text, which may be empty; of valid UTF-8, too. */
bool expression_found(
    const struct expression *expression, const char *text, size_t length);
void expression_free(struct expression *expression);

#endif
