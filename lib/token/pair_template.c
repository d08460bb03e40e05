#include "token/pair_template.h"

#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "folder/architecture.h"
#include "folder/prompt.h"
#include "folder/sentence_config.h"
#include "folder/share.h"
#include "text/json.h"
#include "text/yaml.h"
#include "token/chat.h"
#include "token/tokenizer_source.h"

/* The roles of the two texts. */
static const char *const roles[] = { "query", "document", NULL };

struct pair_template {
	struct chat *chat;
	bool reversed; /* the document stands before the query */
	size_t least;  /* ids of a pair of empty texts */
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

/* The template that makes pairs; its text is NULL if none does.  As sentence-transformers decides, but a classifier whose folder
 * does not say how it reads texts has a template only if that has both roles. */
static struct chat_source
find_source(const char *home, const struct tree *sentence)
{
	struct tree *config = json_find(home, "config.json");
	const struct tree *modalities = tree_get(sentence, "modality_config");
	const struct tree *message = sentence_config_message(sentence);
	bool asks = architecture_answers(config);
	bool classifies = architecture_ends(config, "ForSequenceClassification");
	struct chat_source source = { 0 };

	tree_free(config);
	if ((!asks && !classifies) || (modalities && !message))
		return source;
	source = chat_source_read(home, sentence);
	bool both =
	    chat_source_has(&source, "query") && chat_source_has(&source, "document");
	if (message && !source.text)
		tree_die(
		    message, "'message' needs a chat template, which the folder lacks");
	if (!message && !asks && !both) {
		free(source.text);
		source.text = NULL;
	}
	return source;
}

bool
pair_template_is(const char *dir)
{
	char *home = tokenizer_source_home(dir);
	struct tree *sentence = sentence_config_read(home);
	struct chat_source source = find_source(home, sentence);
	bool is = source.text;

	free(source.text);
	free(source.where);
	tree_free(sentence);
	free(home);
	return is;
}

/* ---------------------------------------------------------------------------------- */

static struct chat_text
text_of(const char *text)
{
	return (struct chat_text){ text, strlen(text) };
}

/* Renders a pair of short texts, to be freed. */
static char *
sample(const struct pair_template *template, const char *first, const char *second)
{
	struct chat_text texts[] = { text_of(first), text_of(second) };
	size_t length;

	return chat_render(template->chat, texts, &length);
}

/* Dies unless the text changes with each part; `bare` is the pair of alpha and bravo without an instruction, or NULL. */
static void
check_places(struct pair_template *template, const char *bare)
{
	char *base = sample(template, "alpha", "bravo");
	char *query = sample(template, "charlie", "bravo");
	char *document = sample(template, "alpha", "foxtrot");
	char *both = sample(template, "charlie", "foxtrot");
	const char *where = chat_where(template->chat);

	if (!strcmp(base, query) || !strcmp(base, document))
		die("%s: the chat template has no place for a %s (a message of that role); --template names a known template",
		    where, strcmp(base, query) ? "document" : "query");
	if (bare && !strcmp(base, bare))
		die("%s: the chat template has no place for an instruction (a message of the role 'system')",
		    where);
	const char *first = strstr(both, "charlie"), *second = strstr(both, "foxtrot");
	template->reversed = first &&second &&first > second;
	free(base);
	free(query);
	free(document);
	free(both);
}

/* The folder's template, or the named one; its text is NULL if there is none. */
static struct chat_source
choose(const char *home, const struct tree *sentence, const char *name)
{
	if (!name)
		return find_source(home, sentence);
	struct tree *known = named(name);
	struct chat_source source = { .text =
					  mem_string(tree_string(known, "template", "")),
		.where = mem_format("--template %s", name) };
	tree_free(known);
	return source;
}

static struct pair_template *
begin(struct chat *chat, const char *dir, const char *instruction)
{
	struct pair_template *template = mem_zero(1, sizeof *template);
	char *usual = instruction ? NULL : prompt_default(dir);

	template->chat = chat;
	char *bare = instruction ? sample(template, "alpha", "bravo") : NULL;
	chat_instruct(chat, instruction ? instruction : usual);
	check_places(template, bare);
	template->least = chat_least(chat);
	free(bare);
	free(usual);
	return template;
}

struct pair_template *
pair_template_open(
    const char *dir, const struct tokenizer *tokenizer, const struct pair_asking *asking)
{
	char *home = tokenizer_source_home(dir);
	struct tree *sentence = sentence_config_read(home);
	struct chat_source source = choose(home, sentence, asking->template);
	struct pair_template *template = NULL;

	if (source.text) {
		const struct tree *settings = asking->template ? NULL : sentence;
		template = begin(chat_new(home, settings, source, roles, tokenizer), dir,
		    asking->instruction);
	} else {
		free(source.where);
		if (asking->instruction)
			die("%s: has no chat template of pairs, so no place for an instruction",
			    dir);
	}
	tree_free(sentence);
	free(home);
	return template;
}

void
pair_template_free(struct pair_template *template)
{
	if (!template)
		return;
	chat_free(template->chat);
	free(template);
}

void
pair_template_demand(const struct pair_template *template, size_t most)
{
	if (most && most <= template->least)
		die("%s: a pair of at most %zu ids has no room for texts beside the %zu of the chat template",
		    chat_where(template->chat), most, template->least);
}

/* Whether the query leaves no room for the document. */
static bool
fills(const struct pair_template *template, struct chat_text query, size_t most)
{
	struct chat_text texts[] = { query, text_of("") };
	struct ids ids = { 0 };
	bool cut = chat_encode(template->chat, texts, most, &ids);

	ids_free(&ids);
	return cut;
}

enum pair_outcome
pair_template_encode(const struct pair_template *template, const char *first,
    size_t first_length, const char *second, size_t second_length, size_t most,
    enum pair_truncation truncation, struct ids *out)
{
	struct chat_text texts[] = { { first, first_length }, { second, second_length } };
	size_t start = out->count;

	if (!chat_encode(template->chat, texts, most, out))
		return PAIR_WHOLE;
	if (truncation == PAIR_REFUSE ||
	    (truncation == PAIR_ONLY_SECOND &&
		(template->reversed || fills(template, texts[0], most)))) {
		out->count = start;
		return PAIR_LONG;
	}
	return PAIR_CUT;
}
