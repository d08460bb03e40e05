/*
 * vocab - learn a WordPiece vocabulary from text, and write it as a tokenizer.
 *
 * As the reference's trainer does it: words are counted after BERT's normalisation, start as
 * single characters ("##c" inside a word), and the most frequent pair of neighbours is merged
 * into a new token until the vocabulary is full.  Of pairs with equal counts the one whose
 * left, then right token is older is merged first; the alphabet is ordered by code point.  So equal
 * texts, in any order, give equal vocabularies.
 *
 * Ids: [PAD] [UNK] [CLS] [SEP] [MASK], characters that begin words, characters inside words,
 * merged tokens in the order of merging.
 *
 * Memory: the distinct words, not the text.
 */
#ifndef VOCAB_H
#define VOCAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vocab;

/* cased: neither lower-case nor strip accents. */
struct vocab *vocab_new(bool cased);

/* Count the words of a text (UTF-8). */
void vocab_count(struct vocab *vocab, const char *text, size_t length);

/*
 * Learn a vocabulary of at most `size` tokens; pairs that are rarer than `least` are not
 * merged.  Of the characters only the `alphabet` most frequent are kept; a word with another
 * one is left out.  Dies when the characters alone do not fit.  Returns the tokens.
 */
int vocab_learn(struct vocab *vocab, int size, int64_t least, int alphabet);

/* Die when vocab_write would: the folder holds a model's weights.  To be asked first. */
void vocab_writable(const char *dir);

/* Write tokenizer.json, vocab.txt and tokenizer_config.json into a folder, which is made when
 * it is not there. */
void vocab_write(const struct vocab *vocab, const char *dir, int max_length);
void vocab_free(struct vocab *vocab);

#endif
