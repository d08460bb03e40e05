/*
 * splitter - what a pre-tokeniser or a normalizer looks for in a text: an expression, a string,
 * characters of a kind; and what becomes of the text around it.
 *
 * The expressions of the well-known tokenizers (GPT-2, Qwen2, cl100k, DeepSeek's character
 * classes) are matched by hand-written code, chosen by exact equality; any other goes to
 * Oniguruma (expression.h).  Letters and numbers are Unicode 16's here, of Oniguruma's own edition
 * there.
 */
#ifndef TOKEN_SPLITTER_H
#define TOKEN_SPLITTER_H

#include <stdbool.h>
#include <stddef.h>

/* What becomes of a match: a piece of its own; nothing; part of its neighbour; one piece with
 * the matches beside it. */
enum split_behaviour {
	SPLIT_ISOLATED,
	SPLIT_REMOVED,
	SPLIT_PREVIOUS,
	SPLIT_NEXT,
	SPLIT_CONTIGUOUS
};

struct splitter;

/* Dies naming `file` when the expression cannot be compiled or is not supported. */
struct splitter *splitter_of_regex(const char *file, const char *pattern, size_t length);
struct splitter *splitter_of_string(const char *text, size_t length);

/* Every character with one of these traits of utf8.h is a match. */
struct splitter *splitter_of_traits(unsigned traits);

/* ByteLevel's own expression, that of GPT-2. */
struct splitter *splitter_of_gpt2(void);

/* The reference's Whitespace: \w+|[^\w\s]+, of its own \w. */
struct splitter *splitter_of_words(void);

void splitter_free(struct splitter *splitter);

/*
 * The text, valid UTF-8, as alternating parts: what matches and what lies between; a match may
 * be empty.  `each` returns false to stop; so does this then.
 */
typedef bool splitter_part(void *context, const char *text, size_t length, bool match);
bool splitter_parts(const struct splitter *splitter, const char *text, size_t length,
    splitter_part *each, void *context);

/* The pieces that the behaviour makes of those parts, none of them empty; `invert`: what lies
 * between is what counts as a match. */
typedef bool splitter_piece(void *context, const char *text, size_t length);
bool splitter_split(const struct splitter *splitter, enum split_behaviour behaviour,
    bool invert, const char *text, size_t length, splitter_piece *each, void *context);

#endif
