#include "token/tokenizer.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "folder/modules.h"
#include "text/json.h"
#include "token/json_map.h"
#include "token/postprocessor.h"
#include "token/tokenizer_parts.h"
#include "token/tokenizer_rules.h"

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

/* What tokenizer.json would hold around such a vocabulary. */
static struct tree *
read_vocabulary(struct tokenizer *tokenizer, const char *text, size_t length,
    const struct tokenizer_settings *settings)
{
	static const char around[] =
	    "{\"model\":{\"type\":\"WordPiece\"},\"normalizer\":{\"type\":\"BertNormalizer\"},\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},\"decoder\":{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":true}}";
	static const char *const needed[] = { "unk_token", "cls_token", "sep_token" };
	struct tree *root, *model;

	if (!settings->class || settings->class->kind != KIND_WORDPIECE)
		tree_die(settings->config,
		    "tokenizer_class: vocab.txt of a %s is not supported (of a BertTokenizer it is); save a tokenizer.json with transformers",
		    *settings->name ? settings->name : settings->class->names);
	read_lines(tokenizer, text, length);
	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
		const char *token = tokenizer_settings_token(settings, needed[i]);
		if (token &&
		    vocabulary_find(tokenizer->vocabulary, token, strlen(token)) < 0)
			die("%s: not a WordPiece vocabulary: it lacks %s",
			    tokenizer->path, token);
	}
	root = json_parse(around, sizeof around - 1, tokenizer->path, 1);
	model = tree_get(root, "model");
	const char *unknown = tokenizer_settings_token(settings, "unk_token");
	tree_set(model, "unk_token", tree_of_string(unknown ? unknown : "[UNK]"));
	return root;
}

/* tokenizer.json. ------------------------------------------------------------------- */

static void
add_symbol(void *context, const char *text, size_t length, int64_t id)
{
	struct tokenizer *tokenizer = context;

	if (id < 0 || id >= VOCABULARY_MAX)
		die("%s: token '%.*s': id %lld is not in 0..%d", tokenizer->path,
		    (int)length, text, (long long)id, VOCABULARY_MAX - 1);
	if (!vocabulary_put(tokenizer->vocabulary, text, length, (int32_t)id))
		die("%s: token '%.*s': id %lld is also that of '%s'", tokenizer->path,
		    (int)length, text, (long long)id,
		    vocabulary_text(tokenizer->vocabulary, (int32_t)id, NULL));
}

/* All of the vocabulary has been read.  Pieces go into a trie, later; they may be there twice. */
static void
end_vocabulary(void *context)
{
	struct tokenizer *tokenizer = context;

	if (tokenizer->score)
		return;
	int32_t twice = vocabulary_index(tokenizer->vocabulary);

	if (twice >= 0)
		die("%s: token '%s' is there twice", tokenizer->path,
		    vocabulary_text(tokenizer->vocabulary, twice, NULL));
}

/* A merge, as one text "a b" or as two. */
static void
add_merge(void *context, const char *left, size_t left_length, const char *right,
    size_t right_length)
{
	struct tokenizer *tokenizer = context;
	int length = (int)(left_length < 200 ? left_length : 200);

	if (!right) {
		const char *blank = memchr(left, ' ', left_length);
		if (left_length >= 8 && !memcmp(left, "#version", 8))
			return;
		if (!blank ||
		    memchr(blank + 1, ' ', (size_t)(left + left_length - blank - 1)))
			die("%s: merge %u, '%.*s': must be two tokens and a blank",
			    tokenizer->path, tokenizer->merges, length, left);
		right = blank + 1;
		right_length = (size_t)(left + left_length - right);
		left_length = (size_t)(blank - left);
	}
	if (!tokenizer->bpe)
		tokenizer->bpe = bpe_new(tokenizer->vocabulary, tokenizer->path);
	bpe_merge(tokenizer->bpe, left, left_length, right, right_length);
	tokenizer->merges++;
}

/* The one member of a Sequence of one; the component itself otherwise. */
static const struct tree *
component(const struct tree *root, const char *key, const char *list)
{
	const struct tree *node = tree_get(root, key), *items = tree_get(node, list);

	return items && items->count == 1 ? items->items[0] : node;
}

static bool
is_type(const struct tree *node, const char *type)
{
	return node && !strcmp(tree_string(node, "type", ""), type);
}

