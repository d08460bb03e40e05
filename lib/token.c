#include "token.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "added.h"
#include "err.h"
#include "file.h"
#include "json.h"
#include "json_map.h"
#include "mem.h"
#include "modules.h"
#include "symbols.h"
#include "tree.h"
#include "utf8.h"
#include "wordpiece.h"

/*
 * A tokenizer: added tokens found in the raw text, a normaliser, added tokens found in the
 * normalised text, a pre-tokeniser, a model, a template.  WordPiece does the middle in one
 * pass; another model would stand beside it here and in encode_piece and encode_normal.
 */
struct tokenizer {
	char *path;
	struct symbols *symbols;
	struct added *raw, *normal;
	struct wordpiece *wordpiece;
	struct ids before, after; /* the template's special tokens */
};

static char *
beside(const char *dir, const char *file)
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

/* tokenizer.json. ------------------------------------------------------------------ */

static void
add_symbol(void *context, const char *text, size_t length, int64_t id)
{
	struct tokenizer *tokenizer = context;

	if (id < 0 || id >= SYMBOLS_MAX)
		die("%s: token '%.*s': id %lld is not in 0..%d", tokenizer->path,
		    (int)length, text, (long long)id, SYMBOLS_MAX - 1);
	int32_t got = symbols_add(tokenizer->symbols, text, length, (int32_t)id);
	if (got < 0)
		die("%s: token '%.*s': id %lld is also that of '%s'", tokenizer->path,
		    (int)length, text, (long long)id,
		    symbols_text(tokenizer->symbols, (int32_t)id, NULL));
	if (got != id)
		die("%s: token '%.*s' is there twice", tokenizer->path, (int)length,
		    text);
}

/* The one member of a Sequence of one; the component itself otherwise. */
static const struct tree *
component(const struct tree *root, const char *key, const char *list)
{
	const struct tree *node = tree_get(root, key);

	if (node && !strcmp(tree_string(node, "type", ""), "Sequence")) {
		const struct tree *items = tree_need(node, list);
		if (items->kind != TREE_LIST || items->count != 1)
			tree_die(node, "%s: a Sequence of several is not supported", key);
		return items->items[0];
	}
	return node;
}

_Noreturn static void
refuse(const struct tree *root, const struct tree *node, const char *key,
    const char *supported)
{
	const char *type = node ? tree_string(node, "type", NULL) : NULL;

	if (!type)
		tree_die(root, "%s: there is none, or it has no type (%s is supported)",
		    key, supported);
	tree_die(root, "%s: '%s' is not supported (%s is)", key, type, supported);
}

static void
read_normalizer(const struct tree *root, struct wordpiece_rules *rules)
{
	const struct tree *node = component(root, "normalizer", "normalizers");

	if (!node)
		return;
	if (strcmp(tree_string(node, "type", ""), "BertNormalizer"))
		refuse(root, node, "normalizer", "BertNormalizer");
	rules->clean_text = tree_boolean(node, "clean_text", true);
	rules->chinese_chars = tree_boolean(node, "handle_chinese_chars", true);
	rules->lowercase = tree_boolean(node, "lowercase", true);
	rules->strip_accents = tree_boolean(node, "strip_accents", rules->lowercase);
}

static void
read_model(
    struct tokenizer *tokenizer, const struct tree *root, struct wordpiece_rules *rules)
{
	const struct tree *model = tree_need(root, "model");
	const struct tree *before = component(root, "pre_tokenizer", "pretokenizers");
	const char *type = tree_string(model, "type", NULL);

