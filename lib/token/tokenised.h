/*
 * tokenised - the token ids of a column of texts, made by all threads.
 */
#ifndef TOKEN_TOKENISED_H
#define TOKEN_TOKENISED_H

#include <stddef.h>
#include <stdint.h>

#include "token/frame.h"

/* Made lists, kept and reused from call to call. */
struct tokenised {
	int64_t *offsets; /* [lists + 1] into ids */
	int32_t *ids;
	int64_t cut;	   /* texts that were longer than `most` */
	int64_t repaired;  /* texts with invalid UTF-8, taken as U+FFFD */
	int64_t first_cut; /* index of the first text that was cut; -1: none */
	size_t offsets_room, ids_room;
};

/* Text i is bytes[offsets[i]] .. bytes[offsets[i + 1] - 1].  The result does not depend on the
 * number of threads. */
void tokenise_texts(struct tokenised *made, const struct frame *frame, const char *bytes,
    const int64_t *offsets, int64_t texts);
void tokenised_free(struct tokenised *made);

#endif
