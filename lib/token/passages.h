/*
 * passages - cuts a document into passages that fit into a model.
 *
 * A passage has at most `most` ids, with special tokens, prompt and template.  It ends before a heading (outline.h),
 * else at the last end of a block that fits.  If there is none, it ends in its second half, at the end of a sentence,
 * the start of a list item or, in code, the end of a line; else there at the end of any line; else at the end of a
 * word, or of a character.  Passages are slices of the text without white space at their ends; blank text has none.
 *
 * Within a section a passage starts up to `overlap` tokens before the end of the previous one, at the start of a
 * sentence or else of a word.
 */
#ifndef TOKEN_PASSAGES_H
#define TOKEN_PASSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "token/frame.h"

struct passages;

/* The frame of at most `most` ids passes over; the tokenizer is borrowed.  Dies if the prompt leaves no room for a text. */
struct passages *passages_new(struct frame *frame, const struct tokenizer *tokenizer,
    const char *prompt, size_t most, size_t overlap);

struct passage {
	size_t from, to; /* bytes of the text */
	int64_t line;	 /* of its first byte, from 1 */
};

/* Zeroed: empty.  The caller frees `items`. */
struct passage_list {
	struct passage *items;
	size_t count, capacity;
};

/* A text of valid UTF-8.  head [head_length]: a title that stands before each passage, with a blank between them; its ids count among
 * those of the passage unless they are more than half.  rst: reStructuredText. */
struct passage_text {
	const char *head, *text;
	size_t head_length, length;
	bool rst;
};

/* Appends the passages of a text.  Thread-safe, with a list for each thread. */
void passages_cut(const struct passages *passages, const struct passage_text *text,
    struct passage_list *to);
void passages_free(struct passages *passages);

#endif