	/* old files leave the type out */
	if (!type && tree_get(model, "max_input_chars_per_word"))
		type = "WordPiece";
	if (!type || strcmp(type, "WordPiece"))
		tree_die(root, "a tokenizer of type '%s' is not supported (WordPiece is)",
		    type ? type : "unknown");
	if (!before || strcmp(tree_string(before, "type", ""), "BertPreTokenizer"))
		refuse(root, before, "pre_tokenizer", "BertPreTokenizer");
	const char *unknown = tree_string(model, "unk_token", "[UNK]");
	rules->unknown = symbols_find(tokenizer->symbols, unknown, strlen(unknown));
	if (rules->unknown < 0)
		tree_die(root, "the vocabulary lacks its unk_token '%s'", unknown);
	rules->max_chars = (int)tree_integer(model, "max_input_chars_per_word", 100);
	if (rules->max_chars < 1 || rules->max_chars > 1 << 20)
		tree_die(root, "max_input_chars_per_word is %d; it must be in 1..%d",
		    rules->max_chars, 1 << 20);
	rules->continuation = tree_string(model, "continuing_subword_prefix", "##");
}

static void
read_added(struct tokenizer *tokenizer, const struct tree *root)
{
	const struct tree *list = tree_get(root, "added_tokens");

	for (size_t i = 0; list && i < list->count; i++) {
		const struct tree *node = list->items[i],
				  *text = tree_need(node, "content");
		if (text->kind != TREE_STRING)
			tree_die(node, "added_tokens: 'content' must be a string");
		struct added_token token = { .text = text->string,
			.length = text->length,
			.single_word = tree_boolean(node, "single_word", false),
			.lstrip = tree_boolean(node, "lstrip", false),
			.rstrip = tree_boolean(node, "rstrip", false) };
		int64_t id = tree_integer_in(node, "id", 0, SYMBOLS_MAX - 1);
		/* where the model has the text, its id wins */
		token.id = symbols_add(
		    tokenizer->symbols, token.text, token.length, (int32_t)id);
		if (token.id < 0)
			tree_die(node, "added token '%s': id %lld is also that of '%s'",
			    token.text, (long long)id,
			    symbols_text(tokenizer->symbols, (int32_t)id, NULL));
		if (!tree_boolean(
			node, "normalized", !tree_boolean(node, "special", false))) {
			added_add(tokenizer->raw, &token);
			continue;
		}
		token.text = wordpiece_normal(
		    tokenizer->wordpiece, token.text, token.length, &token.length);
		added_add(tokenizer->normal, &token);
		free(token.text);
	}
}

static void
push_special(struct ids *to, const struct tree *node, const struct tree *id)
{
	if (!id || id->kind != TREE_INTEGER || id->integer < 0 ||
	    id->integer >= SYMBOLS_MAX)
		tree_die(node, "post_processor: a special token without a valid id");
	ids_push(to, (int32_t)id->integer);
}

/* The ids of {"SpecialToken": {"id": NAME}}, looked up in "special_tokens". */
static void
push_named(struct ids *to, const struct tree *post, const struct tree *special)
{
	const char *name = tree_need(special, "id")->string;
	const struct tree *entry =
	    name ? tree_get(tree_get(post, "special_tokens"), name) : NULL;
	const struct tree *ids = tree_get(entry, "ids");

	if (!ids || ids->kind != TREE_LIST)
		tree_die(post, "post_processor: special token '%s' has no ids",
		    name ? name : "");
	for (size_t i = 0; i < ids->count; i++)
		push_special(to, post, ids->items[i]);
}

static void
read_template(struct tokenizer *tokenizer, const struct tree *root)
{
	const struct tree *post = component(root, "post_processor", "processors");
	const char *type = post ? tree_string(post, "type", "") : "";
	bool seen = false;

	if (!post)
		return;
	if (!strcmp(type, "BertProcessing")) { /* "cls": ["[CLS]", 101] */
		const struct tree *first = tree_need(post, "cls"),
				  *last = tree_need(post, "sep");
		push_special(
		    &tokenizer->before, post, first->count == 2 ? first->items[1] : NULL);
		push_special(
		    &tokenizer->after, post, last->count == 2 ? last->items[1] : NULL);
		return;
	}
	if (strcmp(type, "TemplateProcessing"))
		refuse(
		    root, post, "post_processor", "TemplateProcessing or BertProcessing");
	const struct tree *single = tree_need(post, "single");
	for (size_t i = 0; i < single->count; i++) {
		const struct tree *special = tree_get(single->items[i], "SpecialToken");
		if (special)
			push_named(
			    seen ? &tokenizer->after : &tokenizer->before, post, special);
		else if (tree_get(single->items[i], "Sequence") && !seen)
			seen = true;
		else
			tree_die(post,
			    "post_processor: its 'single' template is not supported");
	}
	if (!seen)
		tree_die(post,
		    "post_processor: its 'single' template has no place for the text");
}

