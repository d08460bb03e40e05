/*
 * tokenizer_parts - the struct of a tokenizer: tokenizer_open.c makes it, tokenizer.c encodes and decodes with it.
 */
#ifndef TOKEN_TOKENIZER_PARTS_H
#define TOKEN_TOKENIZER_PARTS_H

#include "base/utf8.h"
#include "folder/static_folder.h"
#include "text/tree.h"
#include "token/added.h"
#include "token/bpe.h"
#include "token/decoder.h"
#include "token/ids.h"
#include "token/normalizer.h"
#include "token/pair.h"
#include "token/pretokenizer.h"
#include "token/unigram.h"
#include "token/vocabulary.h"
#include "token/tokenizer.h"
#include "token/wordpiece.h"

/*
 * Steps of encoding: find added tokens in the raw text, normalise, find added tokens in the normalised text,
 * pre-tokenise, run the model, add special tokens.  BERT's normalizer, pre-tokeniser and model are one pass
 * (wordpiece.h).
 */
struct tokenizer {
	char *path;
	enum static_kind kind;
	struct tokenizer_static table;
	struct vocabulary *vocabulary,
	    *extra; /* of the model; added tokens that it lacks */
	struct added *raw, *normal;
	struct normalizer
	    *normalizer; /* NULL, with pretokenizer: wordpiece does it all */
	struct pretokenizer *pretokenizer;
	bool lead;		     /* the pre-tokeniser needs the lead (normalizer.h) */
	struct wordpiece *wordpiece; /* one of the three is set */
	struct bpe *bpe;
	struct unigram *unigram;
	struct ids before, after; /* special tokens around a text */
	struct pair_around pair;
	struct decoder *decoder;
	struct ids special; /* special tokens in order, which decoding skips */
	bool split_special; /* special tokens in a text are split like words */
	bool cut_left;	    /* truncation removes the start of a text */
};

/* Compares two int32_t, for qsort. */
int tokenizer_by_number(const void *one, const void *two);

/* The id of a token in the model's vocabulary, or -1. */
int32_t tokenizer_find(
    const struct tokenizer *tokenizer, const char *text, size_t length);

/* The normalised text, to be freed; NULL: unchanged.  lead: see normalizer.h. */
char *tokenizer_normalise(const struct tokenizer *tokenizer, const char *text,
    size_t length, size_t *made, size_t *lead);

#endif
