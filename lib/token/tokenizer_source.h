/*
 * tokenizer_source - reads the files of a tokenizer: tokenizer.json, or an older format as the tokenizer.json that
 * transformers makes of it.
 *
 * Older formats: vocab.txt of BERT, vocab.json with merges.txt of GPT-2, a model file of sentencepiece.  Their tokens,
 * normalizer and pre-tokeniser depend on the tokenizer class (tokenizer_settings.h).
 */
#ifndef TOKEN_TOKENIZER_SOURCE_H
#define TOKEN_TOKENIZER_SOURCE_H

#include "base/file.h"
#include "folder/static_folder.h"
#include "text/tree.h"
#include "token/bpe.h"
#include "token/tokenizer_settings.h"
#include "token/vocabulary.h"

enum tokenizer_format { FORMAT_JSON, FORMAT_MERGES, FORMAT_LINES, FORMAT_PIECES };

/* Zeroed: empty.  Whoever takes a member sets it to NULL. */
struct tokenizer_source {
	char *home; /* tokenizer_source_home */
	char *path; /* the file with the vocabulary */
	enum tokenizer_format format;
	struct file_view
	    bytes; /* FORMAT_MERGES: of a tokenizer.json made of both files */
	enum static_kind kind;
	/* NULL: static embeddings, whose packages read tokenizer.json alone */
	struct tokenizer_settings *settings;

	/* set by tokenizer_source_read */
	struct tree *root; /* tokenizer.json without "vocab" and "merges" */
	struct vocabulary *vocabulary;
	double *scores; /* of Unigram's pieces, by id; NULL: another model */
	size_t score_capacity;
	struct bpe *bpe; /* with its merges; NULL: there are none */
	uint32_t merge_count;
};

/* The transformer's folder of a model, to be freed; of the path of a tokenizer.json, the folder that it is in. */
char *tokenizer_source_home(const char *dir);

/* Finds the files of a model folder; `dir` may also be the path of a tokenizer.json.  Dies if there is none. */
void tokenizer_source_find(struct tokenizer_source *source, const char *dir);

/* Reads them. */
void tokenizer_source_read(struct tokenizer_source *source);

/* Frees what is left in the source. */
void tokenizer_source_close(struct tokenizer_source *source);

#endif
