/*
 * utf8 - code points: decoding, repair, categories, normal forms, lower case.
 * Only this module knows utf8proc.
 *
 * The reference tokenizers take each of these from another edition of Unicode: punctuation and
 * marks from 8.0, normal forms from 9.0, letters from 16, lower case and clusters from 17.  Token ids depend on it, so the traits and
 * mappings here follow the reference, code point by code point (tests/datafile.bats).
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	UTF8_SPACE = 1,	  /* White_Space */
	UTF8_PUNCT = 2,	  /* category P*, and all ASCII signs such as $ + < */
	UTF8_MARK = 4,	  /* Mn: what strip_accents strips */
	UTF8_CONTROL = 8, /* Cc, Cf, Co, Cs; unassigned code points are not */
	UTF8_LETTER = 16, /* L*: \p{L} of the reference's expressions */
	UTF8_NUMBER = 32, /* N*: \p{N} there */
	UTF8_WORD = 64,	  /* \w of its own expressions, not of those in tokenizer.json */
	UTF8_NUMERIC = 128,  /* N*: what its Digits splits */
	UTF8_COMBINING = 256 /* M*: what its StripAccents strips */
};
enum { UTF8_REPLACEMENT = 0xFFFD, UTF8_DECOMPOSED = 4, UTF8_COMPATIBLE = 18 };
enum utf8_form { UTF8_NFC, UTF8_NFD, UTF8_NFKC, UTF8_NFKD };

/* The code point at text (length > 0) and its length in bytes.  Where the bytes are not
 * valid UTF-8: -1, and the length of the maximal bad part (one replacement each). */
size_t utf8_decode(const char *text, size_t length, int32_t *code);

/* The code point that ends at `at` > 0, and where it starts. */
size_t utf8_before(const char *text, size_t at, int32_t *code);

/* The end of the white space at `at`; the start, at `least` or behind it, of that before it. */
size_t utf8_space_end(const char *text, size_t length, size_t at);
size_t utf8_space_start(const char *text, size_t at, size_t least);

/* Bytes written, 1..4. */
size_t utf8_encode(int32_t code, char *to);

/* Bytes before the first invalid one; length when all is valid. */
size_t utf8_valid(const char *text, size_t length);

/* Copy with a U+FFFD for each maximal bad part; returns the bytes written to `to`, which has
 * room for 3 x length; adds the replacements to *count. */
size_t utf8_repair(char *to, const char *text, size_t length, int64_t *count);

/* Whether a character drives a terminal, or turns the direction of the text around it: control characters, those of C1
 * too (U+009B is one byte of Latin-1 and two of UTF-8, and drives terminals in either), and the bidirectional
 * embeddings, overrides and isolates. */
bool utf8_is_harmful(int32_t code);

/* Make a text fit for a terminal, in place: what is not UTF-8 and harmful characters become "?". */
void utf8_plain(char *text);

unsigned utf8_traits(int32_t code);

/* Columns of a terminal that a character takes, 0..2. */
int utf8_columns(int32_t code);

/* Canonical combining class; 0: a starter. */
int utf8_combining(int32_t code);

/* Full canonical decomposition of one code point; returns how many. */
int utf8_decompose(int32_t code, int32_t to[UTF8_DECOMPOSED]);

/* Full lower case without context (no final sigma); returns how many, 1 or 2. */
int utf8_lower(int32_t code, int32_t to[2]);

/* The end of the extended grapheme cluster (Unicode Standard Annex 29) of valid UTF-8 that begins at `at`. */
size_t utf8_cluster_end(const char *text, size_t length, size_t at);

/* Put a run of code points of non-zero combining class in canonical order: stable, linear.
 * `scratch` is as long as the run. */
void utf8_order(int32_t *run, int32_t *scratch, size_t count);

/* Whether the text is in this form for sure, by a quick look at its bytes. */
bool utf8_is_normal(const char *text, size_t length, enum utf8_form form);

/* The text in a normal form, to be freed; its bytes in *made. */
char *utf8_normal(const char *text, size_t length, enum utf8_form form, size_t *made);

#endif
