#include "token/tokenizer_rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

bool
tokenizer_is_type(const struct tree *node, const char *type)
{
	return node && !strcmp(tree_string(node, "type", ""), type);
}

static const char *
word(bool value)
{
	return value ? "true" : "false";
}

/* How a text is normalised and split. ------------------------------------------------ */

/* Sets a flag of tokenizer.json to the value of the settings; warns if it is the class's default that differs. */
static void
set_flag(struct tree *node, const char *flag, const struct tokenizer_settings *settings,
    const char *key, bool otherwise)
{
	bool before = tree_boolean(node, flag, otherwise);
	bool after = tree_boolean(settings->config, key, otherwise);

	tree_set(node, flag, tree_of_boolean(after));
	if (before != after && !tree_get(settings->config, key))
		warn(
		    "%s: has no '%s', which is %s to its tokenizer_class; tokenizer.json says %s",
		    settings->config->file, key, word(after), word(before));
}

/* Whether a normalizer, or a member of a Sequence, lower-cases. */
static bool
lowers(const struct tree *node)
{
	const struct tree *list = tree_get(node, "normalizers");

	for (size_t i = 0; list && i < list->count; i++)
		if (lowers(list->items[i]))
			return true;
	return tokenizer_is_type(node, "Lowercase") ||
	       (tokenizer_is_type(node, "BertNormalizer") &&
		   tree_boolean(node, "lowercase", true));
}

static void
set_normalizer(struct tree *root, const struct tokenizer_settings *settings)
{
	static const char key[] = "do_lower_case";
	struct tree *node = tree_get(root, "normalizer");
	const struct tree *model = tree_get(root, "model"), *config = settings->config;

	if (!tokenizer_is_type(model, "WordPiece") &&
	    !tree_get(model, "max_input_chars_per_word"))
		return;
	const char *unknown = tokenizer_settings_token(settings, "unk_token"),
		   *own = tree_string(model, "unk_token", unknown);
	if (tree_get(config, "unk_token") && unknown && strcmp(own, unknown))
		tree_die(config,
		    "'unk_token' is '%s', and the model of tokenizer.json says '%s'",
		    unknown, own);
	if (!tokenizer_is_type(node, "BertNormalizer")) {
		if (tree_get(config, key) &&
		    tree_boolean(config, key, true) != lowers(node))
			tree_die(config,
			    "'%s' is %s, and tokenizer.json, which has no BertNormalizer, says otherwise",
			    key, word(tree_boolean(config, key, true)));
		return;
	}
	const struct tree *strip = tree_get(config, "strip_accents"),
			  *before = tree_get(node, "strip_accents");
	bool stripped =
	    tree_boolean(node, "strip_accents", tree_boolean(node, "lowercase", true));
	set_flag(node, "lowercase", settings, key, true);
	set_flag(node, "handle_chinese_chars", settings, "tokenize_chinese_chars", true);
	bool after =
	    tree_boolean(config, "strip_accents", tree_boolean(node, "lowercase", true));
	if (!strip && before && stripped != after)
		warn(
		    "%s: has no 'strip_accents', which is %s to its tokenizer_class; tokenizer.json says %s",
		    config->file, word(after), word(stripped));
	tree_set(node, "strip_accents", tree_of_boolean(after));
}

/* Finds a pre-tokeniser by type, also inside a Sequence; NULL: none. */
static struct tree *
find_step(struct tree *node, const char *type)
{
	struct tree *list = tree_get(node, "pretokenizers"), *found = NULL;

	if (tokenizer_is_type(node, type))
		return node;
	for (size_t i = 0; list && i < list->count && !found; i++)
		found = find_step(list->items[i], type);
	return found;
}

/* Whether tokenizer.json adds a blank before a text: 1, 0; -1: it has no such setting. */
static int
puts_blank(struct tree *root)
{
	struct tree *before = tree_get(root, "pre_tokenizer"),
		    *normal = tree_get(root, "normalizer");
	struct tree *bytes = find_step(before, "ByteLevel"),
		    *meta = find_step(before, "Metaspace");
	const struct tree *list = tree_get(normal, "normalizers");

	for (size_t i = 0; list && i < list->count; i++)
		if (tokenizer_is_type(list->items[i], "Prepend"))
			return 1;
	if (tokenizer_is_type(normal, "Prepend"))
		return 1;
	if (bytes)
		return tree_boolean(bytes, "add_prefix_space", true);
	if (!meta)
		return -1;
	bool old = tree_boolean(meta, "add_prefix_space", true);
	return strcmp(tree_string(meta, "prepend_scheme", old ? "always" : "never"),
		   "never") != 0;
}

