/*
 * unicode - differences between utf8proc's edition of Unicode and those of the reference tokenizers; tables for utf8.c.
 */
#ifndef BASE_UNICODE_H
#define BASE_UNICODE_H

#include <stdbool.h>
#include <stdint.h>

/* Punctuation, marks and format characters newer than Unicode 8. */
bool unicode_later(int32_t code);

/* Code points of unicode_later that Unicode 9 added: the reference knows their combining class. */
bool unicode_nine(int32_t code);

/* Marks (M*) newer than Unicode 9. */
bool unicode_later_mark(int32_t code);

/* Lower case that utf8proc lacks; any other code point is returned unchanged. */
int32_t unicode_lower(int32_t code);

/* InCB=Consonant and InCB=Linker of rule GB9c of grapheme clusters. */
bool unicode_consonant(int32_t code);
bool unicode_linker(int32_t code);

/* An older code point with the grapheme-break property that Unicode 17 gives this one; usually the same code point. */
int32_t unicode_cluster_like(int32_t code);

/* Traits (utf8.h) of a code point that utf8proc takes for unassigned. */
unsigned unicode_newer(int32_t code);

#endif
