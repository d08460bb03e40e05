#include "folder/late_interaction.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "folder/modules.h"
#include "folder/sentence_config.h"
#include "text/json.h"

enum { LONGEST = 1 << 24, QUERY = 32, DOCUMENT = 180 };

static const char sentence_config[] = "config_sentence_transformers.json";
/* string.punctuation of Python, which PyLate and colbert-ir skip */
static const char punctuation[] = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
static const char *const role_names[LATE_ROLES] = { "query", "document" };

const char *
late_role_name(enum late_role role)
{
	return role_names[role];
}

enum late_role
late_role_of(const char *name)
{
	int role = 0;

	while (role < LATE_ROLES && strcmp(role_names[role], name))
		role++;
	return (enum late_role)role;
}

/* The skip list. ------------------------------------------------------------------- */

static void
add_word(struct late_interaction *late, const char *word)
{
	late->words = mem_resize(late->words, late->count + 1, sizeof *late->words);
	late->words[late->count++] = mem_string(word);
}

static void
skip_punctuation(struct late_interaction *late)
{
	for (const char *c = punctuation; *c; c++)
		add_word(late, (char[]){ *c, '\0' });
}

static void
add_words(struct late_interaction *late, const struct tree *words)
{
	if (words->kind != TREE_LIST)
		tree_die(words, "'%s' must be a list of tokens", words->key);
	for (size_t i = 0; i < words->count; i++) {
		if (words->items[i]->kind != TREE_STRING)
			tree_die(words, "'%s' must be a list of tokens", words->key);
		add_word(late, words->items[i]->string);
	}
}

/* PyLate. -------------------------------------------------------------------------- */

static size_t
length_of(const struct tree *config, const char *key, int64_t otherwise)
{
	return (size_t)tree_integer_or(config, key, otherwise, 1, LONGEST);
}

/* A marker; "" stands for none. */
static char *
marker_of(const struct tree *config, const char *key, const char *otherwise)
{
	const char *marker = tree_string(config, key, otherwise);

	return *marker ? mem_string(marker) : NULL;
}

static void
read_pylate(struct late_interaction *late, const struct tree *config)
{
	struct late_side *query = &late->side[LATE_QUERY];
	struct late_side *document = &late->side[LATE_DOCUMENT];
	const struct tree *words = tree_get(config, "skiplist_words");

	late->normalizes = late->strips = late->unknown = true;
	query->marker = marker_of(config, "query_prefix", "[Q] ");
	query->most = length_of(config, "query_length", QUERY);
	document->marker = marker_of(config, "document_prefix", "[D] ");
	document->most = length_of(config, "document_length", DOCUMENT);
	document->skips = true;
	if (words)
		add_words(late, words);
	else
		skip_punctuation(late);
	late->fixed = tree_boolean(config, "do_query_expansion", true);
	late->expanded = late->fixed ? query->most : 0;
	late->attends = tree_boolean(config, "attend_to_expansion_tokens", false);
}

/* colbert-ir. ---------------------------------------------------------------------- */

static void
read_colbert(struct late_interaction *late, const char *folder)
{
	struct tree *config = json_find(folder, "artifact.metadata");
	struct late_side *query = &late->side[LATE_QUERY];
	struct late_side *document = &late->side[LATE_DOCUMENT];

	tree_expect(config, "similarity", "cosine");
	tree_expect(config, "interaction", "colbert");
	late->inside = late->normalizes = late->fixed = true;
	late->strips = late->texts = true;
	late->width = (int)tree_integer_or(config, "dim", 0, 1, 1 << 20);
	query->marker = marker_of(config, "query_token_id", "[unused0]");
	query->most = late->expanded = length_of(config, "query_maxlen", QUERY);
	document->marker = marker_of(config, "doc_token_id", "[unused1]");
	document->most = length_of(config, "doc_maxlen", DOCUMENT);
	document->skips = tree_boolean(config, "mask_punctuation", true);
	late->attends = tree_boolean(config, "attend_to_mask_tokens", false);
	skip_punctuation(late);
	tree_free(config);
}

/* sentence-transformers. ------------------------------------------------------------ */

static void
read_expansion(struct late_interaction *late, const struct tree *config)
{
	static const char *const keys[] = { "strategy", "attend", "token", "length",
		NULL };
	const char *strategy = tree_string(config, "strategy", "");

	if (config->kind != TREE_OBJECT)
		tree_die(config, "'query_expansion' must be an object");
	tree_only(config, keys);
	late->fixed = !strcmp(strategy, "fixed");
	if (!late->fixed && strcmp(strategy, "min"))
		tree_die(config, "'strategy' is '%s'; supported are 'fixed' and 'min'",
		    strategy);
	late->expanded = (size_t)tree_integer_in(config, "length", 1, LONGEST);
	late->attends = tree_boolean(config, "attend", false);
	const char *token = tree_string(config, "token", NULL);
	late->expansion = token ? mem_string(token) : NULL;
}

