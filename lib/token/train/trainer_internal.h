/*
 * trainer_internal - what trainer.c, which learns, and trainer_write.c share; nobody else includes it.
 */
#ifndef TRAINER_INTERNAL_H
#define TRAINER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "token/pretokenizer.h"
#include "token/vocabulary.h"
#include "token/train/trainer.h"
#include "token/wordpiece.h"

enum { SPECIALS = 5 };
extern const char *const trainer_specials[SPECIALS];

struct trainer {
	enum trainer_kind kind;
	bool cased;
	/* of WordPiece */
	struct vocabulary *none; /* the empty vocabulary of the word splitter */
	struct wordpiece *splitter;
	/* of BPE; a word's bytes are written as characters */
	struct pretokenizer *pretokenizer;
	int32_t (*merges)[2]; /* [merge_count] ids, in the order of merging */
	size_t merge_count, merge_room;

	struct vocabulary *words;
	int64_t *count; /* [words] */
	size_t capacity;
	struct vocabulary *tokens;
};

/* The pre-tokeniser of a learnt byte-level vocabulary. */
struct tree *trainer_pretokenizer(void);

#endif
