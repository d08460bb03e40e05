#include "token/tokenizer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "folder/modules.h"
#include "text/json.h"
#include "token/tokenizer_parts.h"

char *
tokenizer_beside(const char *dir, const char *file)
{
	struct stat status;

	if (!stat(dir, &status) &&
	    !S_ISDIR(status.st_mode)) { /* a tokenizer.json itself */
		const char *slash = strrchr(dir, '/');
		if (!file)
			return mem_string(dir);
		return mem_format(
		    "%.*s%s", slash ? (int)(slash - dir + 1) : 0, dir, file);
	}
	return mem_format("%s/%s", dir, file ? file : "tokenizer.json");
}

/* vocab.txt. ----------------------------------------------------------------------- */

static void
read_lines(struct tokenizer *tokenizer, const char *text, size_t length)
{
	const char *at = text, *end = text + length;

	for (int64_t id = 0; at < end; id++) {
		const char *line = at, *stop = memchr(at, '\n', (size_t)(end - at));
		stop = stop ? stop : end;
		at = stop + 1;
		while (stop > line && strchr(" \t\r", stop[-1]))
			stop--;
		if (id >= VOCABULARY_MAX ||
		    utf8_valid(line, (size_t)(stop - line)) != (size_t)(stop - line))
			die("%s:%lld: not a vocabulary: %s", tokenizer->path,
			    (long long)id + 1,
			    id >= VOCABULARY_MAX ? "too many lines" : "invalid UTF-8");
		if (stop > line)
			vocabulary_add(tokenizer->vocabulary, line, (size_t)(stop - line),
			    (int32_t)id);
	}
}

/* The id of such a token, found in the raw text. */
static int32_t
special(struct tokenizer *tokenizer, const struct tree *config, const char *key,
    const char *otherwise)
{
	const char *text = tokenizer_special(config, key, otherwise);
	struct added_token token = { .text = mem_string(text), .length = strlen(text) };

	token.id = vocabulary_find(tokenizer->vocabulary, text, token.length);
	if (token.id < 0)
		die("%s: not a WordPiece vocabulary: it lacks %s", tokenizer->path, text);
	added_add(tokenizer->raw, &token);
	ids_push(&tokenizer->special, token.id);
	free(token.text);
	return token.id;
}

/* Its older names are of families. */
struct tree *
tokenizer_sentence_config(const char *home)
{
	static const char *const families[] = { "bert", "roberta", "distilbert",
		"camembert", "albert", "xlm-roberta", "xlnet" };
	struct tree *tree = NULL;

	for (size_t i = 0; i < sizeof families / sizeof *families && !tree; i++) {
		char *name = mem_format("sentence_%s_config.json", families[i]);
		char *path = tokenizer_beside(home, name);
		tree = json_read_optional(path);
		free(path);
		free(name);
	}
	return tree;
}

static void
open_vocabulary(
    struct tokenizer *tokenizer, const char *text, size_t length, const char *dir)
{
	char *path = tokenizer_beside(dir, "tokenizer_config.json");
	struct tree *config = json_read_optional(path);
	struct tree *sentence = tokenizer_sentence_config(dir);
	bool lower = tree_boolean(config, "do_lower_case", true);

	read_lines(tokenizer, text, length);
	struct wordpiece_rules rules = { .clean_text = true,
		.lowercase = lower || tree_boolean(sentence, "do_lower_case", false),
		.chinese_chars = tree_boolean(config, "tokenize_chinese_chars", true),
		.strip_accents = tree_boolean(config, "strip_accents", lower),
		.max_chars = 100,
		.continuation = "##" };
	rules.unknown = special(tokenizer, config, "unk_token", "[UNK]");
	ids_push(&tokenizer->before, special(tokenizer, config, "cls_token", "[CLS]"));
	ids_push(&tokenizer->after, special(tokenizer, config, "sep_token", "[SEP]"));
	special(tokenizer, config, "pad_token", "[PAD]");
	special(tokenizer, config, "mask_token", "[MASK]");
	tokenizer->wordpiece = wordpiece_new(tokenizer->vocabulary, &rules);
	tokenizer->decoder = decoder_wordpiece();
	tree_free(config);
	tree_free(sentence);
	free(path);
}

/* Opening. ------------------------------------------------------------------------- */

