/*
 * unigram - the Unigram model of SentencePiece (Kudo 2018, section 3.2): segments a text into pieces with the greatest
 * sum of scores, by the Viterbi algorithm, exactly as the reference.
 *
 *	best[0] = 0
 *	best[end] = max over pieces text[start..end) of best[start] + score(piece), in double precision
 *
 * Starts ascend, and a later one wins only if it is strictly greater.  A character without a piece is unknown and
 * scores the least score - 10.  Adjacent unknown characters are joined; the result is looked up as a piece, else
 * written as byte tokens (<0x0A>) if byte_fallback is set and all exist, else as the unknown id.  All entries of the
 * vocabulary match, also `<s>`; of equal pieces the later counts.
 *
 * Memory: 16 bytes for each byte of the text.  Pieces are stored in radix trees, one for each first byte of a word or
 * of its continuation, which are built when a text first needs them: most texts need few trees of a multilingual
 * vocabulary.
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
	int32_t unknown;    /* id; -1: none, and a text that needs it is an error */
	bool byte_fallback; /* try byte tokens first */
};

struct unigram;

/* vocabulary: borrowed, need not be indexed; at least one piece, ids without gaps, no piece longer than
 * UNIGRAM_LONGEST. score [ids]: from mem_new, taken over.  file: for messages. */
struct unigram *unigram_new(const struct vocabulary *vocabulary, double *score,
    const struct unigram_rules *rules, const char *file);

/* The id of a piece, or -1. */
int32_t unigram_find(const struct unigram *unigram, const char *text, size_t length);

/* Appends the ids of a text of valid UTF-8.  Thread-safe. */
void unigram_encode(
    const struct unigram *unigram, const char *text, size_t length, struct ids *out);
void unigram_free(struct unigram *unigram);

#endif
