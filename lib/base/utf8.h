/*
 * utf8 - code points: decoding, repair, categories, normal forms, lower case.
 * Only this module knows utf8proc.
 *
 * The reference tokenizers use several editions of Unicode: 8.0 for punctuation and marks, 9.0 for normal forms, 16
 * for letters, 17 for lower case and clusters.  Token ids depend on them, so this module follows the reference for
 * every code point (tests/datafile.bats).
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	UTF8_SPACE = 1,	  /* White_Space */
	UTF8_PUNCT = 2,	  /* category P*, and all ASCII signs such as $ + < */
	UTF8_MARK = 4,	  /* Mn: removed by strip_accents */
	UTF8_CONTROL = 8, /* Cc, Cf, Co, Cs; unassigned code points are not */
	UTF8_LETTER = 16, /* L*: \p{L} of the reference's expressions */
	UTF8_NUMBER = 32, /* N*: \p{N} there */
	UTF8_WORD =
	    64, /* \w of the reference's built-in expressions, not of those in tokenizer.json */
	UTF8_NUMERIC = 128,  /* N*: split by its Digits */
	UTF8_COMBINING = 256 /* M*: removed by its StripAccents */
};
enum { UTF8_REPLACEMENT = 0xFFFD, UTF8_DECOMPOSED = 4, UTF8_COMPATIBLE = 18 };
enum utf8_form { UTF8_NFC, UTF8_NFD, UTF8_NFKC, UTF8_NFKD };

/* Decodes the code point at `text` (length > 0) and returns its length in bytes.  Invalid UTF-8: *code is -1, and the
 * length is that of the maximal invalid part, which one U+FFFD replaces. */
size_t utf8_decode(const char *text, size_t length, int32_t *code);

/* Decodes the code point that ends at offset `at` > 0; returns the offset of its start. */
size_t utf8_before(const char *text, size_t at, int32_t *code);

/* The end of the white space that starts at `at`; the start of the white space that ends at `at`, not below `least`. */
size_t utf8_space_end(const char *text, size_t length, size_t at);
size_t utf8_space_start(const char *text, size_t at, size_t least);

/* Writes UTF-8; returns the bytes written, 1..4. */
size_t utf8_encode(int32_t code, char *to);

/* The number of bytes before the first invalid one; `length` if all are valid. */
size_t utf8_valid(const char *text, size_t length);

/* Copies the text with U+FFFD for each maximal invalid part; returns the bytes written to `to` [3 * length].  Adds the
 * number of replacements to *count. */
size_t utf8_repair(char *to, const char *text, size_t length, int64_t *count);

/* The repaired text, to be freed; NULL: the text is valid.  *made: the length in bytes. */
char *utf8_repaired(const char *text, size_t length, size_t *made);

/* The number of code points of a valid text. */
size_t utf8_count(const char *text, size_t length);

/* Whether a character controls a terminal or the direction of the text around it: control characters, also those of C1
 * (U+009B controls terminals in Latin-1 and in UTF-8), and bidirectional embeddings, overrides and isolates. */
bool utf8_is_harmful(int32_t code);

/* Replaces invalid UTF-8 and harmful characters by "?", in place. */
void utf8_plain(char *text);

unsigned utf8_traits(int32_t code);

/* Whether BERT's tokenizer counts it as Chinese: an ideograph of Chinese, Japanese or Korean; kana and hangul are not. */
bool utf8_is_ideograph(int32_t code);

/* Columns of a character on a terminal, 0..2. */
int utf8_columns(int32_t code);

/* Canonical combining class; 0: a starter. */
int utf8_combining(int32_t code);

/* Full canonical decomposition of a code point; returns the number of code points. */
int utf8_decompose(int32_t code, int32_t to[UTF8_DECOMPOSED]);

/* Full lower case without context (no final sigma); returns the number of code points, 1 or 2. */
int utf8_lower(int32_t code, int32_t to[2]);

/* The end of the extended grapheme cluster (Unicode Standard Annex 29) that begins at `at`; the text is valid UTF-8. */
size_t utf8_cluster_end(const char *text, size_t length, size_t at);

/* Sorts a run of code points of non-zero combining class into canonical order: stable, linear time.
 * scratch [count]. */
void utf8_order(int32_t *run, int32_t *scratch, size_t count);

/* A quick check: true if the text is certainly in this form. */
bool utf8_is_normal(const char *text, size_t length, enum utf8_form form);

/* The text in a normal form, to be freed; *made: its length in bytes. */
char *utf8_normal(const char *text, size_t length, enum utf8_form form, size_t *made);

#endif
