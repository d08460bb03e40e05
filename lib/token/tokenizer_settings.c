#include "token/tokenizer_settings.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "folder/sentence_config.h"
#include "text/json.h"

const char *const tokenizer_special_keys[SPECIAL_TOKENS + 1] = { "bos_token", "eos_token",
	"unk_token", "sep_token", "pad_token", "cls_token", "mask_token" };

static const struct tokenizer_class classes[] = {
	{ .names =
		"Bert DistilBert Electra MobileBert ConvBert SqueezeBert LayoutLM Lxmert RetriBert Realm DPRQuestionEncoder DPRContextEncoder",
	    .types =
		"bert distilbert electra mobilebert convbert squeezebert layoutlm lxmert nomic_bert ernie",
	    .kind = KIND_WORDPIECE,
	    .before = "cls_token",
	    .after = "sep_token",
	    .separators = 1,
	    .types_given = true,
	    .special = { NULL, NULL, "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]" } },
	{ .names = "MPNet",
	    .types = "mpnet",
	    .kind = KIND_WORDPIECE,
	    .before = "cls_token",
	    .after = "sep_token",
	    .separators = 2,
	    .special = { "<s>", "</s>", "[UNK]", "</s>", "<pad>", "<s>", "<mask>" },
	    .blank_before_mask = true },
	{ .names = "Roberta Bart Longformer LED Mvp",
	    .types = "roberta bart longformer led mvp data2vec-text ibert",
	    .kind = KIND_BYTES,
	    .before = "cls_token",
	    .after = "sep_token",
	    .separators = 2,
	    .special = { "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>" } },
	{ .names = "GPT2",
	    .types = "gpt2 gptj gpt_neo",
	    .kind = KIND_BYTES,
	    .special = { "<|endoftext|>", "<|endoftext|>", "<|endoftext|>" } },
	{ .names = "GPTNeoX",
	    .types = "gpt_neox",
	    .kind = KIND_BYTES,
	    .special = { "<|endoftext|>", "<|endoftext|>", "<|endoftext|>" },
	    .ends = true },
	{ .names = "Qwen2",
	    .types = "qwen2 qwen2_moe qwen3 qwen3_moe",
	    .kind = KIND_BYTES,
	    .special = { NULL, "<|endoftext|>", "<|endoftext|>", NULL,
		"<|endoftext|>" } },
	{ .names = "XLMRoberta",
	    .types = "xlm-roberta",
	    .kind = KIND_PIECES,
	    .before = "bos_token",
	    .after = "eos_token",
	    .separators = 2,
	    .special = { "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>" } },
	{ .names = "Camembert",
	    .types = "camembert",
	    .kind = KIND_PIECES,
	    .before = "bos_token",
	    .after = "eos_token",
	    .separators = 2,
	    .special = { "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>" },
	    .blank_before_mask = true },
	{ .names = "T5 MT5",
	    .types = "t5 mt5",
	    .kind = KIND_PIECES,
	    .after = "eos_token",
	    .separators = 1,
	    .special = { NULL, "</s>", "<unk>", NULL, "<pad>" } },
	{ .names = "Llama CodeLlama",
	    .types = "llama code_llama",
	    .kind = KIND_FILE,
	    .special = { "<s>", "</s>", "<unk>" },
	    .begins = true,
	    .ends = true },
	{ .names = "Gemma Cohere", .types = "", .kind = KIND_FILE, .ends = true },
};

/* Classes that never read tokenizer.json. */
static const char own_files[] =
    "BertJapanese Bertweet Phobert Canine ByT5 MyT5 MLuke Esm FSMT XLM Flaubert CTRL BioGpt Marian M2M100 ProphetNet Tapas CpmAnt Perceiver";

/* Whether a word is in a list separated by blanks. */
static bool
has_word(const char *list, const char *word, size_t length)
{
	for (const char *at = list; *at;) {
		size_t next = strcspn(at, " ");
		if (next == length && !memcmp(at, word, length))
			return true;
		at += next + (at[next] == ' ');
	}
	return false;
}

/* Bytes of a class name before "Tokenizer" or "TokenizerFast"; 0: it does not end so. */
static size_t
stem(const char *name)
{
	const char *end = strstr(name, "Tokenizer");

	return end && (!strcmp(end, "Tokenizer") || !strcmp(end, "TokenizerFast"))
		   ? (size_t)(end - name)
		   : 0;
}

static void
find_class(struct tokenizer_settings *settings, const struct tree *model)
{
	const char *name = tree_string(settings->config, "tokenizer_class",
	    tree_string(model, "tokenizer_class", ""));
	const char *type = tree_string(model, "model_type", "");
	size_t length = stem(name);

	settings->name = mem_string(name);
	if (has_word(own_files, name, length))
		tree_die(settings->config,
		    "tokenizer_class: a %s is not supported; it splits texts by its own Python code",
		    name);
	for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
		if (*name ? has_word(classes[i].names, name, length)
			  : has_word(classes[i].types, type, strlen(type)))
			settings->class = &classes[i];
}

void
tokenizer_settings_assume(
    struct tokenizer_settings *settings, const char *name, enum tokenizer_kind kind)
{
	if (*settings->name || (settings->class && settings->class->kind == kind))
		return;
	for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
		if (has_word(classes[i].names, name, strlen(name)))
			settings->class = &classes[i];
}

/* Members of `other` override those of `config`; join: a list, which is of special tokens, is appended to the old list. */
static void
put_over(struct tree *config, const struct tree *other, bool join)
{
	for (size_t i = 0; other && i < other->count; i++) {
		const struct tree *value = other->items[i];
		struct tree *old = tree_get(config, value->key);
		if (join && old && old->kind == TREE_LIST && value->kind == TREE_LIST)
			for (size_t j = 0; j < value->count; j++)
				tree_add(old, tree_copy(value->items[j]));
		else
			tree_set(config, value->key, tree_copy(value));
	}
}