static void
read_wordpiece(struct tokenizer *tokenizer, const struct tree *root)
{
	const struct tree *model = tree_need(root, "model");
	const struct tree *normal = component(root, "normalizer", "normalizers");
	const struct tree *before = component(root, "pre_tokenizer", "pretokenizers");
	const char *unknown = tree_string(model, "unk_token", "[UNK]");
	struct wordpiece_rules rules = { 0 };

	rules.unknown = vocabulary_find(tokenizer->vocabulary, unknown, strlen(unknown));
	if (rules.unknown < 0)
		tree_die(root, "the vocabulary lacks its unk_token '%s'", unknown);
	rules.max_chars = (int)tree_integer(model, "max_input_chars_per_word", 100);
	if (rules.max_chars < 1 || rules.max_chars > 1 << 20)
		tree_die(root, "max_input_chars_per_word is %d; it must be in 1..%d",
		    rules.max_chars, 1 << 20);
	rules.continuation = tree_string(model, "continuing_subword_prefix", "##");
	bool one_pass = is_type(before, "BertPreTokenizer") &&
			(!normal || is_type(normal, "BertNormalizer"));
	if (one_pass && normal)
		normalizer_bert_rules(normal, &rules);
	tokenizer->wordpiece = wordpiece_new(tokenizer->vocabulary, &rules);
	if (one_pass)
		return;
	tokenizer->normalizer = normalizer_new(tree_get(root, "normalizer"));
	tokenizer->pretokenizer = pretokenizer_new(tree_get(root, "pre_tokenizer"));
}

static void
read_bpe(struct tokenizer *tokenizer, const struct tree *root)
{
	const struct tree *model = tree_need(root, "model");
	const char *unknown = tree_string(model, "unk_token", NULL);

	if (tree_real(model, "dropout", 0) != 0)
		tree_die(root, "model: dropout is not supported");
	if (*tree_string(model, "continuing_subword_prefix", "") ||
	    *tree_string(model, "end_of_word_suffix", ""))
		tree_die(root,
		    "model: a continuing_subword_prefix or end_of_word_suffix is not supported");
	if (!tokenizer->bpe)
		tokenizer->bpe = bpe_new(tokenizer->vocabulary, tokenizer->path);
	tokenizer->normalizer = normalizer_new(tree_get(root, "normalizer"));
	tokenizer->pretokenizer = pretokenizer_new(tree_get(root, "pre_tokenizer"));
	struct bpe_rules rules = { .unknown = -1,
		.fuse_unknown = tree_boolean(model, "fuse_unk", false),
		.byte_fallback = tree_boolean(model, "byte_fallback", false),
		.ignore_merges = tree_boolean(model, "ignore_merges", false) };
	/* with a token for each byte nothing is unknown */
	bool any = (unknown || rules.byte_fallback) && !bpe_has_bytes(tokenizer->bpe);
	rules.bytes = !any && pretokenizer_leave_bytes(tokenizer->pretokenizer);
	if (unknown)
		rules.unknown =
		    vocabulary_find(tokenizer->vocabulary, unknown, strlen(unknown));
	if (unknown && rules.unknown < 0 && !rules.bytes)
		tree_die(root, "the vocabulary lacks its unk_token '%s'", unknown);
	bpe_set(tokenizer->bpe, &rules);
}

/* Old files leave the type out. */
static const char *
model_type(const struct tokenizer *tokenizer, const struct tree *model)
{
	const char *type = tree_string(model, "type", NULL);

	return type					     ? type
	       : tokenizer->score			     ? "Unigram"
	       : tokenizer->merges > 0			     ? "BPE"
	       : tree_get(model, "max_input_chars_per_word") ? "WordPiece"
							     : "unknown";
}

/* A Metaspace that marks the first piece of the input alone must know which that is. */
static void
check_lead(struct tokenizer *tokenizer, const struct tree *root)
{
	const char *without = NULL;

	tokenizer->lead =
	    tokenizer->pretokenizer && pretokenizer_wants_lead(tokenizer->pretokenizer);
	if (tokenizer->lead)
		without = normalizer_without_lead(tokenizer->normalizer);
	if (without)
		tree_die(root,
		    "pre_tokenizer: prepend_scheme 'first' behind the normalizer '%s' is not supported",
		    without);
}

