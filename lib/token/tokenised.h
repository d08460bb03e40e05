/*
 * tokenised - tokenises a column of texts with all threads.
 */
#ifndef TOKEN_TOKENISED_H
#define TOKEN_TOKENISED_H

#include <stddef.h>
#include <stdint.h>

#include "stream/stream.h"
#include "token/frame.h"
#include "token/pair.h"
#include "token/pair_template.h"

/* Lists of ids; memory is reused by the next call.  Zeroed: empty. */
struct tokenised {
	int64_t *offsets; /* [lists + 1] into ids */
	int32_t *ids;
	int64_t cut;	   /* number of texts that were cut */
	int64_t repaired;  /* number of texts with invalid UTF-8 */
	int64_t first_cut; /* index of the first text that was cut; -1: none */
	int64_t
	    first_long; /* pairs: the first that does not fit and was left out; -1: none */
	int32_t *second;   /* pairs: [lists] where the second segment begins (pair.h) */
	int32_t *attended; /* [lists], by role.h */
	size_t offsets_room, ids_room, second_room, attended_room;
};

/* Text i is bytes[offsets[i]] to bytes[offsets[i + 1] - 1].  The result does not depend on the number of threads. */
void tokenise_texts(struct tokenised *made, const struct frame *frame, const char *bytes,
    const int64_t *offsets, int64_t texts);

/* Pair i is text i of both, made one sequence.  No more ids than `most` (0: no limit). */
struct pair_rules {
	const struct tokenizer *tokenizer;
	size_t most;
	enum pair_truncation truncation;
	const struct pair_template *template; /* NULL: pairs as in pair.h */
};
void tokenise_pairs(struct tokenised *made, const struct pair_rules *rules,
    struct array first, struct array second, int64_t pairs);
void tokenised_free(struct tokenised *made);

#endif