static void
set_blank(struct tree *root, const struct tokenizer_settings *settings)
{
	static const char key[] = "add_prefix_space";
	struct tree *before = tree_get(root, "pre_tokenizer");
	const struct tree *config = settings->config;

	if (settings->class && settings->class->kind == KIND_BYTES &&
	    tokenizer_is_type(before, "ByteLevel")) {
		set_flag(before, key, settings, key, false);
		return;
	}
	int puts = puts_blank(root);
	if (tree_get(config, key) && puts >= 0 &&
	    tree_boolean(config, key, false) != puts)
		tree_die(config,
		    "'%s' is %s, and tokenizer.json says otherwise; versions of transformers differ in which of them counts",
		    key, word(!puts));
}

void
tokenizer_rules_apply(struct tree *root, const struct tokenizer_settings *settings)
{
	if (settings->class && settings->class->kind == KIND_WORDPIECE)
		set_normalizer(root, settings);
	set_blank(root, settings);
}

/* Added tokens. ------------------------------------------------------------------------ */

/* The added tokens so far, and the next free id. */
struct adding {
	struct tokenizer *tokenizer;
	struct tree *list;
	const struct tokenizer_settings *settings;
	int64_t next;
};

static struct tree *
find_added(const struct adding *adding, const char *text)
{
	for (size_t i = 0; i < adding->list->count; i++)
		if (!strcmp(tree_string(adding->list->items[i], "content", ""), text))
			return adding->list->items[i];
	return NULL;
}

static bool
is_special(const struct tokenizer_settings *settings, const char *text)
{
	static const char *const lists[] = { "additional_special_tokens",
		"extra_special_tokens" };

	for (size_t i = 0; i < SPECIAL_TOKENS; i++) {
		const char *token =
		    tokenizer_settings_token(settings, tokenizer_special_keys[i]);
		if (token && !strcmp(token, text))
			return true;
	}
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		const struct tree *list = tree_get(settings->config, lists[i]);
		for (size_t j = 0; list && j < list->count; j++) {
			const struct tree *item = list->items[j];
			const char *token = item->kind == TREE_OBJECT
						? tree_string(item, "content", "")
						: item->string;
			if (token && !strcmp(token, text))
				return true;
		}
	}
	return false;
}

/* Appends a token with its id in the vocabulary, or the next free id. */
static struct tree *
append(struct adding *adding, struct tree *token)
{
	const char *text = tree_string(token, "content", "");
	int64_t id = tokenizer_find(adding->tokenizer, text, strlen(text));

	if (id < 0)
		id = adding->next++;
	tree_set(token, "id", tree_of_integer(id));
	return tree_add(adding->list, token);
}

/* Adds a token of added_tokens_decoder or added_tokens.json; its flags override. */
static void
add_numbered(struct adding *adding, const struct tree *token)
{
	static const char *const flags[] = { "single_word", "lstrip", "rstrip",
		"normalized" };
	const char *text = tree_string(token, "content", "");
	int64_t id = tree_integer(token, "id", -1);
	bool special =
	    tree_boolean(token, "special", false) || is_special(adding->settings, text);
	struct tree *there = find_added(adding, text);

	if (!there) {
		there = tree_object();
		tree_set(there, "content", tree_of_string(text));
		append(adding, there);
	}
	if (tree_integer(there, "id", id) != id)
		tree_die(adding->settings->config,
		    "added token '%s' has the id %lld, and %lld by the vocabulary and tokenizer.json",
		    text, (long long)id, (long long)tree_integer(there, "id", id));
	bool normalized = tree_get(token, "special")
			      ? !tree_boolean(token, "special", false)
			      : !special;
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		tree_set(there, flags[i],
		    tree_of_boolean(
			tree_boolean(token, flags[i], i == 3 ? normalized : false)));
	tree_set(there, "special", tree_of_boolean(special));
}