static void
read_model(struct tokenizer *tokenizer, const struct tree *root)
{
	const struct tree *model = tree_need(root, "model");
	const char *type = model_type(tokenizer, model);

	if (!vocabulary_size(tokenizer->vocabulary))
		tree_die(root, "model: there is no 'vocab', or it is empty");
	if (!strcmp(type, "Unigram"))
		tokenizer_read_unigram(tokenizer, root);
	else if (tokenizer->score)
		tree_die(root, "model: the 'vocab' of a %s must be an object of integers",
		    type);
	else if (!strcmp(type, "WordPiece"))
		read_wordpiece(tokenizer, root);
	else if (!strcmp(type, "BPE"))
		read_bpe(tokenizer, root);
	else
		tree_die(root,
		    "a tokenizer of type '%s' is not supported (WordPiece, BPE and Unigram are)",
		    type);
	check_lead(tokenizer, root);
}

/* The id of an added token is the file's, where the reference numbers anew those that leave a
 * gap; it must be that of the model where it has the text, which the reference would take. */
static int32_t
added_id(struct tokenizer *tokenizer, const struct tree *node, const struct tree *text)
{
	int32_t id = tokenizer_find(tokenizer, text->string, text->length);
	if (id >= 0 && !tree_get(node, "id"))
		return id;
	int64_t wanted = tree_integer_in(node, "id", 0, VOCABULARY_MAX - 1);
	const char *other = vocabulary_text(tokenizer->vocabulary, (int32_t)wanted, NULL);

	if (id < 0 && !other) {
		id = vocabulary_add(
		    tokenizer->extra, text->string, text->length, (int32_t)wanted);
		other = vocabulary_text(tokenizer->extra, (int32_t)wanted, NULL);
	}
	if (id >= 0 && id != wanted)
		tree_die(node, "added token '%s': id %lld, but it has %d already",
		    text->string, (long long)wanted, id);
	if (id < 0)
		tree_die(node, "added token '%s': id %lld is also that of '%s'",
		    text->string, (long long)wanted, other);
	return id;
}

static void
add_token(struct tokenizer *tokenizer, const struct tree *node)
{
	const struct tree *text = tree_need(node, "content");

	if (text->kind != TREE_STRING)
		tree_die(node, "added_tokens: 'content' must be a string");
	struct added_token token = { .text = text->string,
		.length = text->length,
		.id = added_id(tokenizer, node, text),
		.single_word = tree_boolean(node, "single_word", false),
		.lstrip = tree_boolean(node, "lstrip", false),
		.rstrip = tree_boolean(node, "rstrip", false) };
	bool special = tree_boolean(node, "special", false);
	if (special)
		ids_push(&tokenizer->special, token.id);
	if (special && tokenizer->split_special)
		return;
	if (!tree_boolean(node, "normalized", !special)) {
		added_add(tokenizer->raw, &token);
		return;
	}
	char *normal =
	    tokenizer_normalise(tokenizer, token.text, token.length, &token.length, NULL);
	token.text = normal ? normal : token.text;
	added_add(tokenizer->normal, &token);
	free(normal);
}

/* The special ones first: of two that are normalised to the same text that one counts. */
static void
read_added(struct tokenizer *tokenizer, const struct tree *root)
{
	const struct tree *list = tree_get(root, "added_tokens");

	for (int special = 1; special >= 0; special--)
		for (size_t i = 0; list && i < list->count; i++)
			if (tree_boolean(list->items[i], "special", false) == special)
				add_token(tokenizer, list->items[i]);
}

/* sentence-transformers' own do_lower_case: lowercase comes first, where the file has none. */
static void
lowercase_first(struct tree *root, const char *dir)
{
	struct tree *config = tokenizer_sentence_config(dir), *node, *list;
	bool wanted = tree_boolean(config, "do_lower_case", false);

	tree_free(config);
	node = tree_get(root, "normalizer");
	if (!wanted || is_type(node, "Lowercase"))
		return;
	if (is_type(node, "BertNormalizer")) {
		bool lower = tree_boolean(node, "lowercase", true);
		bool strip = tree_boolean(node, "strip_accents", lower);
		tree_set(node, "lowercase", tree_of_boolean(true));
		tree_set(node, "strip_accents", tree_of_boolean(strip));
		return;
	}
	list = is_type(node, "Sequence") ? tree_need(node, "normalizers") : NULL;
	for (size_t i = 0; list && i < list->count; i++)
		if (is_type(list->items[i], "Lowercase"))
			return;
	struct tree *both = tree_object(), *lower;
	tree_set(both, "type", tree_of_string("Sequence"));
	list = tree_set(both, "normalizers", tree_list());
	lower = tree_add(list, tree_object());
	tree_set(lower, "type", tree_of_string("Lowercase"));
	if (node)
		tree_add(list, tree_copy(node));
	tree_set(root, "normalizer", both);
}

