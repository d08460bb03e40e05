/*
 * tokenizer_parts - what the files of tokenizer share: tokenizer.c encodes and decodes,
 * tokenizer_open.c reads a folder's files, tokenizer_merges.c the older pair among them.
 */
#ifndef TOKEN_TOKENIZER_PARTS_H
#define TOKEN_TOKENIZER_PARTS_H

#include "base/file.h"
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
#include "token/tokenizer_settings.h"
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
	uint32_t merges;
	double *score;		  /* of pieces, by id, as they are read */
	size_t score_room;	  /* more than the file can have */
	struct ids before, after; /* the template's special tokens */
	struct decoder *decoder;
	struct ids special; /* added tokens that a decoded text is without */
	bool split_special; /* special tokens in a text are split as any other word */
	bool cut_left;	    /* longer texts lose their beginning */
};

/* The path of `file` (NULL: tokenizer.json) in a folder, or beside a file; to be freed. */
char *tokenizer_beside(const char *dir, const char *file);

/* The id that the model's own vocabulary has for a token, or -1. */
int32_t tokenizer_find(
    const struct tokenizer *tokenizer, const char *text, size_t length);

/* What the normalizer makes of a text, to be freed; NULL: the text itself.  lead: as normalizer.h has it. */
char *tokenizer_normalise(const struct tokenizer *tokenizer, const char *text,
    size_t length, size_t *made, size_t *lead);

/* Unigram's "vocab", a piece at a time (json_map.h), and its "model" after that. */
void tokenizer_add_piece(void *context, const char *text, size_t length, double score);
void tokenizer_read_unigram(struct tokenizer *tokenizer, const struct tree *root);

/* The pieces of sentencepiece's model file, as a class numbers them; returns what tokenizer.json would hold around them.
 */
struct tree *tokenizer_read_pieces(struct tokenizer *tokenizer, const char *bytes,
    size_t length, const struct tokenizer_settings *settings);

/* What is to be known of a folder of static embeddings, whose table lies in `home`; no special tokens are put around
 * a text.  root: tokenizer.json. */
void tokenizer_read_static(
    struct tokenizer *tokenizer, const struct tree *root, const char *home);

/* A folder's vocab.json and merges.txt as the text of a tokenizer.json, and the path of the first for messages;
 * false: there is no vocab.json. */
bool tokenizer_read_merges(const char *dir, char **path, struct file_view *view);

/* folder/sentence_config.h: that beside a folder's tokenizer, checked.  NULL: none. */
struct tree *tokenizer_sentence_config(const char *home);

/* What the bytes of a tokenizer are: tokenizer.json, written or made of vocab.json and merges.txt; vocab.txt; a model of
 * sentencepiece. */
enum tokenizer_form { FORM_JSON, FORM_MERGES, FORM_LINES, FORM_PIECES };

/* The bytes of the tokenizer in a folder, and in *path where they are, to be freed. */
enum tokenizer_form tokenizer_read_file(
    const char *dir, char **path, struct file_view *view);

#endif
