/*
 * trainer - learns a WordPiece or byte-level BPE vocabulary from text and writes it as a tokenizer.
 *
 * The algorithm is that of the reference's trainers: words are counted and start as single characters; the most
 * frequent adjacent pair is merged into a new token until the vocabulary is full.  Of pairs with equal counts the one
 * with the older left, then older right token is merged first; the alphabet is sorted by code point.  So the
 * vocabulary does not depend on the order of the texts.
 *
 * WordPiece: words after BERT's normalisation, "##c" for characters inside them.  BPE: matches of GPT-2's expression
 * after NFC, as bytes, each written as a character (GPT-2, GPT-NeoX).
 *
 * Ids: [PAD] [UNK] [CLS] [SEP] [MASK], characters that begin words, characters inside words (BPE:
 * the 256 bytes), merged tokens in the order of merging.
 *
 * Memory grows with the number of distinct words, not with the text.
 */
#ifndef TOKEN_TRAIN_TRAINER_H
#define TOKEN_TRAIN_TRAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vocabulary_trainer;

enum trainer_kind { TRAINER_WORDPIECE, TRAINER_BPE };

/* cased: WordPiece keeps case and accents; ignored by BPE, which always does. */
struct vocabulary_trainer *trainer_new(enum trainer_kind kind, bool cased);

/* Counts the words of a text of UTF-8. */
void trainer_count(struct vocabulary_trainer *trainer, const char *text, size_t length);

/*
 * Learns a vocabulary of at most `size` tokens and returns its size.  Pairs rarer than `least` are not merged.
 * WordPiece keeps the `alphabet` most frequent characters and ignores words with others.  Dies if the characters alone
 * do not fit.
 */
int trainer_learn(
    struct vocabulary_trainer *trainer, int size, int64_t least, int alphabet);

/* Dies as trainer_write would, if the folder has a model's weights or is a file; call before long work. */
void trainer_writable(const char *dir);

/* Writes tokenizer.json, tokenizer_config.json and, for WordPiece, vocab.txt into a folder, which is made if needed. */
void trainer_write(
    const struct vocabulary_trainer *trainer, const char *dir, int max_length);
void trainer_free(struct vocabulary_trainer *trainer);

#endif
