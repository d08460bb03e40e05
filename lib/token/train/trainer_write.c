/* A learnt vocabulary as a tokenizer's folder. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "folder/folder.h"
#include "text/json.h"
#include "token/train/trainer_internal.h"

static struct tree *
member(struct tree *object, const char *key, struct tree *value)
{
	tree_set(object, key, value);
	return value;
}

static void
add_specials(struct tree *root)
{
	struct tree *list = member(root, "added_tokens", tree_list());

	for (int i = 0; i < SPECIALS; i++) {
		struct tree *token = tree_add(list, tree_object());
		tree_set(token, "id", tree_of_integer(i));
		tree_set(token, "content", tree_of_string(trainer_specials[i]));
		tree_set(token, "single_word", tree_of_boolean(false));
		tree_set(token, "lstrip", tree_of_boolean(false));
		tree_set(token, "rstrip", tree_of_boolean(false));
		tree_set(token, "normalized", tree_of_boolean(false));
		tree_set(token, "special", tree_of_boolean(true));
	}
}

/* One item of a template: a special token, or a text "A" or "B". */
static void
add_item(struct tree *list, const char *kind, const char *id, int type)
{
	struct tree *inner = member(tree_add(list, tree_object()), kind, tree_object());

	tree_set(inner, "id", tree_of_string(id));
	tree_set(inner, "type_id", tree_of_integer(type));
}

static void
add_template(struct tree *root)
{
	struct tree *post = member(root, "post_processor", tree_object());

	tree_set(post, "type", tree_of_string("TemplateProcessing"));
	for (int pair = 0; pair < 2; pair++) {
		struct tree *list = member(post, pair ? "pair" : "single", tree_list());
		add_item(list, "SpecialToken", "[CLS]", 0);
		add_item(list, "Sequence", "A", 0);
		add_item(list, "SpecialToken", "[SEP]", 0);
		if (pair) {
			add_item(list, "Sequence", "B", 1);
			add_item(list, "SpecialToken", "[SEP]", 1);
		}
	}
	struct tree *map = member(post, "special_tokens", tree_object());
	for (int i = 2; i < 4; i++) {
		struct tree *entry = member(map, trainer_specials[i], tree_object());
		tree_set(entry, "id", tree_of_string(trainer_specials[i]));
		tree_add(member(entry, "ids", tree_list()), tree_of_integer(i));
		tree_add(member(entry, "tokens", tree_list()),
		    tree_of_string(trainer_specials[i]));
	}
}

struct tree *
trainer_pretokenizer(void)
{
	struct tree *node = tree_object();

	tree_set(node, "type", tree_of_string("ByteLevel"));
	tree_set(node, "add_prefix_space", tree_of_boolean(false));
	tree_set(node, "trim_offsets", tree_of_boolean(true));
	tree_set(node, "use_regex", tree_of_boolean(true));
	return node;
}

static void
add_merges(const struct trainer *trainer, struct tree *model)
{
	struct tree *merges = member(model, "merges", tree_list());

	for (size_t i = 0; i < trainer->merge_count; i++) {
		struct tree *pair = tree_add(merges, tree_list());
		for (int side = 0; side < 2; side++)
			tree_add(pair, tree_of_string(vocabulary_text(trainer->tokens,
					   trainer->merges[i][side], NULL)));
	}
}

static void
add_model(const struct trainer *trainer, struct tree *root)
{
	struct tree *model = member(root, "model", tree_object());
	bool bytes = trainer->kind == TRAINER_BPE;

	tree_set(model, "type", tree_of_string(bytes ? "BPE" : "WordPiece"));
	if (!bytes) {
		tree_set(model, "unk_token", tree_of_string("[UNK]"));
		tree_set(model, "continuing_subword_prefix", tree_of_string("##"));
		tree_set(model, "max_input_chars_per_word", tree_of_integer(100));
	}
	struct tree *map = member(model, "vocab", tree_object());
	for (int32_t id = 0; id < vocabulary_size(trainer->tokens);
	     id++) /* unique: no search */
		tree_add(map, tree_of_integer(id))->key =
		    mem_string(vocabulary_text(trainer->tokens, id, NULL));
	if (bytes)
		add_merges(trainer, model);
}