static void
check_template(const struct tokenizer *tokenizer, const struct ids *ids)
{
	for (size_t i = 0; i < ids->count; i++)
		if (!tokenizer_token(tokenizer, ids->id[i]))
			die("%s: post_processor: puts the id %d around a text, which no token has",
			    tokenizer->path, (int)ids->id[i]);
}

/* A tokenizer.json without its vocabulary, which the tokenizer has after that. */
static struct tree *
read_json(struct tokenizer *tokenizer, const char *text, size_t length)
{
	static const struct json_map_part parts[] = {
		{ "vocab", add_symbol, NULL, tokenizer_add_piece, end_vocabulary },
		{ "merges", NULL, add_merge, NULL, NULL }
	};

	/* no entry is shorter than "":0, */
	tokenizer->score_room = length / 5 + 1;
	vocabulary_reserve(tokenizer->vocabulary, tokenizer->score_room, length);
	struct tree *root =
	    json_map_read(tokenizer->path, text, length, "model", parts, 2, tokenizer);

	if (root->kind != TREE_OBJECT || !tree_get(root, "model"))
		tree_die(root, "not a tokenizer.json: it has no 'model'");
	const char *version = tree_string(root, "version", "1.0");
	if (strcmp(version, "1.0"))
		tree_die(root, "version '%s' is not supported (1.0 is)", version);
	return root;
}

/* The root is what tokenizer.json says or would; settings: NULL where the package of the folder reads tokenizer.json
 * alone. */
static void
build(struct tokenizer *tokenizer, struct tree *root,
    const struct tokenizer_settings *settings, enum tokenizer_form form, const char *dir)
{
	if (settings) {
		tokenizer_rules_apply(root, settings);
		tokenizer->split_special =
		    tree_boolean(settings->config, "split_special_tokens", false);
	}
	lowercase_first(root, dir);
	read_model(tokenizer, root);
	if (settings)
		tokenizer_rules_add(tokenizer, root, settings);
	read_added(tokenizer, root);
	tokenizer->decoder = decoder_new(tree_get(root, "decoder"));
	if (form == FORM_JSON)
		postprocessor_read(tree_get(root, "post_processor"), &tokenizer->before,
		    &tokenizer->after);
	check_template(tokenizer, &tokenizer->before);
	check_template(tokenizer, &tokenizer->after);
	if (settings)
		tokenizer_rules_around(tokenizer, settings, form == FORM_JSON);
	tokenizer->cut_left = tokenizer_rules_cut_left(root, settings);
	if (tokenizer->kind)
		tokenizer_read_static(tokenizer, root, dir);
}

/* Opening. ------------------------------------------------------------------------- */

struct tokenizer *
tokenizer_open(const char *dir)
{
	struct tokenizer *tokenizer = mem_zero(1, sizeof *tokenizer);
	struct tokenizer_settings *settings = NULL;
	struct file_view file;
	struct tree *root;
	char *home = modules_transformer(dir);

	enum tokenizer_form form = tokenizer_read_file(home, &tokenizer->path, &file);
	tokenizer->kind = static_folder_kind(dir);
	if (tokenizer->kind && form != FORM_JSON)
		die("%s: of static embeddings; they have a tokenizer.json",
		    tokenizer->path);
	if (!tokenizer->kind)
		settings = tokenizer_settings_read(home);
	if (form == FORM_LINES)
		tokenizer_settings_assume(settings, "Bert", KIND_WORDPIECE);
	if (form == FORM_MERGES)
		tokenizer_settings_assume(settings, "GPT2", KIND_BYTES);
	tokenizer->vocabulary = vocabulary_new();
	tokenizer->extra = vocabulary_new();
	tokenizer->raw = added_new();
	tokenizer->normal = added_new();
	if (form == FORM_LINES)
		root = read_vocabulary(tokenizer, file.text, file.length, settings);
	else if (form == FORM_PIECES)
		root = tokenizer_read_pieces(tokenizer, file.text, file.length, settings);
	else
		root = read_json(tokenizer, file.text, file.length);
	build(tokenizer, root, settings, form, home);
	tree_free(root);
	if (settings)
		tokenizer_settings_free(settings);
	file_view_close(&file);
	free(home);
	return tokenizer;
}
