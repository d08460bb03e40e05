/*
 * tokenise - a whole column of texts to a column of token ids, by all threads.
 *
 * The result does not depend on the number of threads.
 */
#ifndef TOKENISE_H
#define TOKENISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "token/tokenizer.h"

/* Made lists, kept and reused from call to call. */
struct tokenised {
	int64_t *offsets; /* [lists + 1] into ids */
	int32_t *ids;
	int64_t cut;	   /* texts that were longer than `most` */
	int64_t repaired;  /* texts with invalid UTF-8, taken as U+FFFD */
	int64_t first_cut; /* index of the first text that was cut; -1: none */
	size_t offsets_room, ids_room;
};

/*
 * Text i is bytes[offsets[i]] .. bytes[offsets[i + 1] - 1]; `prompt` (may be NULL) is put
 * before each.  `most`: longest list, special tokens included; 0: no limit.
 */
void tokenise(struct tokenised *made, const struct tokenizer *tokenizer,
    const char *bytes, const int64_t *offsets, int64_t texts, const char *prompt,
    size_t most);
void tokenised_free(struct tokenised *made);

/* Tokens of a prompt with the special ones before it: what pooling leaves out of the mean
 * where a model says include_prompt: false (models of sentence-transformers). */
int64_t tokenise_prompt(const struct tokenizer *tokenizer, const char *prompt);

#endif
