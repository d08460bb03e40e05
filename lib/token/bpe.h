/*
 * bpe - byte pair encoding (Sennrich et al. 2016, algorithm 1): merges the adjacent pair of lowest rank, the leftmost
 * of equals, until no pair has a merge.
 *
 * A pre-token starts as its characters or, in byte-level vocabularies, as its bytes.  Time is n log n in its length n.
 */
#ifndef TOKEN_BPE_H
#define TOKEN_BPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "token/ids.h"
#include "token/vocabulary.h"

struct bpe_rules {
	int32_t unknown;   /* id of a character without a token; -1: dropped */
	bool fuse_unknown; /* one id for a run of unknown characters */
	bool
	    byte_fallback; /* unknown characters become byte tokens such as <0x0A>, if there are */
	bool ignore_merges; /* a pre-token that is in the vocabulary stays whole */
	bool bytes;	    /* byte-level: each byte is the character bpe_character */
};

struct bpe;

/* vocabulary: complete, borrowed until bpe_free.  file: for messages. */
struct bpe *bpe_new(const struct vocabulary *vocabulary, const char *file);

/* Adds the merge of the next rank; of equal pairs the last counts.  Dies if a part or the result is not in the
 * vocabulary. */
void bpe_merge(struct bpe *bpe, const char *left, size_t left_length, const char *right,
    size_t right_length);

/* Whether the vocabulary has bpe_character of every byte. */
bool bpe_has_bytes(const struct bpe *bpe);

/* Call after the merges and before bpe_encode. */
void bpe_set(struct bpe *bpe, const struct bpe_rules *rules);

/* Appends the ids of a pre-token of valid UTF-8; of any bytes if rules.bytes. */
void bpe_encode(const struct bpe *bpe, const char *text, size_t length, struct ids *out);
void bpe_free(struct bpe *bpe);

/* The code point of a byte in byte-level vocabularies: the byte if it is printable in Latin-1, else the next free one
 * from U+0100. */
int32_t bpe_character(unsigned char byte);

/* The same for all bytes of a text, to be freed; *made: its length. */
char *bpe_characters(const char *text, size_t length, size_t *made);

#endif
