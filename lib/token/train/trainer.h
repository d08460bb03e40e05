/*
 * trainer - learn a vocabulary from text, WordPiece or byte-level BPE, and write it as a tokenizer.
 *
 * As the reference's trainers do it: words are counted, start as single characters, and the most
 * frequent pair of neighbours is merged
 * into a new token until the vocabulary is full.  Of pairs with equal counts the one whose
 * left, then right token is older is merged first; the alphabet is ordered by code point.  So equal
 * texts, in any order, give equal vocabularies.
 *
 * WordPiece: words after BERT's normalisation, "##c" for characters inside them.  BPE: the pieces
 * of GPT-2's expression after NFC, as bytes, each written as a character (GPT-2, GPT-NeoX).
 *
 * Ids: [PAD] [UNK] [CLS] [SEP] [MASK], characters that begin words, characters inside words (BPE:
 * the 256 bytes), merged tokens in the order of merging.
 *
 * Memory: the distinct words, not the text.
 */
#ifndef TOKEN_TRAIN_TRAINER_H
#define TOKEN_TRAIN_TRAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vocabulary_trainer;

enum trainer_kind { TRAINER_WORDPIECE, TRAINER_BPE };

/* cased, of WordPiece: neither lower-case nor strip accents; BPE takes the text as it is. */
struct vocabulary_trainer *trainer_new(enum trainer_kind kind, bool cased);

/* Count the words of a text (UTF-8). */
void trainer_count(struct vocabulary_trainer *trainer, const char *text, size_t length);

/*
 * Learn a vocabulary of at most `size` tokens; pairs that are rarer than `least` are not
 * merged.  Of the characters of WordPiece only the `alphabet` most frequent are kept; a word
 * with another one is left out.  Dies when the characters alone do not fit.  Returns the tokens.
 */
int trainer_learn(
    struct vocabulary_trainer *trainer, int size, int64_t least, int alphabet);

/* Die when trainer_write would: the folder holds a model's weights.  To be asked first. */
void trainer_writable(const char *dir);

/* Write tokenizer.json, tokenizer_config.json and, of WordPiece, vocab.txt into a folder, which is made when
 * it is not there. */
void trainer_write(
    const struct vocabulary_trainer *trainer, const char *dir, int max_length);
void trainer_free(struct vocabulary_trainer *trainer);

#endif