/* The tokenizer's bytes and where they are; json: which of the two kinds. */
static char *
find_file(const char *dir, char **path, size_t *length, bool *json)
{
	*path = tokenizer_beside(dir, NULL);
	*json = true;
	char *text = file_read(*path, length);
	if (text)
		return text;
	free(*path);
	*path = tokenizer_beside(dir, "vocab.txt");
	*json = false;
	text = file_read(*path, length);
	if (text)
		return text;
	free(*path);
	*json = true;
	text = tokenizer_read_merges(dir, path, length);
	if (!text)
		die("%s: neither tokenizer.json, vocab.txt nor vocab.json is there", dir);
	return text;
}

struct tokenizer *
tokenizer_open(const char *dir)
{
	struct tokenizer *tokenizer = mem_zero(1, sizeof *tokenizer);
	size_t length;
	bool json;
	char *home = modules_transformer(dir);
	char *text = find_file(home, &tokenizer->path, &length, &json);

	tokenizer->vocabulary = vocabulary_new();
	tokenizer->extra = vocabulary_new();
	tokenizer->raw = added_new();
	tokenizer->normal = added_new();
	if (json)
		tokenizer_read_json(tokenizer, text, length, home);
	else
		open_vocabulary(tokenizer, text, length, home);
	free(text);
	free(home);
	return tokenizer;
}

char *
tokenizer_fingerprint(const char *dir)
{
	size_t length;
	bool json;
	char *path, *home = modules_transformer(dir);
	char *text = find_file(home, &path, &length, &json), *hex = mem_new(33, 1);

	file_digest(text, length, hex);
	free(text);
	free(home);
	free(path);
	return hex;
}

static size_t
least(size_t a, const struct tree *node, const char *key)
{
	const struct tree *value = node ? tree_get(node, key) : NULL;

	/* "no limit" is written as 10^30 */
	if (!value || (value->kind != TREE_INTEGER && value->kind != TREE_REAL) ||
	    value->real < 1 || value->real > 1e9)
		return a;
	return a == 0 || value->real < (double)a ? (size_t)value->real : a;
}

size_t
tokenizer_max_length(const char *dir)
{
	char *home = modules_transformer(dir);
	struct tree *tree = tokenizer_sentence_config(home);
	size_t most = least(0, tree, "max_seq_length");

	tree_free(tree);
	if (!most) {
		char *path = tokenizer_beside(home, "config.json");
		tree = json_read_optional(path);
		most =
		    least(least(0, tree, "max_position_embeddings"), tree, "n_positions");
		tree_free(tree);
		free(path);
		path = tokenizer_beside(home, "tokenizer_config.json");
		tree = json_read_optional(path);
		most = least(most, tree, "model_max_length");
		tree_free(tree);
		free(path);
	}
	free(home);
	return most;
}

int
tokenizer_size(const struct tokenizer *tokenizer)
{
	int32_t own = vocabulary_size(tokenizer->vocabulary),
		extra = vocabulary_size(tokenizer->extra);

	return own > extra ? own : extra;
}

int
tokenizer_id(const struct tokenizer *tokenizer, const char *token)
{
	int32_t id = vocabulary_find(tokenizer->vocabulary, token, strlen(token));

	return id >= 0 ? id : vocabulary_find(tokenizer->extra, token, strlen(token));
}

const char *
tokenizer_token(const struct tokenizer *tokenizer, int id)
{
	const char *text = vocabulary_text(tokenizer->vocabulary, id, NULL);

	return text ? text : vocabulary_text(tokenizer->extra, id, NULL);
}

void
tokenizer_template(const struct tokenizer *tokenizer, size_t *before, size_t *after)
{
	*before = tokenizer->before.count;
	*after = tokenizer->after.count;
}

void
tokenizer_close(struct tokenizer *tokenizer)
{
	if (tokenizer->wordpiece)
		wordpiece_free(tokenizer->wordpiece);
	if (tokenizer->bpe)
		bpe_free(tokenizer->bpe);
	if (tokenizer->normalizer)
		normalizer_free(tokenizer->normalizer);
	if (tokenizer->pretokenizer)
		pretokenizer_free(tokenizer->pretokenizer);
	decoder_free(tokenizer->decoder);
	added_free(tokenizer->raw);
	added_free(tokenizer->normal);
	vocabulary_free(tokenizer->vocabulary);
	vocabulary_free(tokenizer->extra);
	ids_free(&tokenizer->before);
	ids_free(&tokenizer->after);
	ids_free(&tokenizer->special);
	free(tokenizer->path);
	free(tokenizer);
}

/* Decoding. ------------------------------------------------------------------------ */

static bool
is_special(const struct tokenizer *tokenizer, int32_t id)
{
	for (size_t i = 0; i < tokenizer->special.count; i++)
		if (tokenizer->special.id[i] == id)
			return true;
	return false;
}

