/*
 * pair - the ids of two texts as one sequence for a cross-encoder.
 *
 *	ids = BEFORE first BETWEEN second AFTER
 *
 * BEFORE, BETWEEN and AFTER are the special tokens of the tokenizer's template of pairs.  Tokens have the type 0 in the first
 * segment and 1 in the second, which begins in BETWEEN or with the second text; in models without segments (RoBERTa) all have
 * the type 0.
 *
 * Truncation is that of the tokenizers library.  PAIR_LONGEST_FIRST: the longer text is cut until the pair fits; when both are as
 * long, both are cut to the same length, the second to one id more if the number is odd.  PAIR_ONLY_SECOND: the second is cut.
 */
#ifndef TOKEN_PAIR_H
#define TOKEN_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "token/ids.h"
#include "token/tokenizer.h"

enum pair_truncation { PAIR_LONGEST_FIRST, PAIR_ONLY_SECOND, PAIR_REFUSE };

/* The template of pairs; a part of a tokenizer. */
struct pair_around {
	struct ids before, between, after;
	size_t first;	   /* tokens of `between` that are in the first segment */
	bool typed;	   /* the second segment has the type 1 */
	const char *fault; /* why pairs are refused; NULL: they are not */
};

/* Dies if the tokenizer has no template of pairs, or if `most` (0: no limit) leaves no room for texts. */
void pair_demand(const struct tokenizer *tokenizer, size_t most);

/* The number of ids of a second text that can matter beside a first text of `first` ids in a pair of `most`; 0: all. */
size_t pair_second_limit(const struct tokenizer *tokenizer, size_t most, size_t first);

/* A text as pair_join takes it: its ids without special tokens, the first (or, cut at the left, the last) `limit`; 0: all. */
void pair_text(const struct tokenizer *tokenizer, const char *text, size_t length,
    size_t limit, struct ids *out);

struct pair_side {
	const int32_t *ids;
	size_t count;
};
/* PAIR_LONG: nothing was appended, since truncation may not, or cannot, make the pair fit. */
enum pair_outcome { PAIR_WHOLE, PAIR_CUT, PAIR_LONG };

/* Appends the ids of a pair, at most `most` of them (0: no limit).  second: the place in the sequence where the second segment
 * begins; 0: all types are 0. */
enum pair_outcome pair_join(const struct tokenizer *tokenizer, struct pair_side first,
    struct pair_side second, size_t most, enum pair_truncation truncation,
    struct ids *out, int32_t *second_at);

#endif
