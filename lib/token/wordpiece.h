/*
 * wordpiece - BERT's tokenizer: BertNormalizer, BertPreTokenizer and WordPiece in one pass over the text.
 *
 * Words are split greedily into the longest pieces of the vocabulary (Wu et al. 2016, section 4.1; Devlin et al.
 * 2018).  A word that cannot be split, or is longer than max_chars, becomes the unknown token.  Linear time.
 * WordLevel is the same without pieces: a word is a token or unknown.
 */
#ifndef TOKEN_WORDPIECE_H
#define TOKEN_WORDPIECE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "token/ids.h"
#include "token/vocabulary.h"

struct wordpiece_rules {
	bool clean_text;    /* drop control characters, make white space blanks */
	bool chinese_chars; /* blanks around CJK ideographs */
	bool strip_accents; /* NFD, then drop Mn */
	bool lowercase;
	int32_t unknown; /* id */
	int max_chars;	 /* code points of a word; "max_input_chars_per_word" */
	const char
	    *continuation; /* "##"; borrowed; NULL: words are not split (WordLevel) */
};

struct wordpiece;

/* The vocabulary is borrowed until wordpiece_free; NULL: none, for wordpiece_normal and wordpiece_words. */
struct wordpiece *wordpiece_new(
    const struct vocabulary *vocabulary, const struct wordpiece_rules *rules);

/*
 * Appends the ids of a text of valid UTF-8; stops after the word that makes out->count exceed `most`.
 * normal: the text is normalised already.
 */
void wordpiece_encode(const struct wordpiece *model, const char *text, size_t length,
    bool normal, size_t most, struct ids *out);

/* Appends the ids of one word, from another pre-tokeniser. */
void wordpiece_word(
    const struct wordpiece *model, const char *text, size_t length, struct ids *out);

/* The normalised text, to be freed; *made: its length in bytes. */
char *wordpiece_normal(
    const struct wordpiece *model, const char *text, size_t length, size_t *made);

/* Calls `each` for the normalised words of a text, except those longer than max_chars.  The bytes are borrowed. */
typedef void wordpiece_each(void *context, const char *word, size_t length);
void wordpiece_words(const struct wordpiece *model, const char *text, size_t length,
    wordpiece_each *each, void *context);

void wordpiece_free(struct wordpiece *model);

#endif