static void
add_wordpiece(const struct trainer *trainer, struct tree *root)
{
	struct tree *normalizer = member(root, "normalizer", tree_object());

	tree_set(normalizer, "type", tree_of_string("BertNormalizer"));
	tree_set(normalizer, "clean_text", tree_of_boolean(true));
	tree_set(normalizer, "handle_chinese_chars", tree_of_boolean(true));
	tree_set(normalizer, "strip_accents", tree_of_null());
	tree_set(normalizer, "lowercase", tree_of_boolean(!trainer->cased));
	tree_set(member(root, "pre_tokenizer", tree_object()), "type",
	    tree_of_string("BertPreTokenizer"));
	add_template(root);
	struct tree *decoder = member(root, "decoder", tree_object());
	tree_set(decoder, "type", tree_of_string("WordPiece"));
	tree_set(decoder, "prefix", tree_of_string("##"));
	tree_set(decoder, "cleanup", tree_of_boolean(true));
}

static void
add_byte_level(struct tree *root)
{
	tree_set(
	    member(root, "normalizer", tree_object()), "type", tree_of_string("NFC"));
	tree_set(root, "pre_tokenizer", trainer_pretokenizer());
	add_template(root);
	tree_set(root, "decoder", trainer_pretokenizer());
}

static struct tree *
tokenizer_tree(const struct trainer *trainer)
{
	struct tree *root = tree_object();

	tree_set(root, "version", tree_of_string("1.0"));
	tree_set(root, "truncation", tree_of_null());
	tree_set(root, "padding", tree_of_null());
	add_specials(root);
	if (trainer->kind == TRAINER_BPE)
		add_byte_level(root);
	else
		add_wordpiece(trainer, root);
	add_model(trainer, root);
	return root;
}

static struct tree *
config_tree(const struct trainer *trainer, int max_length)
{
	static const char *const keys[SPECIALS] = { "pad_token", "unk_token", "cls_token",
		"sep_token", "mask_token" };
	struct tree *config = tree_object();

	bool bytes = trainer->kind == TRAINER_BPE;

	tree_set(config, "tokenizer_class",
	    tree_of_string(bytes ? "PreTrainedTokenizerFast" : "BertTokenizer"));
	if (!bytes) {
		tree_set(config, "do_lower_case", tree_of_boolean(!trainer->cased));
		tree_set(config, "strip_accents", tree_of_null());
		tree_set(config, "tokenize_chinese_chars", tree_of_boolean(true));
	}
	tree_set(config, "model_max_length", tree_of_integer(max_length));
	for (int i = 0; i < SPECIALS; i++)
		tree_set(config, keys[i], tree_of_string(trainer_specials[i]));
	return config;
}

static char *
lines(const struct trainer *trainer)
{
	size_t used = 0, room = 0, length;
	char *text = NULL;

	for (int32_t id = 0; id < vocabulary_size(trainer->tokens); id++) {
		const char *token = vocabulary_text(trainer->tokens, id, &length);
		text = mem_grow(text, &room, used + length + 2, 1);
		memcpy(text + used, token, length);
		used += length;
		text[used++] = '\n';
	}
	text[used] = 0;
	return text;
}

void
trainer_writable(const char *dir)
{
	char *weights = folder_weights(dir);

	if (weights)
		die("%s: holds a model's weights (%s), which were made with its "
		    "vocabulary; choose another folder",
		    dir, weights);
}

/* The file that is in use is the last to be replaced. */
void
trainer_write(const struct trainer *trainer, const char *dir, int max_length)
{
	struct tree *config = config_tree(trainer, max_length);
	struct tree *tokenizer = tokenizer_tree(trainer);

	trainer_writable(dir);
	if (trainer->kind == TRAINER_WORDPIECE) {
		char *text = lines(trainer);
		folder_write(dir, "vocab.txt", text, strlen(text));
		free(text);
	}
	folder_write_json(dir, "tokenizer_config.json", config);
	folder_write_json(dir, "tokenizer.json", tokenizer);
	tree_free(config);
	tree_free(tokenizer);
}
