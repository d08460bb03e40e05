/*
 * splitter - splits a text at matches of a pattern: a regular expression, a string or a class of characters.
 *
 * Hand-written code matches the expressions of well-known tokenizers (GPT-2, Qwen2, cl100k, DeepSeek's character
 * classes) with the letters and numbers of Unicode 16.  Any other expression goes to Oniguruma (expression.h), which
 * has its own edition of Unicode.
 */
#ifndef TOKEN_SPLITTER_H
#define TOKEN_SPLITTER_H

#include <stdbool.h>
#include <stddef.h>

#include "text/tree.h"

/* A match becomes a piece of its own; is removed; joins the previous piece; joins the next piece; joins adjacent
 * matches. */
enum split_behaviour {
	SPLIT_ISOLATED,
	SPLIT_REMOVED,
	SPLIT_PREVIOUS,
	SPLIT_NEXT,
	SPLIT_CONTIGUOUS
};

struct splitter;

/* The "pattern" of a node of tokenizer.json, a String or a Regex.  Dies if it is none, or an invalid expression; section: of
 * the file, for messages. */
struct splitter *splitter_of_pattern(const struct tree *node, const char *section);
struct splitter *splitter_of_string(const char *text, size_t length);

/* Matches each character with one of these traits (utf8.h). */
struct splitter *splitter_of_traits(unsigned traits);

/* ByteLevel's expression: GPT-2's. */
struct splitter *splitter_of_gpt2(void);

/* The reference's Whitespace: \w+|[^\w\s]+, with UTF8_WORD for \w. */
struct splitter *splitter_of_words(void);

void splitter_free(struct splitter *splitter);

/*
 * Calls `each` for the matches, which may be empty, and the parts between them, in order.  The text is valid UTF-8.  If
 * `each` returns false, stops and returns false.
 */
typedef bool splitter_part(void *context, const char *text, size_t length, bool match);
bool splitter_parts(const struct splitter *splitter, const char *text, size_t length,
    splitter_part *each, void *context);

/* Calls `each` for the pieces that the behaviour makes of those parts; none is empty.  invert: the parts between count
 * as the matches. */
typedef bool splitter_piece(void *context, const char *text, size_t length);
bool splitter_split(const struct splitter *splitter, enum split_behaviour behaviour,
    bool invert, const char *text, size_t length, splitter_piece *each, void *context);

#endif