static void
read_lengths(struct late_interaction *late, const char *folder)
{
	static const char key[] = "query_expansion";
	struct tree *config = sentence_config_read(folder);
	struct late_side *query = &late->side[LATE_QUERY];

	query->most = length_of(config, "query_length", 0);
	late->side[LATE_DOCUMENT].most = length_of(config, "document_length", 0);
	if (tree_get(config, key))
		read_expansion(late, tree_get(config, key));
	if (query->most && query->most < late->expanded)
		tree_die(tree_get(config, key),
		    "'length' is %zu, more than the 'query_length' %zu", late->expanded,
		    query->most);
	if (late->fixed)
		query->most = late->expanded;
	tree_free(config);
}

/* Texts of this task leave out the words of the skiplist. */
static void
skip_role(struct late_interaction *late, const struct tree *task)
{
	enum late_role role = late_role_of(task->string ? task->string : "");

	if (role == LATE_ROLES)
		tree_die(task,
		    "'skiplist_tasks' has '%s'; supported are 'query' and 'document'",
		    task->string ? task->string : "");
	late->side[role].skips = true;
}

static void
read_mask(struct late_interaction *late, const char *folder)
{
	struct tree *config = json_need(folder, "config.json");
	const struct tree *roles = tree_get(config, "skiplist_tasks");
	const struct tree *only = tree_get(config, "keep_only_token_ids");

	if (only && only->count)
		tree_die(only, "'keep_only_token_ids' is not supported; it must be null");
	if (tree_get(config, "skiplist_words"))
		add_words(late, tree_get(config, "skiplist_words"));
	late->side[LATE_DOCUMENT].skips = tree_is_missing(roles);
	if (!tree_is_missing(roles) && roles->kind != TREE_LIST)
		skip_role(late, roles);
	for (size_t i = 0; roles && roles->kind == TREE_LIST && i < roles->count; i++)
		skip_role(late, roles->items[i]);
	tree_free(config);
}

static void
read_sentence(struct late_interaction *late, const char *dir, const char *folder,
    const struct tree *config)
{
	struct modules *modules = modules_read(dir);

	late->mean = !strcmp(tree_string(config, "similarity_fn_name", ""), "meanmaxsim");
	read_lengths(late, folder);
	for (size_t i = 0; modules && i < modules->count; i++)
		if (!strcmp(modules->at[i].type, "MultiVectorMask"))
			read_mask(late, modules->at[i].folder);
	modules_free(modules);
}

/* Which of them. --------------------------------------------------------------------- */

static bool
is_pylate(const struct tree *config)
{
	static const char *const keys[] = { "query_prefix", "document_prefix",
		"query_length", "document_length", "attend_to_expansion_tokens",
		"do_query_expansion", "skiplist_words" };
	const char *type = tree_string(config, "model_type", "SentenceTransformer");
	bool has = !strcmp(type, "ColBERT");

	for (size_t i = 0; i < sizeof keys / sizeof *keys && config; i++)
		has |= !strcmp(type, "SentenceTransformer") && tree_get(config, keys[i]);
	return has;
}

static bool
is_colbert(const char *folder)
{
	struct tree *config = json_find(folder, "config.json");
	const struct tree *names = tree_get(config, "architectures");
	const char *name = names && names->kind == TREE_LIST && names->count
			       ? names->items[0]->string
			       : NULL;
	bool is = name && !strcmp(name, "HF_ColBERT");

	tree_free(config);
	return is;
}

struct late_interaction *
late_interaction_read(const char *dir)
{
	struct tree *config = json_find(dir, sentence_config);
	struct late_interaction *late = mem_zero(1, sizeof *late);
	char *folder = modules_transformer(dir);

	if (!strcmp(tree_string(config, "model_type", ""), "MultiVectorEncoder")) {
		read_sentence(late, dir, folder, config);
	} else if (is_pylate(config)) {
		read_pylate(late, config);
	} else if (is_colbert(folder)) {
		read_colbert(late, folder);
	} else {
		late_interaction_free(late);
		late = NULL;
	}
	free(folder);
	tree_free(config);
	return late;
}

void
late_interaction_free(struct late_interaction *late)
{
	if (!late)
		return;
	for (int i = 0; i < LATE_ROLES; i++)
		free(late->side[i].marker);
	for (size_t i = 0; i < late->count; i++)
		free(late->words[i]);
	free(late->words);
	free(late->expansion);
	free(late);
}