static void
open_json(struct tokenizer *tokenizer, const char *text, size_t length)
{
	struct wordpiece_rules rules = { 0 };
	struct tree *root = json_map_read(
	    tokenizer->path, text, length, "model", "vocab", add_symbol, tokenizer);

	if (root->kind != TREE_OBJECT || !tree_get(root, "model"))
		tree_die(root, "not a tokenizer.json: it has no 'model'");
	const char *version = tree_string(root, "version", "1.0");
	if (strcmp(version, "1.0"))
		tree_die(root, "version '%s' is not supported (1.0 is)", version);
	read_normalizer(root, &rules);
	read_model(tokenizer, root, &rules);
	tokenizer->wordpiece = wordpiece_new(tokenizer->symbols, &rules);
	read_added(tokenizer, root);
	read_template(tokenizer, root);
	tree_free(root);
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
		if (id >= SYMBOLS_MAX ||
		    utf8_valid(line, (size_t)(stop - line)) != (size_t)(stop - line))
			die("%s:%lld: not a vocabulary: %s", tokenizer->path,
			    (long long)id + 1,
			    id >= SYMBOLS_MAX ? "too many lines" : "invalid UTF-8");
		if (stop > line)
			symbols_add(
			    tokenizer->symbols, line, (size_t)(stop - line), (int32_t)id);
	}
}

/* The id of a special token that tokenizer_config.json may rename. */
static int32_t
special(struct tokenizer *tokenizer, const struct tree *config, const char *key,
    const char *otherwise)
{
	const struct tree *node = config ? tree_get(config, key) : NULL;
	const char *text = !node ? otherwise
			   : node->kind == TREE_OBJECT
			       ? tree_string(node, "content", otherwise)
			       : tree_string(config, key, otherwise);
	struct added_token token = { .text = mem_string(text), .length = strlen(text) };

	token.id = symbols_find(tokenizer->symbols, text, token.length);
	if (token.id < 0)
		die("%s: not a WordPiece vocabulary: it lacks %s", tokenizer->path, text);
	added_add(tokenizer->raw, &token);
	free(token.text);
	return token.id;
}

static void
open_vocabulary(
    struct tokenizer *tokenizer, const char *text, size_t length, const char *dir)
{
	char *path = beside(dir, "tokenizer_config.json");
	struct tree *config = json_read_optional(path);
	bool lower = tree_boolean(config, "do_lower_case", true);

	read_lines(tokenizer, text, length);
	struct wordpiece_rules rules = { .clean_text = true,
		.lowercase = lower,
		.chinese_chars = tree_boolean(config, "tokenize_chinese_chars", true),
		.strip_accents = tree_boolean(config, "strip_accents", lower),
		.max_chars = 100,
		.continuation = "##" };
	rules.unknown = special(tokenizer, config, "unk_token", "[UNK]");
	ids_push(&tokenizer->before, special(tokenizer, config, "cls_token", "[CLS]"));
	ids_push(&tokenizer->after, special(tokenizer, config, "sep_token", "[SEP]"));
	special(tokenizer, config, "pad_token", "[PAD]");
	special(tokenizer, config, "mask_token", "[MASK]");
	tokenizer->wordpiece = wordpiece_new(tokenizer->symbols, &rules);
	tree_free(config);
	free(path);
}

/* Opening. ------------------------------------------------------------------------- */

