/*
 * words - the words of a text by a plain rule, for counting them.
 *
 * A word is as many letters as stand together, with the marks on them: digits, signs, apostrophes and hyphens
 * part words.  In lower case, code point by code point.  What is written without blanks between its words is one word.
 */
#ifndef GEOMETRY_WORDS_H
#define GEOMETRY_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

/* The next word at or behind *at, from 0, into `word`, replacing what was there; false: there is none left. */
bool words_next(const char *text, size_t length, size_t *at, struct buffer *word);

/* Letters and marks in a word. */
size_t words_length(const struct buffer *word);

#endif
