/*
 * tokenizer_settings - what a model's folder says of its tokenizer beside the vocabulary and tokenizer.json.
 *
 * tokenizer_config.json; over it special_tokens_map.json and added_tokens.json where it has no added_tokens_decoder;
 * over these tokenizer_args or processor_kwargs of sentence_bert_config.json.  The class is tokenizer_class there,
 * else in config.json, else that of its model_type.
 */
#ifndef TOKEN_TOKENIZER_SETTINGS_H
#define TOKEN_TOKENIZER_SETTINGS_H

#include <stdbool.h>

#include "text/tree.h"

/* What a class makes its texts of: words, bytes, pieces, or what its tokenizer.json says. */
enum tokenizer_kind { KIND_WORDPIECE, KIND_BYTES, KIND_PIECES, KIND_FILE };

enum { SPECIAL_TOKENS = 7 };
extern const char *const tokenizer_special_keys[SPECIAL_TOKENS];

/* A tokenizer class of transformers, by the name that stands before "Tokenizer" or "TokenizerFast". */
struct tokenizer_class {
	const char *names,
	    *types; /* divided by blanks; types: "model_type" of config.json */
	enum tokenizer_kind kind;
	const char *before, *after; /* keys of the tokens around a text; NULL: none */
	const char *special[SPECIAL_TOKENS]; /* by tokenizer_special_keys; NULL: none */
	bool blank_before_mask; /* its mask token takes the white space before it */
	bool begins;		/* add_bos_token where nothing says so */
	bool
	    ends; /* add_bos_token and add_eos_token decide, whatever the file's template */
};

struct tokenizer_settings {
	struct tree *config;		     /* an object */
	struct tree *added;		     /* added tokens with their ids, by id */
	const struct tokenizer_class *class; /* NULL: tokenizer.json alone decides */
	char *name; /* the class's, as it is written; "": nothing names one */
};

/* home: the folder, or a tokenizer.json.  Dies where tokenizer.json is not for this class. */
struct tokenizer_settings *tokenizer_settings_read(const char *home);
/* Where no class is named and that of "model_type" is of another kind than the files, it is this one, as "Bert". */
void tokenizer_settings_assume(
    struct tokenizer_settings *settings, const char *name, enum tokenizer_kind kind);
void tokenizer_settings_free(struct tokenizer_settings *settings);

/* The text of a special token, the folder's or the class's; NULL: none. */
const char *tokenizer_settings_token(
    const struct tokenizer_settings *settings, const char *key);

#endif
