/*
 * wordpiece - the tokenizer of BERT: BertNormalizer, BertPreTokenizer and the WordPiece
 * model, in one pass over the text.
 *
 * Words are cut greedily into the longest pieces that the vocabulary has (Wu et al. 2016,
 * section 4.1; Devlin et al. 2018); a word that cannot be cut, or is longer than
 * max_chars, is one unknown token.  Linear time, no cache, no allocation for words of a
 * usual length.
 */
#ifndef TOKEN_WORDPIECE_H
#define TOKEN_WORDPIECE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "token/ids.h"
#include "token/vocabulary.h"

/* Any of them may be off. */
struct wordpiece_rules {
	bool clean_text;    /* drop control characters, make white space blanks */
	bool chinese_chars; /* blanks around CJK ideographs */
	bool strip_accents; /* NFD, then drop Mn */
	bool lowercase;
	int32_t unknown;	  /* id */
	int max_chars;		  /* code points of a word; "max_input_chars_per_word" */
	const char *continuation; /* "##"; borrowed */
};

struct wordpiece;

/* The vocabulary is borrowed for life. */
struct wordpiece *wordpiece_new(
    const struct vocabulary *vocabulary, const struct wordpiece_rules *rules);

/*
 * Append the ids of valid UTF-8; stop after the word that makes out->count exceed `most`.
 * `normal`: the text has been through wordpiece_normal already.
 */
void wordpiece_encode(const struct wordpiece *model, const char *text, size_t length,
    bool normal, size_t most, struct ids *out);

/* Append the ids of one word: what another pre-tokeniser has cut. */
void wordpiece_word(
    const struct wordpiece *model, const char *text, size_t length, struct ids *out);

/* The normalizer alone; to be freed, its bytes in *made. */
char *wordpiece_normal(
    const struct wordpiece *model, const char *text, size_t length, size_t *made);

/* The words that the model would cut, to `each`: what a vocabulary is learnt from.  Words
 * longer than max_chars are left out.  The bytes are borrowed. */
typedef void wordpiece_each(void *context, const char *word, size_t length);
void wordpiece_words(const struct wordpiece *model, const char *text, size_t length,
    wordpiece_each *each, void *context);

void wordpiece_free(struct wordpiece *model);

#endif