char *
tokenizer_decode(const struct tokenizer *tokenizer, const int32_t *ids, size_t count,
    bool specials, size_t *made)
{
	struct pieces tokens = { 0 };

	for (size_t i = 0; i < count; i++) {
		size_t length = 0;
		const char *token = vocabulary_text(tokenizer->extra, ids[i], &length);
		if (!token)
			token = vocabulary_text(tokenizer->vocabulary, ids[i], &length);
		if (token && (specials || !is_special(tokenizer, ids[i])))
			pieces_add(&tokens, token, length);
	}
	char *text = decoder_run(tokenizer->decoder, &tokens, made);
	pieces_free(&tokens);
	return text;
}

/* Encoding. ------------------------------------------------------------------------ */

typedef void encode_part(const struct tokenizer *tokenizer, const char *text,
    size_t length, size_t most, struct ids *out);

/* Added tokens become their ids; what is between them goes to `part`. */
static void
split(const struct tokenizer *tokenizer, const struct added *added, const char *text,
    size_t length, encode_part *part, size_t most, struct ids *out)
{
	size_t from = 0, search = 0, start, stop;

	while (out->count <= most) {
		int32_t id =
		    added_find(added, text, length, from, search, &start, &stop, &search);
		if (id < 0)
			break;
		if (start > from)
			part(tokenizer, text + from, start - from, most, out);
		/* not one of white space that its neighbour has taken */
		if (stop > start)
			ids_push(out, id);
		from = stop;
	}
	if (from < length && out->count <= most)
		part(tokenizer, text + from, length - from, most, out);
}

char *
tokenizer_normalise(
    const struct tokenizer *tokenizer, const char *text, size_t length, size_t *made)
{
	return tokenizer->normalizer
		   ? normalizer_apply(tokenizer->normalizer, text, length, made)
		   : wordpiece_normal(tokenizer->wordpiece, text, length, made);
}

struct model {
	const struct tokenizer *tokenizer;
	struct ids *out;
	size_t most;
};

static bool
encode_pretoken(void *context, const char *text, size_t length)
{
	const struct model *model = context;

	if (model->tokenizer->bpe)
		bpe_encode(model->tokenizer->bpe, text, length, model->out);
	else
		wordpiece_word(model->tokenizer->wordpiece, text, length, model->out);
	return model->out->count <= model->most;
}

static void
encode_normal(const struct tokenizer *tokenizer, const char *text, size_t length,
    size_t most, struct ids *out)
{
	struct model model = { tokenizer, out, most };

	if (tokenizer->pretokenizer)
		pretokenizer_run(
		    tokenizer->pretokenizer, text, length, encode_pretoken, &model);
	else
		wordpiece_encode(tokenizer->wordpiece, text, length, true, most, out);
}

static void
encode_piece(const struct tokenizer *tokenizer, const char *text, size_t length,
    size_t most, struct ids *out)
{
	size_t made;

	if (!tokenizer->pretokenizer && !added_any(tokenizer->normal)) {
		wordpiece_encode(tokenizer->wordpiece, text, length, false, most, out);
		return;
	}
	char *normal = tokenizer_normalise(tokenizer, text, length, &made);
	split(tokenizer, tokenizer->normal, normal ? normal : text, made, encode_normal,
	    most, out);
	free(normal);
}

bool
tokenizer_encode(const struct tokenizer *tokenizer, const char *text, size_t length,
    size_t most, bool specials, struct ids *out)
{
	size_t before = specials ? tokenizer->before.count : 0;
	size_t after = specials ? tokenizer->after.count : 0;
	size_t limit = SIZE_MAX;
	char *repaired = NULL;
	int64_t count = 0;

	/* the one pass repairs as it goes */
	if (tokenizer->pretokenizer && utf8_valid(text, length) < length) {
		repaired = mem_new(mem_multiply(length, 3, "a text"), 1);
		length = utf8_repair(repaired, text, length, &count);
		text = repaired;
	}
	for (size_t i = 0; i < before; i++)
		ids_push(out, tokenizer->before.id[i]);
	if (most)
		limit = out->count + (most > before + after ? most - before - after : 0);
	split(tokenizer, tokenizer->raw, text, length, encode_piece, limit, out);
	free(repaired);
	bool cut = out->count > limit;
	if (cut)
		out->count = limit;
	for (size_t i = 0; i < after; i++)
		ids_push(out, tokenizer->after.id[i]);
	return cut;
}
