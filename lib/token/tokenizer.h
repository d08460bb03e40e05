/*
 * tokenizer - the tokenizer of a model folder: text to token ids and back.
 *
 * Reads tokenizer.json or older formats (tokenizer_source.h) and the settings beside them (tokenizer_settings.h).
 * WordPiece, BPE and Unigram, with the same ids as the reference tokenizers; anything not supported is refused by
 * name.
 */
#ifndef TOKEN_TOKENIZER_H
#define TOKEN_TOKENIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/stream.h"
#include "token/ids.h"

struct tokenizer;

/* dir: a model folder, or the path of a tokenizer.json. */
struct tokenizer *tokenizer_open(const char *dir);

/* The folder of a model's tokenizer and prompts, to be freed: for an adapter's folder, that of its base model.  Takes
 * over `dir`.  Warns if the adapter's folder has another tokenizer or length; dies if it has another default prompt.
 * */
char *tokenizer_model(char *dir);

/* Hex digest of the bytes of the tokenizer's file, to be freed: "tokenizer" of a stream's header.  Parses nothing, so
 * that encode can check a stream without opening the tokenizer. */
char *tokenizer_fingerprint(const char *dir);

/* Dies if the header of a stream names another tokenizer than that of `dir`. */
void tokenizer_check(const struct reader *in, const char *dir);

int tokenizer_size(const struct tokenizer *tokenizer); /* greatest id + 1 */
int tokenizer_id(const struct tokenizer *tokenizer, const char *token); /* or -1 */
const char *tokenizer_token(
    const struct tokenizer *tokenizer, int id); /* NULL: no token */

/*
 * How the packages of static embeddings (folder/static_folder.h) truncate a text; NULL: the model is a transformer.
 * sentence-transformers: to "truncation" of tokenizer.json.  model2vec: to most x characters characters, then to
 * `most` ids ("max_length" of config.json; 512); then it removes the unknown token.
 */
struct tokenizer_static {
	size_t most;	   /* ids; 0: no limit */
	size_t characters; /* median length of a token; 0: no limit in characters */
	int32_t unknown;   /* id to remove; -1: none */
};
const struct tokenizer_static *tokenizer_static(const struct tokenizer *tokenizer);

/* Number of special tokens before and after a text. */
void tokenizer_template(const struct tokenizer *tokenizer, size_t *before, size_t *after);

/* Warns if the model in `dir` pools the last token and its tokenizer adds no special token at the end. */
void tokenizer_check_end(const struct tokenizer *tokenizer, const char *dir);

/* Whether truncation removes the start of a text (truncation_side); tokenizer_cut changes it. */
bool tokenizer_cuts_left(const struct tokenizer *tokenizer);
void tokenizer_cut(struct tokenizer *tokenizer, bool left);

/*
 * Appends the ids of `text`, truncated to `most` ids in all (0: no limit).  specials: with the special tokens around
 * it, which truncation keeps.  Returns whether ids were cut off.  Invalid UTF-8 counts as U+FFFD.  Linear time; stops
 * reading at `most`, unless it cuts the start.  Thread-safe.
 */
bool tokenizer_encode(const struct tokenizer *tokenizer, const char *text, size_t length,
    size_t most, bool specials, struct ids *out);

/* The text of ids, to be freed, valid UTF-8; *made: its length in bytes.  specials: with the special tokens.  Unknown
 * ids are skipped, as in the reference. */
char *tokenizer_decode(const struct tokenizer *tokenizer, const int32_t *ids,
    size_t count, bool specials, size_t *made);

/* The longest input in ids, with special tokens, from sentence_bert_config.json, else config.json and
 * tokenizer_config.json; 0: unlimited. */
size_t tokenizer_max_length(const char *dir);

void tokenizer_close(struct tokenizer *tokenizer);

#endif
