#include "token/pair_template.h"

#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "folder/prompt.h"
#include "folder/sentence_config.h"
#include "folder/share.h"
#include "text/jinja.h"
#include "text/json.h"
#include "text/yaml.h"
#include "token/tokenizer_settings.h"
#include "token/tokenizer_source.h"

struct pair_template {
	const struct tokenizer *tokenizer;
	struct jinja *jinja;
	char *where;	   /* of the template, for messages */
	char *instruction; /* NULL: none */
	struct tree *variables;
	bool structured;   /* a message's content is a list of parts */
	bool reversed;	   /* the document stands before the query */
	struct ids suffix; /* after the texts; put back where they are cut */
	size_t least;	   /* ids of a pair of empty texts */
};

/* Named templates. ----------------------------------------------------------------- */

static struct tree *
named(const char *name)
{
	char *path = share_path("rerankers.yaml");
	struct tree *file = yaml_read(path);
	const char **names = mem_zero(file->count + 1, sizeof *names);

	for (size_t i = 0; i < file->count; i++)
		names[i] = file->items[i]->key;
	struct tree *found = tree_copy(file->items[cli_word("--template", name, names)]);
	tree_free(file);
	free(names);
	free(path);
	return found;
}

void
pair_template_answers(const char *name, char **positive, char **negative)
{
	struct tree *template = named(name);
	const char *against = tree_string(template, "negative", NULL);

	*positive = mem_string(tree_string(template, "positive", ""));
	*negative = against ? mem_string(against) : NULL;
	tree_free(template);
}

/* The folder's template. ----------------------------------------------------------- */

static bool
ends_in(const struct tree *config, const char *end)
{
	const struct tree *names = tree_get(config, "architectures");
	const char *name = NULL;

	if (names && names->kind == TREE_LIST && names->count)
		name = names->items[0]->string;
	size_t length = name ? strlen(name) : 0;
	return length >= strlen(end) && !strcmp(name + length - strlen(end), end);
}

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

/* The source of the folder's chat template, to be freed, and where it is; NULL: there is none.  several: there are others. */
static char *
read_source(const char *home, const struct tree *sentence, char **where, bool *several)
{
	struct tree *config = json_find(home, "tokenizer_config.json");
	const char *given = chosen(tree_get(sentence, "processor_kwargs"));
	size_t length;

	*where = mem_format("%s/chat_template.jinja", home);
	char *source = given ? mem_string(given) : file_read(*where, &length);
	const char *own = source ? NULL : chosen(config);
	if (own || given) {
		free(*where);
		*where = mem_format("%s/%s", home,
		    given ? "sentence_bert_config.json" : "tokenizer_config.json");
	}
	source = own ? mem_string(own) : source;
	*several = (own && is_list(config)) ||
		   (given && is_list(tree_get(sentence, "processor_kwargs")));
	tree_free(config);
	return source;
}

static bool
has_word(const char *source, const char *word)
{
	return source && strstr(source, word);
}

/* The source of the template that makes pairs; NULL: none does.  As sentence-transformers decides, but a classifier whose folder
 * does not say how it reads texts has a template only if that has both roles. */
static char *
find_source(const char *home, const struct tree *sentence, char **where, bool *several)
{
	struct tree *config = json_find(home, "config.json");
	const struct tree *modalities = tree_get(sentence, "modality_config");
	bool message = modalities && tree_get(modalities, "message");
	bool asks = ends_in(config, "ForCausalLM");
	bool classifies = ends_in(config, "ForSequenceClassification");
	char *source = NULL;

	tree_free(config);
	*where = NULL;
	*several = false;
	if ((!asks && !classifies) || (modalities && !message))
		return NULL;
	source = read_source(home, sentence, where, several);
	bool roles = has_word(source, "query") && has_word(source, "document");
	if (message && !source)
		tree_die(modalities,
		    "'message' needs a chat template, which the folder lacks");
	if (!message && !asks && !roles) {
		free(source);
		source = NULL;
	}
	return source;
}

