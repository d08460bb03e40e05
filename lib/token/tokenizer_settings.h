/*
 * tokenizer_settings - reads the settings of a model folder's tokenizer, except tokenizer.json and the vocabulary.
 *
 * In increasing priority: tokenizer_config.json; special_tokens_map.json and added_tokens.json, unless the former has
 * added_tokens_decoder; tokenizer_args or processor_kwargs of sentence_bert_config.json; "add_eos" of config.json (NV-Embed).  The class is tokenizer_class
 * of these, else of config.json, else that of model_type there.
 */
#ifndef TOKEN_TOKENIZER_SETTINGS_H
#define TOKEN_TOKENIZER_SETTINGS_H

#include <stdbool.h>

#include "text/tree.h"

/* The model of a class: WordPiece, byte-level BPE, Unigram, or that of its tokenizer.json. */
enum tokenizer_kind { KIND_WORDPIECE, KIND_BYTES, KIND_PIECES, KIND_FILE };

enum { SPECIAL_TOKENS = 7 };
extern const char *const tokenizer_special_keys[SPECIAL_TOKENS + 1]; /* ends with NULL */

/* A tokenizer class of transformers, named without "Tokenizer" or "TokenizerFast". */
struct tokenizer_class {
	const char *names,
	    *types; /* separated by blanks; types: "model_type" of config.json */
	enum tokenizer_kind kind;
	int separators; /* tokens `after` between the texts of a pair */
	bool
	    types_given; /* the model gets token types, unless "model_input_names" says otherwise */
	const char *before, *after; /* keys of the tokens around a text; NULL: none */
	const char *special[SPECIAL_TOKENS]; /* by tokenizer_special_keys; NULL: none */
	bool blank_before_mask; /* the mask token includes the white space before it */
	bool begins;		/* default of add_bos_token */
	bool ends; /* add_bos_token and add_eos_token override the file's template */
};

struct tokenizer_settings {
	struct tree *config; /* an object */
	struct tree *added;  /* list of added tokens with ids, sorted by id */
	const struct tokenizer_class *class; /* NULL: tokenizer.json alone decides */
	char *name;			     /* tokenizer_class as written; "": absent */
};

/* home: the folder.  Dies if the class does not use tokenizer.json. */
struct tokenizer_settings *tokenizer_settings_read(const char *home);
/* If tokenizer_class is absent and the class of "model_type" is not of this kind, the class becomes `name`, such as
 * "Bert". */
void tokenizer_settings_assume(
    struct tokenizer_settings *settings, const char *name, enum tokenizer_kind kind);
void tokenizer_settings_free(struct tokenizer_settings *settings);

/* The text of a special token, from the folder, else of the class; NULL: none. */
const char *tokenizer_settings_token(
    const struct tokenizer_settings *settings, const char *key);

#endif