/* The tokenizer's bytes and where they are; json: which of the two kinds. */
static char *
find_file(const char *dir, char **path, size_t *length, bool *json)
{
	*path = beside(dir, NULL);
	*json = true;
	char *text = file_read(*path, length);
	if (text)
		return text;
	free(*path);
	*path = beside(dir, "vocab.txt");
	*json = false;
	if (!(text = file_read(*path, length)))
		die("%s: neither tokenizer.json nor vocab.txt is there", dir);
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

	tokenizer->symbols = symbols_new();
	tokenizer->raw = added_new();
	tokenizer->normal = added_new();
	if (json)
		open_json(tokenizer, text, length);
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

/* What sentence-transformers' own file says; 0: nothing.  Its older names are of families. */
static size_t
sentence_length(const char *home)
{
	static const char *const families[] = { "bert", "roberta", "distilbert",
		"camembert", "albert", "xlm-roberta", "xlnet" };
	struct tree *tree = NULL;

	for (size_t i = 0; i < sizeof families / sizeof *families && !tree; i++) {
		char *name = mem_format("sentence_%s_config.json", families[i]);
		char *path = beside(home, name);
		tree = json_read_optional(path);
		free(path);
		free(name);
	}
	size_t most = least(0, tree, "max_seq_length");
	tree_free(tree);
	return most;
}

size_t
tokenizer_max_length(const char *dir)
{
	char *home = modules_transformer(dir);
	size_t most = sentence_length(home);

	if (!most) {
		char *path = beside(home, "config.json");
		struct tree *tree = json_read_optional(path);
		most =
		    least(least(0, tree, "max_position_embeddings"), tree, "n_positions");
		tree_free(tree);
		free(path);
		path = beside(home, "tokenizer_config.json");
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
	return symbols_size(tokenizer->symbols);
}

int
tokenizer_id(const struct tokenizer *tokenizer, const char *token)
{
	return symbols_find(tokenizer->symbols, token, strlen(token));
}

const char *
tokenizer_token(const struct tokenizer *tokenizer, int id)
{
	return symbols_text(tokenizer->symbols, id, NULL);
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
	wordpiece_free(tokenizer->wordpiece);
	added_free(tokenizer->raw);
	added_free(tokenizer->normal);
	symbols_free(tokenizer->symbols);
	ids_free(&tokenizer->before);
	ids_free(&tokenizer->after);
	free(tokenizer->path);
	free(tokenizer);
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
		ids_push(out, id);
		from = stop;
	}
	if (from < length && out->count <= most)
		part(tokenizer, text + from, length - from, most, out);
}

static void
encode_normal(const struct tokenizer *tokenizer, const char *text, size_t length,
    size_t most, struct ids *out)
{
	wordpiece_encode(tokenizer->wordpiece, text, length, true, most, out);
}

static void
encode_piece(const struct tokenizer *tokenizer, const char *text, size_t length,
    size_t most, struct ids *out)
{
	size_t made;

	if (!added_any(tokenizer->normal)) {
		wordpiece_encode(tokenizer->wordpiece, text, length, false, most, out);
		return;
	}
	char *normal = wordpiece_normal(tokenizer->wordpiece, text, length, &made);
	split(tokenizer, tokenizer->normal, normal, made, encode_normal, most, out);
	free(normal);
}

bool
tokenizer_encode(const struct tokenizer *tokenizer, const char *text, size_t length,
    size_t most, bool specials, struct ids *out)
{
	size_t before = specials ? tokenizer->before.count : 0;
	size_t after = specials ? tokenizer->after.count : 0;
	size_t limit = SIZE_MAX;

	for (size_t i = 0; i < before; i++)
		ids_push(out, tokenizer->before.id[i]);
	if (most)
		limit = out->count + (most > before + after ? most - before - after : 0);
	split(tokenizer, tokenizer->raw, text, length, encode_piece, limit, out);
	bool cut = out->count > limit;
	if (cut)
		out->count = limit;
	for (size_t i = 0; i < after; i++)
		ids_push(out, tokenizer->after.id[i]);
	return cut;
}
