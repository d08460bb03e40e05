#include "token/tokenizer.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "folder/sentence_config.h"
#include "text/json.h"
#include "token/postprocessor.h"
#include "token/tokenizer_parts.h"
#include "token/tokenizer_rules.h"
#include "token/tokenizer_source.h"

/* A component of tokenizer.json; of a Sequence of one, its member. */
static const struct tree *
component(const struct tree *root, const char *key, const char *list)
{
	const struct tree *node = tree_get(root, key), *items = tree_get(node, list);

	return items && items->count == 1 ? items->items[0] : node;
}

/* WordPiece, or WordLevel, whose words are not split. */
static void
read_words(struct tokenizer *tokenizer, const struct tree *root, bool split)
{
	const struct tree *model = tree_need(root, "model");
	const struct tree *normal = component(root, "normalizer", "normalizers");
	const struct tree *before = component(root, "pre_tokenizer", "pretokenizers");
	const char *unknown = tree_string(model, "unk_token", split ? "[UNK]" : "<unk>");
	struct wordpiece_rules rules = { 0 };

	rules.unknown = vocabulary_find(tokenizer->vocabulary, unknown, strlen(unknown));
	if (rules.unknown < 0)
		tree_die(root, "the vocabulary lacks its unk_token '%s'", unknown);
	rules.max_chars = (int)tree_integer(model, "max_input_chars_per_word", 100);
	if (rules.max_chars < 1 || rules.max_chars > 1 << 20)
		tree_die(root, "max_input_chars_per_word is %d; it must be in 1..%d",
		    rules.max_chars, 1 << 20);
	rules.continuation =
	    split ? tree_string(model, "continuing_subword_prefix", "##") : NULL;
	bool one_pass = tokenizer_is_type(before, "BertPreTokenizer") &&
			(!normal || tokenizer_is_type(normal, "BertNormalizer"));
	if (one_pass && normal)
		normalizer_bert_rules(normal, &rules);
	tokenizer->wordpiece = wordpiece_new(tokenizer->vocabulary, &rules);
	if (one_pass)
		return;
	tokenizer->normalizer = normalizer_new(tree_get(root, "normalizer"));
	tokenizer->pretokenizer = pretokenizer_new(tree_get(root, "pre_tokenizer"));
}

static void
read_bpe(struct tokenizer *tokenizer, struct tokenizer_source *source)
{
	const struct tree *root = source->root, *model = tree_need(root, "model");
	const char *unknown = tree_string(model, "unk_token", NULL);

	if (tree_real(model, "dropout", 0) != 0)
		tree_die(root, "model: dropout is not supported");
	if (*tree_string(model, "continuing_subword_prefix", "") ||
	    *tree_string(model, "end_of_word_suffix", ""))
		tree_die(root,
		    "model: a continuing_subword_prefix or end_of_word_suffix is not supported");
	tokenizer->bpe =
	    source->bpe ? source->bpe : bpe_new(tokenizer->vocabulary, tokenizer->path);
	source->bpe = NULL;
	tokenizer->normalizer = normalizer_new(tree_get(root, "normalizer"));
	tokenizer->pretokenizer = pretokenizer_new(tree_get(root, "pre_tokenizer"));
	struct bpe_rules rules = { .unknown = -1,
		.fuse_unknown = tree_boolean(model, "fuse_unk", false),
		.byte_fallback = tree_boolean(model, "byte_fallback", false),
		.ignore_merges = tree_boolean(model, "ignore_merges", false) };
	/* if every byte has a token, there are no unknown characters */
	bool any = (unknown || rules.byte_fallback) && !bpe_has_bytes(tokenizer->bpe);
	rules.bytes = !any && pretokenizer_leave_bytes(tokenizer->pretokenizer);
	if (unknown)
		rules.unknown =
		    vocabulary_find(tokenizer->vocabulary, unknown, strlen(unknown));
	if (unknown && rules.unknown < 0 && !rules.bytes)
		tree_die(root, "the vocabulary lacks its unk_token '%s'", unknown);
	bpe_set(tokenizer->bpe, &rules);
}

static void
read_unigram(struct tokenizer *tokenizer, struct tokenizer_source *source)
{
	const struct tree *root = source->root, *model = tree_need(root, "model");
	int32_t count = vocabulary_size(tokenizer->vocabulary);

	if (!source->scores)
		tree_die(root,
		    "model: the 'vocab' of a Unigram must be a list of pairs of a piece and its score");
	struct unigram_rules rules = { .byte_fallback =
					   tree_boolean(model, "byte_fallback", false) };
	rules.unknown = (int32_t)tree_integer_or(model, "unk_id", -1, 0, count - 1);
	tokenizer->unigram =
	    unigram_new(tokenizer->vocabulary, source->scores, &rules, tokenizer->path);
	source->scores = NULL;
	tokenizer->normalizer = normalizer_new(tree_get(root, "normalizer"));
	tokenizer->pretokenizer = pretokenizer_new(tree_get(root, "pre_tokenizer"));
}

