/*
 * bpe - byte pair encoding: the pair of neighbours whose merge was learnt first is joined, the
 * leftmost of equals, until none is left (Sennrich et al. 2016, algorithm 1).
 *
 * A piece of text starts as its characters or, in byte-level vocabularies, as its bytes.  Time
 * grows as n log n with the length of a piece.
 */
#ifndef TOKEN_BPE_H
#define TOKEN_BPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "token/ids.h"
#include "token/vocabulary.h"

struct bpe_rules {
	int32_t unknown;    /* id for a character that is no token; -1: it is dropped */
	bool fuse_unknown;  /* one for a run of them */
	bool byte_fallback; /* first try <0x0A> and its like, one a byte */
	bool ignore_merges; /* a piece that is a token stays whole */
	bool bytes; /* pieces are bytes, each the character that byte_character says */
};

struct bpe;

/* The vocabulary is borrowed for life, and complete; `file` is for messages. */
struct bpe *bpe_new(const struct vocabulary *vocabulary, const char *file);

/* The next merge, in order of rank; of equal pairs the last one counts.  Dies when one of the
 * two, or the two as one, is no token. */
void bpe_merge(struct bpe *bpe, const char *left, size_t left_length, const char *right,
    size_t right_length);

/* Whether each byte has a token, by bpe_character. */
bool bpe_has_bytes(const struct bpe *bpe);

/* To be said after the merges, before anything is encoded. */
void bpe_set(struct bpe *bpe, const struct bpe_rules *rules);

/* Append the ids of a piece of valid UTF-8, or of any bytes under `bytes`. */
void bpe_encode(const struct bpe *bpe, const char *text, size_t length, struct ids *out);
void bpe_free(struct bpe *bpe);

/* The code point that stands for a byte in byte-level vocabularies: itself where it is printable
 * in Latin-1, else the next from U+0100 on. */
int32_t bpe_character(unsigned char byte);

/* The same for a whole text; at most two bytes for each, to be freed. */
char *bpe_characters(const char *text, size_t length, size_t *made);

#endif
