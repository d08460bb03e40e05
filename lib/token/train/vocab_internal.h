/*
 * vocab_internal - what vocab.c, which learns, and vocab_write.c share; nobody else includes it.
 */
#ifndef VOCAB_INTERNAL_H
#define VOCAB_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "token/pretoken.h"
#include "token/symbols.h"
#include "token/train/vocab.h"
#include "token/wordpiece.h"

enum { SPECIALS = 5 };
extern const char *const vocab_specials[SPECIALS];

struct vocab {
	enum vocab_kind kind;
	bool cased;
	/* of WordPiece */
	struct symbols *none; /* the empty vocabulary of the word splitter */
	struct wordpiece *splitter;
	/* of BPE; a word's bytes are written as characters */
	struct pretoken *pretoken;
	int32_t (*merges)[2]; /* [merge_count] ids, in the order of merging */
	size_t merge_count, merge_room;

	struct symbols *words;
	int64_t *count; /* [words] */
	size_t capacity;
	struct symbols *tokens;
};

/* The pre-tokeniser of a learnt byte-level vocabulary. */
struct tree *vocab_pretokenizer(void);

#endif
