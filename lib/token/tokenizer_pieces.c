/* A model of sentencepiece alone, as the tokenizers of its class number its pieces. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "text/json.h"
#include "token/sentencepiece.h"
#include "token/tokenizer_parts.h"

enum { EXTRA_IDS = 100, DOWNGRADED = -100 };

/* Base64, to be freed. */
static char *
encode(const char *bytes, size_t length)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *text = mem_new(mem_multiply(length / 3 + 1, 4, "charsmap") + 1, 1),
	     *to = text;

	for (size_t i = 0; i < length; i += 3) {
		uint32_t three = 0;
		for (size_t j = i; j < i + 3; j++)
			three = three << 8 | (j < length ? (unsigned char)bytes[j] : 0);
		for (int shift = 18; shift >= 0; shift -= 6)
			*to++ = digits[three >> shift & 63];
		for (size_t j = length; j < i + 3; j++)
			to[length - j - 1] = '=';
	}
	*to = 0;
	return text;
}

/* A piece in the vocabulary, whose id is how many were before it. */
static void
put(struct tokenizer *tokenizer, const char *text, double score)
{
	tokenizer_add_piece(tokenizer, text, strlen(text), score);
}

static void
put_special(struct tokenizer *tokenizer, const struct tokenizer_settings *settings,
    const char *key)
{
	const char *text = tokenizer_settings_token(settings, key);

	if (!text)
		tree_die(settings->config, "'%s' is null; a %s has one", key,
		    settings->class->names);
	put(tokenizer, text, 0);
}

static void
put_rest(struct tokenizer *tokenizer, const struct sentencepiece *model, size_t from)
{
	for (size_t i = from; i < model->count; i++)
		tokenizer_add_piece(tokenizer, model->piece[i].text,
		    model->piece[i].length, model->piece[i].score);
}

/* A token that is found in the raw text. */
static void
add_token(struct tree *added, const char *text, size_t length, bool special)
{
	struct tree *token = tree_add(added, tree_object());

	tree_set(token, "content", tree_of_bytes(text, length));
	tree_set(token, "special", tree_of_boolean(special));
	tree_set(token, "normalized", tree_of_boolean(false));
}

/* Returns the id of what is unknown.  RoBERTa's relatives had the numbers of fairseq, whose first four are special. */
static int
put_pieces(struct tokenizer *tokenizer, const struct sentencepiece *model,
    const struct tokenizer_settings *settings, struct tree *added)
{
	const char *name = settings->class->names;

	if (!strcmp(name, "XLMRoberta")) {
		put_special(tokenizer, settings, "bos_token");
		put_special(tokenizer, settings, "pad_token");
		put_special(tokenizer, settings, "eos_token");
		put_special(tokenizer, settings, "unk_token");
		put_rest(tokenizer, model, 3);
		put_special(tokenizer, settings, "mask_token");
		return 3;
	}
	if (!strcmp(name, "Camembert")) {
		put(tokenizer, "<s>NOTUSED", 0);
		put_special(tokenizer, settings, "pad_token");
		put(tokenizer, "</s>NOTUSED", 0);
		put_special(tokenizer, settings, "unk_token");
		put(tokenizer, "<unk>NOTUSED", DOWNGRADED);
		put_rest(tokenizer, model, 1);
		put_special(tokenizer, settings, "mask_token");
		return 3;
	}
	if (model->unknown != 2)
		die("%s: trainer_spec: unk_id is %lld, and 2 to a T5Tokenizer",
		    tokenizer->path, (long long)model->unknown);
	put_rest(tokenizer, model, 0);
	for (int64_t extra =
		 tree_integer_or(settings->config, "extra_ids", EXTRA_IDS, 0, 1 << 16);
	     extra--;) {
		char *text = mem_format("<extra_id_%lld>", (long long)extra);
		put(tokenizer, text, 0);
		add_token(added, text, strlen(text), true);
		free(text);
	}
	return 2;
}

/* What the classes take for granted, as the reference does not look. */
static void
check(const struct sentencepiece *model, const char *path)
{
	static const char advice[] = "save a tokenizer.json with transformers";
	const char *fault =
	    model->model != SENTENCEPIECE_UNIGRAM
		? "trainer_spec: model_type is not UNIGRAM"
	    : model->byte_fallback ? "trainer_spec: byte_fallback is true"
	    : model->suffix	   ? "trainer_spec: treat_whitespace_as_suffix is true"
	    : !model->dummy_prefix ? "normalizer_spec: add_dummy_prefix is false"
	    : !model->fewer_blanks ? "normalizer_spec: remove_extra_whitespaces is false"
	    : !model->escape	   ? "normalizer_spec: escape_whitespaces is false"
				   : NULL;

	if (fault)
		die("%s: %s, which is not supported; %s", path, fault, advice);
}

static struct tree *
read_around(const struct sentencepiece *model, const char *path, int unknown)
{
	static const char around[] =
	    "{\"model\":{\"type\":\"Unigram\"},\"pre_tokenizer\":{\"type\":\"Sequence\","
	    "\"pretokenizers\":[{\"type\":\"WhitespaceSplit\"},{\"type\":\"Metaspace\","
	    "\"replacement\":\"\u2581\",\"prepend_scheme\":\"always\",\"split\":true}]},"
	    "\"decoder\":{\"type\":\"Metaspace\",\"replacement\":\"\u2581\","
	    "\"prepend_scheme\":\"always\",\"split\":true}}";
	struct tree *root = json_parse(around, sizeof around - 1, path, 1);

	tree_set(tree_get(root, "model"), "unk_id", tree_of_integer(unknown));
	if (model->charsmap) {
		char *text = encode(model->charsmap, model->charsmap_length);
		struct tree *normal = tree_set(root, "normalizer", tree_object());
		tree_set(normal, "type", tree_of_string("Precompiled"));
		tree_set(normal, "precompiled_charsmap", tree_of_string(text));
		free(text);
	}
	return root;
}

struct tree *
tokenizer_read_pieces(struct tokenizer *tokenizer, const char *bytes, size_t length,
    const struct tokenizer_settings *settings)
{
	const char *path = tokenizer->path;

	if (!settings->class || settings->class->kind != KIND_PIECES)
		tree_die(settings->config,
		    "tokenizer_class: %s of a %s is not supported (of "
		    "XLMRoberta, Camembert and T5 it is); save a "
		    "tokenizer.json with transformers",
		    strrchr(path, '/') ? strrchr(path, '/') + 1 : path,
		    *settings->name   ? settings->name
		    : settings->class ? settings->class->names
				      : "model that names none");
	struct sentencepiece *model = sentencepiece_read(path, bytes, length);
	check(model, path);
	int64_t extra =
	    tree_integer_or(settings->config, "extra_ids", EXTRA_IDS, 0, 1 << 16);
	tokenizer->score_room = model->count + (size_t)extra + 16;
	vocabulary_reserve(tokenizer->vocabulary, tokenizer->score_room, length);
	struct tree *added = tree_list();
	int unknown = put_pieces(tokenizer, model, settings, added);
	struct tree *root = read_around(model, path, unknown);
	tree_set(root, "added_tokens", added);
	for (size_t i = 0; i < model->count; i++) {
		const struct sentencepiece_piece *piece = &model->piece[i];
		bool control = piece->type == SENTENCEPIECE_CONTROL;
		if (control || piece->type == SENTENCEPIECE_USER)
			add_token(added, piece->text, piece->length, control);
	}
	sentencepiece_free(model);
	return root;
}
