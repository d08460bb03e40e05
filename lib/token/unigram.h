/*
 * unigram - the model of SentencePiece's Unigram files: the cutting of a text into pieces whose scores sum
 * to the most (Kudo 2018, section 3.2), as the reference finds it.
 *
 *	best[0] = 0
 *	best[end] = max over pieces text[start..end) of best[start] + score(piece), in double precision
 *
 * Starts ascend, and a later one wins only where it is strictly greater.  A character that is no piece of
 * its own is unknown and scores the least of all scores - 10; neighbouring unknowns are one, which is looked
 * up as a whole, then written as bytes (<0x0A> and its like), if those are asked for and all there, then the
 * unknown id.  Every entry of the vocabulary matches, `<s>` too; of a piece that is there twice the later.
 *
 * Time is the length of the text by that of the pieces that begin at each place of it; memory 16 bytes a
 * byte of a text.  Pieces lie in tries whose edges are texts, one for each first byte of a word or of what goes on
 * in it, built when a text first has that byte: of a vocabulary for a hundred languages most texts need little.
 */
#ifndef TOKEN_UNIGRAM_H
#define TOKEN_UNIGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "token/ids.h"
#include "token/vocabulary.h"

enum { UNIGRAM_LONGEST = UINT16_MAX }; /* bytes of a piece */

struct unigram_rules {
	int32_t unknown; /* id; -1: there is none, and a text that needs it is a fault */
	bool byte_fallback; /* first try <0x0A> and its like, one a byte */
};

struct unigram;

/* The vocabulary, which is borrowed and need not be indexed, has at least one piece, none longer than
 * UNIGRAM_LONGEST, and ids without a gap.  score: of each id, from mem_new; taken.  `file` is for messages. */
struct unigram *unigram_new(const struct vocabulary *vocabulary, double *score,
    const struct unigram_rules *rules, const char *file);

/* The id of a piece, or -1. */
int32_t unigram_find(const struct unigram *unigram, const char *text, size_t length);

/* Append the ids of valid UTF-8.  Safe to call from several threads. */
void unigram_encode(
    const struct unigram *unigram, const char *text, size_t length, struct ids *out);
void unigram_free(struct unigram *unigram);

#endif
