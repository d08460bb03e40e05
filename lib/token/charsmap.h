/*
 * charsmap - the "precompiled_charsmap" of SentencePiece's normalizers: texts and what stands in their place.
 *
 * Base64 of: u32 n, little-endian, as all; n bytes of u32, a double array; texts, each ended by a NUL.  In a
 * unit u of the array:
 *
 *	label	u & 0x800000FF
 *	leaf	u >> 8 & 1
 *	offset	(u >> 10) << ((u & 512) >> 6)
 *	value	u & 0x7FFFFFFF, where bit 31 is set: the place of a text
 *
 * The walk begins at at = offset of unit 0; each byte c takes it to at ^= c, where the label must be c, and on
 * by the offset; where the unit has a leaf, the unit at hand is a value.
 *
 * As the reference has it, it is asked for whole grapheme clusters of less than six bytes: the shortest
 * beginning of one that has an entry puts its text in the place of the whole, marks behind it are lost.
 * Where there is none, and of longer clusters, each character is asked for alone.
 */
#ifndef TOKEN_CHARSMAP_H
#define TOKEN_CHARSMAP_H

#include <stddef.h>

#include "text/tree.h"

struct charsmap;

/* node: the normalizer that has it; dies naming the key where it is damaged. */
struct charsmap *charsmap_new(const struct tree *node);

/* As normalizer_apply, on valid UTF-8. */
char *charsmap_apply(const struct charsmap *charsmap, const char *text, size_t length,
    size_t *made, size_t *lead);
void charsmap_free(struct charsmap *charsmap);

#endif