/* Adds a special token, given as a text or an object, unless its text is there already. */
static struct tree *
add_special(struct adding *adding, const struct tree *node, const char *text)
{
	struct tree *token;

	if (!text || !*text || find_added(adding, text))
		return NULL;
	token = node && node->kind == TREE_OBJECT ? tree_copy(node) : tree_object();
	if (!tree_get(token, "normalized"))
		tree_set(token, "normalized", tree_of_boolean(false));
	tree_set(token, "content", tree_of_string(text));
	tree_set(token, "special", tree_of_boolean(true));
	return append(adding, token);
}

static void
add_named(struct adding *adding, const char *key)
{
	const struct tokenizer_settings *settings = adding->settings;
	const struct tree *node = tree_get(settings->config, key);
	struct tree *token =
	    add_special(adding, node, tokenizer_settings_token(settings, key));

	if (token && (!node || node->kind == TREE_STRING) && !strcmp(key, "mask_token") &&
	    settings->class && settings->class->blank_before_mask)
		tree_set(token, "lstrip", tree_of_boolean(true));
}

static void
add_list(struct adding *adding, const char *key)
{
	const struct tree *config = adding->settings->config,
			  *list = tree_get(config, key);

	if (list && list->kind != TREE_LIST && list->kind != TREE_OBJECT)
		tree_die(config, "'%s' must be a list or an object", key);
	for (size_t i = 0; list && i < list->count; i++) {
		const struct tree *item = list->items[i];
		const char *text = item->kind == TREE_OBJECT
				       ? tree_string(item, "content", NULL)
				       : item->string;
		if (!text)
			tree_die(config, "%s: element %zu is not a token", key, i);
		add_special(adding, item, text);
	}
}

/* Whether a member is a further special token, such as "image_token": "<image>". */
static bool
is_own_key(const struct tree *member)
{
	size_t length = strlen(member->key);

	if (tree_listed(tokenizer_special_keys, member->key))
		return false;
	if (member->kind == TREE_OBJECT ? !tree_get(member, "content")
					: member->kind != TREE_STRING)
		return false;
	return length > 6 && !strcmp(member->key + length - 6, "_token");
}

void
tokenizer_rules_add(struct tokenizer *tokenizer, struct tree *root,
    const struct tokenizer_settings *settings)
{
	const struct tree *config = settings->config;
	struct adding adding = { .tokenizer = tokenizer,
		.settings = settings,
		.list = tree_get(root, "added_tokens"),
		.next = tokenizer_size(tokenizer) };

	if (!adding.list)
		adding.list = tree_set(root, "added_tokens", tree_list());
	for (size_t i = 0; i < adding.list->count; i++) {
		struct tree *token = adding.list->items[i];
		const char *text = tree_string(token, "content", "");
		int64_t id = tokenizer_find(tokenizer, text, strlen(text));
		if (!tree_get(token, "id") && id >= 0)
			tree_set(token, "id", tree_of_integer(id));
		id = tree_integer(token, "id", -1);
		adding.next = id >= adding.next ? id + 1 : adding.next;
	}
	for (size_t i = 0; i < settings->added->count; i++)
		add_numbered(&adding, settings->added->items[i]);
	for (size_t i = 0; i < SPECIAL_TOKENS; i++)
		add_named(&adding, tokenizer_special_keys[i]);
	for (size_t i = 0; i < config->count; i++)
		if (is_own_key(config->items[i]))
			add_special(&adding, config->items[i],
			    tokenizer_settings_token(settings, config->items[i]->key));
	add_list(&adding, "additional_special_tokens");
	add_list(&adding, "extra_special_tokens");
}

/* Special tokens around a text. ------------------------------------------------------- */

static int32_t
id_of(const struct tokenizer *tokenizer, const struct tokenizer_settings *settings,
    const char *key)
{
	const char *text = tokenizer_settings_token(settings, key);

	return text ? tokenizer_id(tokenizer, text) : -1;
}

static void
put_first(struct ids *ids, int32_t id)
{
	ids_push(ids, id);
	memmove(ids->id + 1, ids->id, (ids->count - 1) * sizeof *ids->id);
	ids->id[0] = id;
}

