#include "token/chat.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "folder/architecture.h"
#include "folder/sentence_config.h"
#include "text/jinja.h"
#include "text/json.h"
#include "token/tokenizer_settings.h"
#include "token/tokenizer_source.h"

enum { CHAT_ROLES = 2 };

struct chat {
	const struct tokenizer *tokenizer;
	const char *const *roles;
	struct jinja *jinja;
	char *where;	   /* of the template, for messages */
	char *instruction; /* NULL: none */
	struct tree *variables;
	bool structured;   /* a message's content is a list of parts */
	bool restores;	   /* SUFFIX is put back */
	bool special;	   /* special tokens are added */
	struct ids suffix; /* SUFFIX (chat.h) */
};

/* The text of "chat_template"; of several, that of the name "default".  NULL: none. */
static const char *
chosen(const struct tree *config)
{
	const struct tree *node = tree_get(config, "chat_template");

	if (!node || node->kind == TREE_STRING)
		return node ? node->string : NULL;
	for (size_t i = 0; node->kind == TREE_LIST && i < node->count; i++)
		if (!strcmp(tree_string(node->items[i], "name", ""), "default"))
			return tree_string(node->items[i], "template", NULL);
	tree_die(
	    node, "'chat_template' must be a text, or a list with one called 'default'");
}

/* Whether "chat_template" is a list of several. */
static bool
is_list(const struct tree *config)
{
	const struct tree *node = tree_get(config, "chat_template");

	return node && node->kind == TREE_LIST;
}

/* Whether the model also has images: its processor adds special tokens. */
static bool
has_images(const char *home)
{
	struct tree *config = json_find(home, "config.json");
	bool has = architecture_sees(config);

	tree_free(config);
	return has;
}

/* The template of chat_template.json, which processors of images have and prefer; false: there is no such file. */
static bool
read_json(const char *home, struct chat_source *source)
{
	struct tree *file = json_find(home, "chat_template.json");

	if (!file)
		return false;
	tree_need(file, "chat_template");
	source->text = mem_string(tree_string(file, "chat_template", ""));
	free(source->where);
	source->where = mem_format("%s/chat_template.json", home);
	tree_free(file);
	return true;
}

struct chat_source
chat_source_read(const char *home, const struct tree *sentence)
{
	const struct tree *arguments = tree_get(sentence, "processor_kwargs");
	struct tree *config = json_find(home, "tokenizer_config.json");
	struct chat_source source = { .where =
					  mem_format("%s/chat_template.jinja", home) };
	const char *given = chosen(arguments);
	size_t length;

	if (!given && has_images(home) && read_json(home, &source)) {
		tree_free(config);
		return source;
	}
	source.text = given ? mem_string(given) : file_read(source.where, &length);
	const char *own = source.text ? NULL : chosen(config);
	if (own || given) {
		free(source.where);
		source.where = mem_format("%s/%s", home,
		    given ? "sentence_bert_config.json" : "tokenizer_config.json");
	}
	source.text = own ? mem_string(own) : source.text;
	source.several = (own && is_list(config)) || (given && is_list(arguments));
	tree_free(config);
	return source;
}

bool
chat_source_has(const struct chat_source *source, const char *word)
{
	return source->text && strstr(source->text, word);
}

/* Adds sentence-transformers' settings to the variables; returns whether SUFFIX is put back. */
static bool
take_settings(struct tree *variables, const struct tree *sentence)
{
	static const char *const refused[] = { "padding", "truncation", "max_length",
		"return_tensors", "tokenize", "return_dict", "continue_final_message",
		"chat_template", "tools", "documents", NULL };
	const struct tree *all = tree_get(sentence, "processing_kwargs");
	const struct tree *given = tree_get(all, "chat_template");
	const char *restores = "restore_suffix";

	for (size_t i = 0; given && i < given->count; i++) {
		const struct tree *item = given->items[i];
		if (tree_listed(refused, item->key))
			tree_die(item, "'%s' in 'processing_kwargs' is not supported",
			    item->key);
		if (strcmp(item->key, restores))
			tree_set(variables, item->key, tree_copy(item));
	}
	return tree_boolean(given, restores, true);
}

/* Whether the template expects lists of parts: "format" says so, or else what the template looks for. */
static bool
is_structured(const struct tree *sentence, const struct chat_source *source)
{
	static const char *const signs[] = { "content[0]", ".type", "'type'", "\"type\"",
		"item.type", "message.content[" };
	const struct tree *message = sentence_config_message(sentence);
	const char *format = tree_string(message, "format", "auto");
	bool is =
	    !strcmp(format, "structured") || (!strcmp(format, "auto") && source->several);

	if (strcmp(format, "auto") && strcmp(format, "flat") && !is)
		tree_die(message,
		    "'format' is '%s'; supported are flat, structured and auto", format);
	for (size_t i = 0; !strcmp(format, "auto") && i < sizeof signs / sizeof *signs;
	     i++)
		is |= chat_source_has(source, signs[i]);
	return is;
}

static struct tree *
variables_of(const char *home)
{
	struct tokenizer_settings *settings = tokenizer_settings_read(home);
	struct tree *variables = tree_object();

	for (size_t i = 0; i < SPECIAL_TOKENS; i++) {
		const char *key = tokenizer_special_keys[i];
		const char *token = tokenizer_settings_token(settings, key);
		if (token)
			tree_set(variables, key, tree_of_string(token));
	}
	tree_set(variables, "add_generation_prompt", tree_of_boolean(false));
	tree_set(variables, "tools", tree_of_null());
	tree_set(variables, "documents", tree_of_null());
	tokenizer_settings_free(settings);
	return variables;
}

