/*
 * passages - a document cut into passages that a model takes whole.
 *
 * A passage has `most` ids at most, with the special tokens, the prompt and the template.  It ends before a heading
 * (outline.h), and else at the last of these places that it reaches: the end of a block; the end of a sentence, the
 * beginning of an item of a list or, of code, the end of a line, if in its second half; the end of a line there; the
 * end of a word; the end of a character.  Passages are slices of the text without the white space at their ends; blank text
 * makes none.
 *
 * Within a section a passage begins up to `overlap` tokens before the end of the passage before it, at the beginning of a sentence
 * or else of a word.
 */
#ifndef TOKEN_PASSAGES_H
#define TOKEN_PASSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "token/frame.h"

struct passages;

/* The tokenizer and the template are borrowed.  Dies where the prompt leaves no room for a text. */
struct passages *passages_new(const struct tokenizer *tokenizer,
    const struct template *template, enum frame_prepare prepare, const char *prompt,
    size_t most, size_t overlap);

struct passage {
	size_t from, to; /* bytes of the text */
	int64_t line;	 /* of its first byte, from 1 */
};

/* Zeroed: empty; whoever has one frees its items. */
struct passage_list {
	struct passage *items;
	size_t count, capacity;
};

/* Appends the passages of a text of valid UTF-8, rst: of reStructuredText.  Several threads may, with a list of their own
 * each. */
void passages_cut(const struct passages *passages, const char *text, size_t length,
    bool rst, struct passage_list *to);
void passages_free(struct passages *passages);

#endif
