/*
 * unicode - where the reference tokenizers take another edition of Unicode than utf8proc:
 * the tables behind utf8.h.
 */
#ifndef BASE_UNICODE_H
#define BASE_UNICODE_H

#include <stdbool.h>
#include <stdint.h>

/* Punctuation, marks and format characters that came after Unicode 8. */
bool unicode_later(int32_t code);

/* Those of unicode_later whose combining class, of Unicode 9, the reference has. */
bool unicode_nine(int32_t code);

/* Marks (M*) that came after Unicode 9. */
bool unicode_later_mark(int32_t code);

/* Lower case where utf8proc has none yet; otherwise the code point. */
int32_t unicode_lower(int32_t code);

/* Consonants and the signs that link them to the next, of rule GB9c of grapheme clusters. */
bool unicode_consonant(int32_t code);
bool unicode_linker(int32_t code);

/* A code point that utf8proc's clusters treat as the reference's, of Unicode 17, treat this one: most
 * are their own. */
int32_t unicode_cluster_like(int32_t code);

/* The traits (utf8.h) of what utf8proc takes for unassigned. */
unsigned unicode_newer(int32_t code);

#endif