/* Guesses a missing type, as in old files. */
static const char *
model_type(const struct tokenizer_source *source, const struct tree *model)
{
	const char *type = tree_string(model, "type", NULL);

	return type					     ? type
	       : source->scores				     ? "Unigram"
	       : source->merge_count > 0		     ? "BPE"
	       : tree_get(model, "max_input_chars_per_word") ? "WordPiece"
							     : "unknown";
}

/* A Metaspace with prepend_scheme "first" needs the lead, which every normalizer step must track. */
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
read_model(struct tokenizer *tokenizer, struct tokenizer_source *source)
{
	const struct tree *root = source->root, *model = tree_need(root, "model");
	const char *type = model_type(source, model);

	if (!vocabulary_size(tokenizer->vocabulary))
		tree_die(root, "model: there is no 'vocab', or it is empty");
	if (!strcmp(type, "Unigram"))
		read_unigram(tokenizer, source);
	else if (source->scores)
		tree_die(root, "model: the 'vocab' of a %s must be an object of integers",
		    type);
	else if (!strcmp(type, "WordPiece") || !strcmp(type, "WordLevel"))
		read_words(tokenizer, root, !strcmp(type, "WordPiece"));
	else if (!strcmp(type, "BPE"))
		read_bpe(tokenizer, source);
	else
		tree_die(root,
		    "a tokenizer of type '%s' is not supported (WordPiece, WordLevel, BPE and Unigram are)",
		    type);
	check_lead(tokenizer, root);
}

/* The id of an added token in the file.  It must agree with the vocabulary, if that has the text; the reference would
 * take the vocabulary's.  Ids after a gap are kept; the reference renumbers them. */
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
check_length(const struct tree *node, size_t length)
{
	if (length > ADDED_LONGEST)
		tree_die(node,
		    "added_tokens: a token has %zu bytes; at most %d are supported",
		    length, ADDED_LONGEST);
}

static void
add_token(struct tokenizer *tokenizer, const struct tree *node)
{
	const struct tree *text = tree_need(node, "content");

	if (text->kind != TREE_STRING)
		tree_die(node, "added_tokens: 'content' must be a string");
	check_length(node, text->length);
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
	check_length(node, token.length);
	added_add(tokenizer->normal, &token);
	free(normal);
}

/* Special tokens first: of two tokens with the same normalised text the first counts. */
static void
read_added(struct tokenizer *tokenizer, const struct tree *root)
{
	const struct tree *list = tree_get(root, "added_tokens");

	for (int special = 1; special >= 0; special--)
		for (size_t i = 0; list && i < list->count; i++)
			if (tree_boolean(list->items[i], "special", false) == special)
				add_token(tokenizer, list->items[i]);
	struct ids *ids = &tokenizer->special;
	if (ids->count)
		qsort(ids->id, ids->count, sizeof *ids->id, tokenizer_by_number);
}