struct chat *
chat_new(const char *home, const struct tree *sentence, struct chat_source source,
    const char *const *roles, const struct tokenizer *tokenizer)
{
	struct chat *chat = mem_zero(1, sizeof *chat);

	*chat = (struct chat){ .tokenizer = tokenizer,
		.roles = roles,
		.where = source.where,
		.jinja = jinja_new(source.text, strlen(source.text), source.where),
		.variables = variables_of(home),
		.structured = is_structured(sentence, &source),
		.special = has_images(home) };
	chat->restores = take_settings(chat->variables, sentence);
	free(source.text);
	return chat;
}

struct chat *
chat_open(const char *dir, const struct tokenizer *tokenizer)
{
	static const char *const user[] = { "user", NULL };
	char *home = tokenizer_source_home(dir);
	struct tree *sentence = sentence_config_read(home);
	const struct tree *message = sentence_config_message(sentence);
	struct chat *chat = NULL;

	if (message) {
		struct chat_source source = chat_source_read(home, sentence);
		if (!source.text)
			tree_die(message,
			    "'message' needs a chat template, which the folder lacks");
		chat = chat_new(home, sentence, source, user, tokenizer);
	}
	tree_free(sentence);
	free(home);
	return chat;
}

void
chat_free(struct chat *chat)
{
	if (!chat)
		return;
	jinja_free(chat->jinja);
	tree_free(chat->variables);
	ids_free(&chat->suffix);
	free(chat->instruction);
	free(chat->where);
	free(chat);
}

const char *
chat_where(const struct chat *chat)
{
	return chat->where;
}

/* Rendering. ----------------------------------------------------------------------- */

static void
add_message(
    struct tree *messages, const char *role, struct chat_text text, bool structured)
{
	struct tree *message = tree_add(messages, tree_object());
	struct tree *content = tree_of_bytes(text.bytes, text.length);

	tree_set(message, "role", tree_of_string(role));
	if (structured) {
		struct tree *part = tree_object();
		tree_set(part, "type", tree_of_string("text"));
		tree_set(part, "text", content);
		content = tree_list();
		tree_add(content, part);
	}
	tree_set(message, "content", content);
}

static struct chat_text
text_of(const char *text)
{
	return (struct chat_text){ text, strlen(text) };
}

char *
chat_render(const struct chat *chat, const struct chat_text *texts, size_t *length)
{
	struct tree *variables = tree_copy(chat->variables);
	struct tree *messages = tree_set(variables, "messages", tree_list());

	if (chat->instruction)
		add_message(
		    messages, "system", text_of(chat->instruction), chat->structured);
	for (size_t i = 0; chat->roles[i]; i++)
		add_message(messages, chat->roles[i], texts[i], chat->structured);
	char *text = jinja_render(chat->jinja, variables, length);
	tree_free(variables);
	return text;
}

static bool
encode(
    const struct chat *chat, const struct chat_text *texts, size_t most, struct ids *out)
{
	size_t length;
	char *text = chat_render(chat, texts, &length);
	const char *first = tree_string(chat->variables, "bos_token", NULL);
	bool special = chat->special && !(first && !strncmp(text, first, strlen(first)));
	bool cut = tokenizer_encode(chat->tokenizer, text, length, most, special, out);

	free(text);
	return cut;
}

/* The ids of the chat in which each message has the same text. */
static struct ids
encode_alike(const struct chat *chat, const char *text)
{
	struct chat_text texts[CHAT_ROLES] = { text_of(text), text_of(text) };
	struct ids ids = { 0 };

	encode(chat, texts, 0, &ids);
	return ids;
}

size_t
chat_least(const struct chat *chat)
{
	struct ids ids = encode_alike(chat, "");
	size_t least = ids.count;

	ids_free(&ids);
	return least;
}

/* Sets SUFFIX: the ids at the end in which two chats agree. */
static void
find_suffix(struct chat *chat)
{
	struct ids a = encode_alike(chat, "0"), b = encode_alike(chat, "1 2 3 4");
	size_t count = 0;

	while (count < a.count && count < b.count &&
	       a.id[a.count - count - 1] == b.id[b.count - count - 1])
		count++;
	if (count == a.count || count == b.count)
		count = 0;
	chat->suffix.count = 0;
	for (size_t i = a.count - count; i < a.count; i++)
		ids_push(&chat->suffix, a.id[i]);
	ids_free(&a);
	ids_free(&b);
}

void
chat_instruct(struct chat *chat, const char *instruction)
{
	free(chat->instruction);
	chat->instruction = instruction ? mem_string(instruction) : NULL;
	if (chat->restores)
		find_suffix(chat);
}

bool
chat_encode(
    const struct chat *chat, const struct chat_text *texts, size_t most, struct ids *out)
{
	size_t start = out->count;
	bool cut = encode(chat, texts, most, out);
	size_t count = out->count - start, back = chat->suffix.count;

	back = back < count ? back : count;
	if (most && count >= most && back)
		memcpy(out->id + out->count - back,
		    chat->suffix.id + chat->suffix.count - back, back * sizeof *out->id);
	return cut;
}