bool
pair_template_is(const char *dir)
{
	char *home = tokenizer_source_home(dir), *where;
	struct tree *sentence = sentence_config_read(home);
	bool several;
	char *source = find_source(home, sentence, &where, &several);
	bool is = source;

	free(source);
	free(where);
	tree_free(sentence);
	free(home);
	return is;
}

/* Adds sentence-transformers' settings to the variables; returns whether the text after the two texts is put back. */
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

static bool
is_structured(const struct tree *sentence, const char *source, bool several)
{
	static const char *const signs[] = { "content[0]", ".type", "'type'", "\"type\"",
		"item.type", "message.content[" };
	const struct tree *message =
	    tree_get(tree_get(sentence, "modality_config"), "message");
	const char *format = tree_string(message, "format", "auto");
	bool is = !strcmp(format, "structured") || (!strcmp(format, "auto") && several);

	if (strcmp(format, "auto") && strcmp(format, "flat") && !is)
		tree_die(message,
		    "'format' is '%s'; supported are flat, structured and auto", format);
	for (size_t i = 0; !strcmp(format, "auto") && i < sizeof signs / sizeof *signs;
	     i++)
		is |= has_word(source, signs[i]);
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

/* Rendering. ----------------------------------------------------------------------- */

static void
add_message(struct tree *messages, const char *role, const char *text, size_t length,
    bool structured)
{
	struct tree *message = tree_add(messages, tree_object());
	struct tree *content = tree_of_bytes(text, length);

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

static char *
render(const struct pair_template *template, const char *instruction, const char *first,
    size_t first_length, const char *second, size_t second_length, size_t *length)
{
	struct tree *variables = tree_copy(template->variables);
	struct tree *messages = tree_set(variables, "messages", tree_list());
	bool structured = template->structured;

	if (instruction)
		add_message(
		    messages, "system", instruction, strlen(instruction), structured);
	add_message(messages, "query", first, first_length, structured);
	add_message(messages, "document", second, second_length, structured);
	char *text = jinja_render(template->jinja, variables, length);
	tree_free(variables);
	return text;
}

/* Renders a pair of short texts, to be freed; also tokenises it, unless `ids` is NULL. */
static char *
sample(const struct pair_template *template, const char *instruction, const char *first,
    const char *second, struct ids *ids)
{
	size_t length;
	char *text = render(
	    template, instruction, first, strlen(first), second, strlen(second), &length);

	if (ids)
		tokenizer_encode(template->tokenizer, text, length, 0, false, ids);
	return text;
}

/* Dies unless the text changes with each part. */
static void
check_places(struct pair_template *template, bool asked)
{
	const char *own = template->instruction;
	char *base = sample(template, own, "alpha", "bravo", NULL);
	char *query = sample(template, own, "charlie", "bravo", NULL);
	char *document = sample(template, own, "alpha", "foxtrot", NULL);
	char *bare = sample(template, NULL, "alpha", "bravo", NULL);
	char *both = sample(template, own, "charlie", "foxtrot", NULL);

	if (!strcmp(base, query) || !strcmp(base, document))
		die("%s: the chat template has no place for a %s (a message of that role); --template names a known template",
		    template->where, strcmp(base, query) ? "document" : "query");
	if (asked && !strcmp(base, bare))
		die("%s: the chat template has no place for an instruction (a message of the role 'system')",
		    template->where);
	const char *first = strstr(both, "charlie"), *second = strstr(both, "foxtrot");
	template->reversed = first &&second &&first > second;
	free(base);
	free(query);
	free(document);
	free(bare);
	free(both);
}

/* Sets the ids after the texts: those in which two pairs agree at the end. */
static void
find_suffix(struct pair_template *template)
{
	struct ids a = { 0 }, b = { 0 };
	size_t count = 0;

	free(sample(template, template->instruction, "0", "0", &a));
	free(sample(template, template->instruction, "1 2 3 4", "1 2 3 4", &b));
	while (count < a.count && count < b.count &&
	       a.id[a.count - count - 1] == b.id[b.count - count - 1])
		count++;
	if (count == a.count || count == b.count)
		count = 0;
	for (size_t i = a.count - count; i < a.count; i++)
		ids_push(&template->suffix, a.id[i]);
	ids_free(&a);
	ids_free(&b);
}

/* ---------------------------------------------------------------------------------- */

static struct pair_template *
begin(const char *source, char *where, const struct tokenizer *tokenizer)
{
	struct pair_template *template = mem_zero(1, sizeof *template);

	template->tokenizer = tokenizer;
	template->where = where;
	template->jinja = jinja_new(source, strlen(source), where);
	return template;
}

struct pair_template *
pair_template_open(
    const char *dir, const struct tokenizer *tokenizer, const struct pair_asking *asking)
{
	char *home = tokenizer_source_home(dir), *where = NULL;
	bool several = false;
	struct tree *sentence = sentence_config_read(home);
	struct tree *known = asking->template ? named(asking->template) : NULL;
	char *source = known ? mem_string(tree_string(known, "template", ""))
			     : find_source(home, sentence, &where, &several);
	struct pair_template *template = NULL;
	struct ids ids = { 0 };

	if (source) {
		where = known ? mem_format("--template %s", asking->template) : where;
		template = begin(source, where, tokenizer);
		template->variables = variables_of(home);
		template->structured = !known && is_structured(sentence, source, several);
		bool restores = known || take_settings(template->variables, sentence);
		template->instruction = asking->instruction
					    ? mem_string(asking->instruction)
					    : prompt_default(dir);
		check_places(template, asking->instruction);
		if (restores)
			find_suffix(template);
		free(sample(template, template->instruction, "", "", &ids));
		template->least = ids.count;
		ids_free(&ids);
	} else {
		free(where);
		if (asking->instruction)
			die("%s: has no chat template of pairs, so no place for an instruction",
			    dir);
	}
	free(source);
	tree_free(known);
	tree_free(sentence);
	free(home);
	return template;
}

void
pair_template_free(struct pair_template *template)
{
	if (!template)
		return;
	jinja_free(template->jinja);
	tree_free(template->variables);
	ids_free(&template->suffix);
	free(template->instruction);
	free(template->where);
	free(template);
}

void
pair_template_demand(const struct pair_template *template, size_t most)
{
	if (most && most <= template->least)
		die("%s: a pair of at most %zu ids has no room for texts beside the %zu of the chat template",
		    template->where, most, template->least);
}

/* Whether the query leaves no room for the document. */
static bool
fills(const struct pair_template *template, const char *query, size_t length, size_t most)
{
	struct ids ids = { 0 };
	size_t made;
	char *text = render(template, template->instruction, query, length, "", 0, &made);
	bool cut = tokenizer_encode(template->tokenizer, text, made, most, false, &ids);

	ids_free(&ids);
	free(text);
	return cut;
}

enum pair_outcome
pair_template_encode(const struct pair_template *template, const char *first,
    size_t first_length, const char *second, size_t second_length, size_t most,
    enum pair_truncation truncation, struct ids *out)
{
	size_t start = out->count, length;
	char *text = render(template, template->instruction, first, first_length, second,
	    second_length, &length);
	bool cut = tokenizer_encode(template->tokenizer, text, length, most, false, out);

	free(text);
	if (cut && (truncation == PAIR_REFUSE ||
		       (truncation == PAIR_ONLY_SECOND &&
			   (template->reversed ||
			       fills(template, first, first_length, most))))) {
		out->count = start;
		return PAIR_LONG;
	}
	size_t count = out->count - start, back = template->suffix.count;
	back = back < count ? back : count;
	if (most && count >= most && back)
		memcpy(out->id + out->count - back,
		    template->suffix.id + template->suffix.count - back,
		    back * sizeof *out->id);
	return cut ? PAIR_CUT : PAIR_WHOLE;
}
