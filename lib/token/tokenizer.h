/*
 * tokenizer - text to token ids, as a model folder's tokenizer says.
 *
 * Opens tokenizer.json, else vocab.txt, vocab.json with merges.txt or a model of sentencepiece, each with
 * what the folder says beside it (tokenizer_settings.h).  WordPiece, BPE and Unigram, bit-exact with the reference tokenizers; what is
 * not supported is named and refused.
 */
#ifndef TOKEN_TOKENIZER_H
#define TOKEN_TOKENIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/stream.h"
#include "token/ids.h"

struct tokenizer;

/* dir: a model folder, or a tokenizer.json file. */
struct tokenizer *tokenizer_open(const char *dir);

/* The folder whose tokenizer and prompts a model has, to be freed; `dir` is taken over: of an adapter's folder that of the
 * model beside it.  Dies, or warns, where the adapter's says other things. */
char *tokenizer_model(char *dir);

/* Hex digest of the tokenizer's file bytes: what streams carry as "tokenizer".
 * Cheap: parses nothing, so that encode can check tokens without opening a tokenizer. */
char *tokenizer_fingerprint(const char *dir);

/* Die when a stream says that its tokens were made by another tokenizer than that of `dir`. */
void tokenizer_check(const struct reader *in, const char *dir);

int tokenizer_size(const struct tokenizer *tokenizer); /* greatest id + 1 */
int tokenizer_id(const struct tokenizer *tokenizer, const char *token); /* or -1 */
const char *tokenizer_token(const struct tokenizer *tokenizer, int id); /* NULL: a gap */

/*
 * Of static embeddings (folder/static_folder.h), what their packages do with a text; NULL: of a transformer.
 * sentence-transformers cuts it where tokenizer.json says "truncation", in ids.  model2vec cuts it to most x
 * characters characters, then to `most` ids ("max_length" of config.json; 512), and leaves out those of unk_token.
 */
struct tokenizer_static {
	size_t most;	   /* ids; 0: no limit */
	size_t characters; /* the median length of a token; 0: not cut by characters */
	int32_t unknown;   /* -1: all stay */
};
const struct tokenizer_static *tokenizer_static(const struct tokenizer *tokenizer);

/* Special ids that the template puts before and after a text. */
void tokenizer_template(const struct tokenizer *tokenizer, size_t *before, size_t *after);

/* Warns where the model in `dir` pools the last token and its tokenizer ends no text with one. */
void tokenizer_check_end(const struct tokenizer *tokenizer, const char *dir);

/* At which end texts are cut: the model's (truncation_side), or another. */
bool tokenizer_cuts_left(const struct tokenizer *tokenizer);
void tokenizer_cut(struct tokenizer *tokenizer, bool left);

/*
 * Append the ids of `text`, with the template's special tokens, truncated to `most` ids
 * in all (0: no limit; specials are kept).  Linear time, bounded memory, stops reading
 * when `most` is reached unless it cuts at the left; true when ids were cut off.  `text` is UTF-8; what is invalid counts
 * as U+FFFD.  Safe to call from several threads.
 */
bool tokenizer_encode(const struct tokenizer *tokenizer, const char *text, size_t length,
    size_t most, bool specials, struct ids *out);

/* The text of ids, to be freed, its bytes in *made; valid UTF-8.  specials: with the special
 * tokens.  Ids that no token has are left out, as in the reference. */
char *tokenizer_decode(const struct tokenizer *tokenizer, const int32_t *ids,
    size_t count, bool specials, size_t *made);

/* What the model folder says of its inputs (sentence_bert_config.json, config.json,
 * tokenizer_config.json): the longest input in ids, specials included; 0: unlimited. */
size_t tokenizer_max_length(const char *dir);

void tokenizer_close(struct tokenizer *tokenizer);

#endif