/* A file of the folder; NULL: it is absent. */
static struct tree *
read_object(const char *home, const char *file)
{
	struct tree *tree = json_find(home, file);

	if (tree && tree->kind != TREE_OBJECT)
		tree_die(tree, "must be an object");
	return tree;
}

static void
add_token(struct tokenizer_settings *settings, const struct tree *token, const char *text,
    int64_t id)
{
	struct tree *copy = token ? tree_copy(token) : tree_object();

	if (text)
		tree_set(copy, "content", tree_of_string(text));
	tree_set(copy, "id", tree_of_integer(id));
	tree_add(settings->added, copy);
}

static int
by_id(const void *one, const void *two)
{
	const struct tree *const *a = one, *const *b = two;
	int64_t left = tree_integer(*a, "id", 0), right = tree_integer(*b, "id", 0);

	return (left > right) - (left < right);
}

/* "added_tokens_decoder": {"50256": {"content": ...}} */
static void
read_decoder(struct tokenizer_settings *settings, const struct tree *decoder)
{
	if (decoder->kind != TREE_OBJECT)
		tree_die(settings->config, "'added_tokens_decoder' must be an object");
	for (size_t i = 0; i < decoder->count; i++) {
		const struct tree *token = decoder->items[i];
		char *end;
		long long id = strtoll(token->key, &end, 10);
		if (token->kind != TREE_OBJECT || *end)
			tree_die(settings->config,
			    "added_tokens_decoder: '%s' is not a token", token->key);
		if (!*tree_string(token, "content", ""))
			tree_die(settings->config,
			    "added_tokens_decoder: '%s' has no 'content'", token->key);
		add_token(settings, token, NULL, id);
	}
}

/* added_tokens.json: {"<ent>": 30522} */
static void
read_added(struct tokenizer_settings *settings, const char *home)
{
	struct tree *file = read_object(home, "added_tokens.json");

	for (size_t i = 0; file && i < file->count; i++) {
		const struct tree *id = file->items[i];
		if (!tree_is_whole(id))
			tree_die(file, "'%s' must be an id", id->key);
		add_token(settings, NULL, id->key, id->integer);
	}
	tree_free(file);
}

/* Tokenizer arguments of sentence-transformers. */
static void
read_sentence(struct tokenizer_settings *settings, const char *home)
{
	static const char *const keys[] = { "tokenizer_args", "processor_kwargs" };
	struct tree *sentence = sentence_config_read(home);

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		const struct tree *arguments = tree_get(sentence, keys[i]);
		if (arguments && arguments->kind != TREE_OBJECT)
			tree_die(arguments, "'%s' must be an object", keys[i]);
		put_over(settings->config, arguments, false);
	}
	tree_free(sentence);
}

/* Settings that count for models of some types alone. */
static void
read_type(struct tokenizer_settings *settings, const struct tree *model)
{
	const char *type = tree_string(model, "model_type", "");
	struct tree *config = settings->config;

	/* config.json says so, and the tokenizer's own files do not */
	if (!strcmp(type, "nvembed") && tree_boolean(model, "add_eos", true))
		tree_set(config, "add_eos_token", tree_of_boolean(true));
	if ((!strcmp(type, "mistral") || !strcmp(type, "ministral")) &&
	    tree_boolean(config, "fix_mistral_regex", false))
		tree_die(tree_get(config, "fix_mistral_regex"),
		    "'fix_mistral_regex' is true: texts are split by another expression than tokenizer.json's; put that one there, and take this key out");
}

struct tokenizer_settings *
tokenizer_settings_read(const char *home)
{
	struct tokenizer_settings *settings = mem_zero(1, sizeof *settings);
	struct tree *config = read_object(home, "tokenizer_config.json"), *other;

	if (!config) { /* an empty one, for messages */
		config = tree_object();
		config->name = mem_format("%s/tokenizer_config.json", home);
		config->file = config->name;
	}
	settings->config = config;
	settings->added = tree_list();
	if (tree_get(config, "added_tokens_decoder")) {
		read_decoder(settings, tree_get(config, "added_tokens_decoder"));
	} else {
		other = read_object(home, "special_tokens_map.json");
		put_over(config, other, true);
		tree_free(other);
		read_added(settings, home);
	}
	if (settings->added->count)
		qsort(settings->added->items, settings->added->count,
		    sizeof(struct tree *), by_id);
	read_sentence(settings, home);
	other = read_object(home, "config.json");
	find_class(settings, other);
	read_type(settings, other);
	tree_free(other);
	return settings;
}

const char *
tokenizer_settings_token(const struct tokenizer_settings *settings, const char *key)
{
	const struct tree *node = tree_get(settings->config, key);
	const char *otherwise = NULL;

	for (size_t i = 0; settings->class && i < SPECIAL_TOKENS; i++)
		if (!strcmp(tokenizer_special_keys[i], key))
			otherwise = settings->class->special[i];
	/* null: there is no such token */
	for (size_t i = 0; !node && i < settings->config->count; i++)
		if (!strcmp(settings->config->items[i]->key, key))
			return NULL;
	return !node ? otherwise
	       : node->kind == TREE_OBJECT
		   ? tree_string(node, "content", otherwise)
		   : tree_string(settings->config, key, otherwise);
}

void
tokenizer_settings_free(struct tokenizer_settings *settings)
{
	tree_free(settings->config);
	tree_free(settings->added);
	free(settings->name);
	free(settings);
}