/* do_lower_case of sentence-transformers: adds Lowercase as the first normalizer, unless there is one. */
static void
lowercase_first(struct tree *root, const char *home)
{
	struct tree *config = sentence_config_read(home), *node, *list;
	bool wanted = tree_boolean(config, "do_lower_case", false);

	tree_free(config);
	node = tree_get(root, "normalizer");
	if (!wanted || tokenizer_is_type(node, "Lowercase"))
		return;
	if (tokenizer_is_type(node, "BertNormalizer")) {
		bool lower = tree_boolean(node, "lowercase", true);
		bool strip = tree_boolean(node, "strip_accents", lower);
		tree_set(node, "lowercase", tree_of_boolean(true));
		tree_set(node, "strip_accents", tree_of_boolean(strip));
		return;
	}
	list =
	    tokenizer_is_type(node, "Sequence") ? tree_need(node, "normalizers") : NULL;
	for (size_t i = 0; list && i < list->count; i++)
		if (tokenizer_is_type(list->items[i], "Lowercase"))
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

/* Static embeddings: sentence-transformers 6.2, model2vec 0.10. ----------------------- */

enum { MODEL2VEC_MOST = 512 };

const struct tokenizer_static *
tokenizer_static(const struct tokenizer *tokenizer)
{
	return tokenizer->kind && tokenizer->kind != STATIC_TERMS ? &tokenizer->table
								  : NULL;
}

/* The median length of the tokens, rounded down. */
static size_t
median_length(const struct tokenizer *tokenizer)
{
	size_t size = (size_t)tokenizer_size(tokenizer), count = 0;
	int32_t *lengths = mem_new(size, sizeof *lengths);

	for (size_t id = 0; id < size; id++) {
		const char *token = tokenizer_token(tokenizer, (int)id);
		if (token)
			lengths[count++] = (int32_t)utf8_count(token, strlen(token));
	}
	qsort(lengths, count, sizeof *lengths, tokenizer_by_number);
	int32_t median = count ? (lengths[(count - 1) / 2] + lengths[count / 2]) / 2 : 0;
	free(lengths);
	return (size_t)median;
}

/* "max_length" of config.json: null means no limit, and getters cannot tell it from absent. */
static size_t
model2vec_most(const char *home)
{
	struct tree *config = json_find(home, "config.json");
	size_t most = MODEL2VEC_MOST;

	for (size_t i = 0; config && i < config->count; i++)
		if (!strcmp(config->items[i]->key, "max_length"))
			most = (size_t)tree_integer_or(
			    config, "max_length", 0, 1, INT32_MAX);
	tree_free(config);
	return most;
}

/* The id of the unknown token, which a Unigram model gives as "unk_id", others as "unk_token"; -1: none. */
static int32_t
unknown_of(const struct tokenizer *tokenizer, const struct tree *root)
{
	const struct tree *model = tree_need(root, "model");
	const char *otherwise = tokenizer->wordpiece ? "[UNK]" : NULL;
	const char *text = tree_string(model, "unk_token", otherwise);

	if (text)
		return tokenizer_id(tokenizer, text);
	return (int32_t)tree_integer_or(model, "unk_id", -1, 0, VOCABULARY_MAX - 1);
}

/* The limits that the packages of static embeddings have (tokenizer.h); they put no special tokens around a text. */
static void
read_static(struct tokenizer *tokenizer, const struct tree *root, const char *home)
{
	const struct tree *truncation = tree_get(root, "truncation");
	struct tokenizer_static *table = &tokenizer->table;

	tokenizer->before.count = tokenizer->after.count = 0;
	*table = (struct tokenizer_static){ .unknown = -1 };
	if (tokenizer->kind == STATIC_TERMS) /* cut as a transformer's */
		return;
	if (tokenizer->kind == STATIC_MODEL2VEC) {
		tokenizer->cut_left = false;
		table->most = model2vec_most(home);
		table->characters = median_length(tokenizer);
		table->unknown = unknown_of(tokenizer, root);
		return;
	}
	if (!truncation)
		return;
	table->most = (size_t)tree_integer_in(truncation, "max_length", 1, INT32_MAX);
}

/* Opening. ------------------------------------------------------------------------- */

struct tokenizer *
tokenizer_open(const char *dir)
{
	struct tokenizer_source source = { 0 };

	tokenizer_source_find(&source, dir);
	tokenizer_source_read(&source);
	struct tree *root = source.root;
	const struct tokenizer_settings *settings = source.settings;
	bool json = source.format == FORMAT_JSON;
	struct tokenizer *tokenizer = mem_zero(1, sizeof *tokenizer);
	tokenizer->path = mem_string(source.path);
	tokenizer->kind = source.kind;
	tokenizer->vocabulary = source.vocabulary;
	tokenizer->extra = vocabulary_new();
	tokenizer->pair.typed = true; /* unless the template says otherwise */
	tokenizer->raw = added_new();
	tokenizer->normal = added_new();
	if (settings) {
		tokenizer_rules_apply(root, settings);
		tokenizer->split_special =
		    tree_boolean(settings->config, "split_special_tokens", false);
	}
	lowercase_first(root, source.home);
	read_model(tokenizer, &source);
	if (settings)
		tokenizer_rules_add(tokenizer, root, settings);
	read_added(tokenizer, root);
	tokenizer->decoder = decoder_new(tree_get(root, "decoder"));
	if (json)
		postprocessor_read(tree_get(root, "post_processor"), &tokenizer->before,
		    &tokenizer->after, &tokenizer->pair);
	check_template(tokenizer, &tokenizer->before);
	check_template(tokenizer, &tokenizer->after);
	check_template(tokenizer, &tokenizer->pair.between);
	if (settings)
		tokenizer_rules_around(tokenizer, settings, json);
	tokenizer->cut_left = tokenizer_rules_cut_left(root, settings);
	if (tokenizer->kind)
		read_static(tokenizer, root, source.home);
	tokenizer_source_close(&source);
	return tokenizer;
}
