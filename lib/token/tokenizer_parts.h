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
#include "token/pretokenizer.h"
#include "token/unigram.h"
#include "token/vocabulary.h"
#include "token/tokenizer.h"
#include "token/wordpiece.h"

/*
 * A tokenizer: added tokens found in the raw text, a normalizer, added tokens found in the
 * normalised text, a pre-tokeniser, a model, a template.  BERT's normalizer, pre-tokeniser and
 * model are one pass over the text, without the steps between.
 */
struct tokenizer {
	char *path;
	enum static_kind kind;
	struct tokenizer_static table;
	struct vocabulary *vocabulary,
	    *extra; /* the model's; added tokens that are not */
	struct added *raw, *normal;
	struct normalizer
	    *normalizer; /* NULL, as is pretokenizer: one pass does it all */
	struct pretokenizer *pretokenizer;
	bool lead; /* the pre-tokeniser asks for what the normalizer keeps */
	struct wordpiece *wordpiece; /* one of the three */
	struct bpe *bpe;
	struct unigram *unigram;
	struct ids before, after; /* the template's special tokens */
	struct decoder *decoder;
	struct ids special; /* added tokens that a decoded text is without */
	bool split_special; /* special tokens in a text are split as any other word */
	bool cut_left;	    /* longer texts lose their beginning */
};

/* The id that the model's own vocabulary has for a token, or -1. */
int32_t tokenizer_find(
    const struct tokenizer *tokenizer, const char *text, size_t length);

/* What the normalizer makes of a text, to be freed; NULL: the text itself.  lead: as normalizer.h has it. */
char *tokenizer_normalise(const struct tokenizer *tokenizer, const char *text,
    size_t length, size_t *made, size_t *lead);

#endif
