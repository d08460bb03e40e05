/*
 * charsmap - the "precompiled_charsmap" of SentencePiece's normalizers: maps texts to replacements.
 *
 * Base64 of little-endian: u32 n; n bytes of u32 units, a double-array trie; replacements, each ended by a NUL.  In a
 * unit u:
 *
 *	label	u & 0x800000FF
 *	leaf	u >> 8 & 1
 *	offset	(u >> 10) << ((u & 512) >> 6)
 *	value	u & 0x7FFFFFFF, if bit 31 is set: the offset of a replacement
 *
 * Lookup: at = offset of unit 0; for each byte c: at ^= c, where the label must be c; then at ^= offset; if that unit
 * has a leaf, the unit at `at` is a value.
 *
 * As in the reference, grapheme clusters of less than six bytes are looked up first: the shortest prefix with an entry
 * replaces the whole cluster, including marks after the prefix.  Otherwise each character is looked up by itself.
 */
#ifndef TOKEN_CHARSMAP_H
#define TOKEN_CHARSMAP_H

#include <stddef.h>

#include "text/tree.h"

struct charsmap;

/* node: the normalizer.  Dies if the value is malformed. */
struct charsmap *charsmap_new(const struct tree *node);

/* As normalizer_apply; the text is valid UTF-8.  Stops once the result has more than `most` bytes. */
char *charsmap_apply(const struct charsmap *charsmap, const char *text, size_t length,
    size_t most, size_t *made, size_t *lead);
void charsmap_free(struct charsmap *charsmap);

#endif