/* Sets, or without a file adds, the token of `key` that the class puts around a text; dies if the file differs. */
static void
set_class(struct tokenizer *tokenizer, struct ids *ids,
    const struct tokenizer_settings *settings, const char *key, bool file)
{
	int32_t id;

	if (!key)
		return;
	if (!file && !tokenizer_settings_token(settings, key))
		tree_die(settings->config, "'%s' is null, and stands around a text", key);
	id = id_of(tokenizer, settings, key);
	if (!file && id >= 0)
		ids_push(ids, id);
	else if (file && ids->count == 1 && tree_get(settings->config, key) &&
		 ids->id[0] != id)
		tree_die(settings->config,
		    "'%s' is '%s', and the post_processor of tokenizer.json puts '%s' there",
		    key, tokenizer_settings_token(settings, key),
		    tokenizer_token(tokenizer, ids->id[0]));
}

/* Applies add_bos_token or add_eos_token; key: of the token. */
static void
set_end(struct tokenizer *tokenizer, struct ids *ids, bool first,
    const struct tokenizer_settings *settings, const char *flag, const char *key)
{
	const struct tree *config = settings->config;
	bool named = tree_get(config, flag),
	     ends = settings->class && settings->class->ends;
	bool wanted = tree_boolean(
	    config, flag, first && ends && *settings->name && settings->class->begins);
	int32_t id = id_of(tokenizer, settings, key);
	bool there = id >= 0 && ids->count && ids->id[first ? 0 : ids->count - 1] == id;

	if (wanted && named && id < 0)
		tree_die(config, "'%s' is true, and there is no '%s'", flag, key);
	if (named && !wanted && there && ends)
		tree_die(config,
		    "'%s' is false, and the post_processor of tokenizer.json puts '%s' there; versions of transformers differ in which of them counts",
		    flag, tokenizer_token(tokenizer, id));
	if (!wanted || there || id < 0)
		return;
	tokenizer->pair.fault =
	    "add_bos_token or add_eos_token changes the special tokens around a text, and is not supported for pairs";
	if (first)
		put_first(ids, id);
	else
		ids_push(ids, id);
}

/* Whether the model gets the types of the tokens, by "model_input_names" or the class. */
static bool
has_types(const struct tokenizer_settings *settings)
{
	const struct tree *names = tree_get(settings->config, "model_input_names");
	bool found = false;

	for (size_t i = 0; names && names->kind == TREE_LIST && i < names->count; i++)
		found |= names->items[i]->kind == TREE_STRING &&
			 !strcmp(names->items[i]->string, "token_type_ids");
	return names ? found : settings->class && settings->class->types_given;
}

/* The pair of a folder without tokenizer.json, of its class. */
static void
set_pair(struct tokenizer *tokenizer, const struct tokenizer_class *class)
{
	struct pair_around *pair = &tokenizer->pair;

	ids_add(&pair->before, tokenizer->before.id, tokenizer->before.count);
	for (size_t i = 0; i < tokenizer->after.count; i++) {
		for (int j = 0; j < class->separators; j++)
			ids_push(&pair->between, tokenizer->after.id[i]);
		ids_push(&pair->after, tokenizer->after.id[i]);
	}
	pair->first = pair->between.count;
}

void
tokenizer_rules_around(
    struct tokenizer *tokenizer, const struct tokenizer_settings *settings, bool file)
{
	struct ids *before = &tokenizer->before, *after = &tokenizer->after;

	if (settings->class) {
		set_class(tokenizer, before, settings, settings->class->before, file);
		set_class(tokenizer, after, settings, settings->class->after, file);
	}
	if (settings->class && !file)
		set_pair(tokenizer, settings->class);
	tokenizer->pair.typed &= has_types(settings);
	if (settings->class &&
	    settings->class->after) /* the class has a template of its own */
		return;
	set_end(tokenizer, before, true, settings, "add_bos_token", "bos_token");
	set_end(tokenizer, after, false, settings, "add_eos_token", "eos_token");
}

bool
tokenizer_rules_cut_left(
    const struct tree *root, const struct tokenizer_settings *settings)
{
	const char *side =
	    settings ? tree_string(settings->config, "truncation_side", NULL) : NULL;

	if (side && strcmp(side, "left") && strcmp(side, "right"))
		tree_die(settings->config,
		    "'truncation_side' is '%s'; it must be left or right", side);
	return side ? !strcmp(side, "left")
		    : !strcmp(
			  tree_string(tree_get(root, "truncation"), "direction", "Right"),
			  "Left");
}
