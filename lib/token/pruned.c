#include "token/pruned.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strings.h"
#include "folder/modules.h"
#include "text/json.h"
#include "token/tokenizer_parts.h"
#include "token/tokenizer_rules.h"

/* A token of the model, or an added token. */
struct pruned_token {
	int64_t id;
	const struct tree
	    *node; /* its id in an object, [token, score] in a list, or an added token */
	const char *text;
};

/* The tokenizer.json being pruned. */
struct pruning {
	struct tree *root, *model, *vocab, *added;
	const char *unknown, *padding; /* NULL: there is none */
	struct strings *names;	       /* texts of added tokens */
	struct pruned_token *entries;
	size_t count, room;
};

static void
add(struct pruning *choice, int64_t id, const struct tree *node, const char *text)
{
	choice->entries = mem_grow(
	    choice->entries, &choice->room, choice->count + 1, sizeof *choice->entries);
	choice->entries[choice->count++] = (struct pruned_token){ id, node, text };
}

static bool
begins_unused(const char *text)
{
	static const char start[] = "[unused";

	if (strncmp(text, start, strlen(start)))
		return false;
	text += strlen(start);
	size_t digits = strspn(text, "0123456789");
	return digits && text[digits] == ']';
}

static bool
is(const char *name, const char *text)
{
	return name && !strcmp(name, text);
}

static bool
stays(const struct pruning *choice, const char *text)
{
	return is(choice->unknown, text) || is(choice->padding, text) ||
	       (!begins_unused(text) &&
		   strings_find(choice->names, text, strlen(text)) < 0);
}

/* The text of a vocabulary's member, or of an element of a list. */
static const char *
text_of(const struct tree *node)
{
	if (node->key)
		return node->key;
	if (node->kind != TREE_LIST || node->count != 2 ||
	    node->items[0]->kind != TREE_STRING)
		tree_die(node, "an element of 'vocab' must be a token and its score");
	return node->items[0]->string;
}

static int
compare(const void *one, const void *two)
{
	const struct pruned_token *a = one, *b = two;

	return (a->id > b->id) - (a->id < b->id);
}

/* Collects the tokens that stay, sorted by id. */
static void
choose(struct pruning *choice)
{
	struct strings *known = strings_new();
	const struct tree *vocab = choice->vocab, *added = choice->added;

	for (size_t i = 0; i < vocab->count; i++) {
		const struct tree *node = vocab->items[i];
		const char *text = text_of(node);
		strings_add(known, text, strlen(text), NULL);
		if (stays(choice, text))
			add(choice, node->key ? node->integer : (int64_t)i, node, text);
	}
	for (size_t i = 0; added && i < added->count; i++) {
		const char *text = tree_string(added->items[i], "content", "");
		if (strings_find(known, text, strlen(text)) < 0 && stays(choice, text))
			add(choice, tree_integer(added->items[i], "id", 0),
			    added->items[i], text);
	}
	strings_free(known);
	qsort(choice->entries, choice->count, sizeof *choice->entries, compare);
}

static void
read_choice(struct pruning *choice)
{
	struct tree *model = choice->model = tree_need(choice->root, "model");
	struct tree *vocab = choice->vocab = tree_need(model, "vocab");
	int64_t unknown = tree_integer(model, "unk_id", -1);

	if (vocab->kind != TREE_OBJECT && vocab->kind != TREE_LIST)
		tree_die(vocab, "'vocab' is neither an object nor a list");
	choice->added = tree_get(choice->root, "added_tokens");
	choice->padding =
	    tree_string(tree_get(choice->root, "padding"), "pad_token", NULL);
	choice->unknown = tree_string(model, "unk_token", NULL);
	if (vocab->kind == TREE_LIST && unknown >= 0 && unknown < (int64_t)vocab->count)
		choice->unknown = text_of(vocab->items[unknown]);
	choice->names = strings_new();
	for (size_t i = 0; choice->added && i < choice->added->count; i++) {
		const char *text = tree_string(choice->added->items[i], "content", "");
		strings_add(choice->names, text, strlen(text), NULL);
	}
	choose(choice);
	if (!choice->count)
		tree_die(vocab, "'vocab' has no token that would stay");
}

/* The new id of a token; -1: removed. */
static int64_t
number(const struct pruning *choice, const char *text)
{
	for (size_t i = 0; text && i < choice->count; i++)
		if (!strcmp(choice->entries[i].text, text))
			return (int64_t)i;
	return -1;
}

static struct tree *
new_vocabulary(const struct pruning *choice)
{
	bool list = choice->vocab->kind == TREE_LIST;
	struct tree *vocab = list ? tree_list() : tree_object();

	for (size_t i = 0; i < choice->count; i++) {
		const struct pruned_token *entry = &choice->entries[i];
		if (!list) {
			tree_add(vocab, tree_of_integer((int64_t)i))->key = /* unique */
			    mem_string(entry->text);
		} else if (entry->node->kind == TREE_LIST) {
			tree_add(vocab, tree_copy(entry->node));
		} else {
			struct tree *pair = tree_add(vocab, tree_list());
			tree_add(pair, tree_of_string(entry->text));
			tree_add(pair, tree_of_real(0));
		}
	}
	return vocab;
}

static struct tree *
new_added(const struct pruning *choice)
{
	struct tree *list = tree_list();

	for (size_t i = 0; choice->added && i < choice->added->count; i++) {
		const struct tree *node = choice->added->items[i];
		int64_t id = number(choice, tree_string(node, "content", ""));
		if (id >= 0)
			tree_set(
			    tree_add(list, tree_copy(node)), "id", tree_of_integer(id));
	}
	return list;
}

static struct tree *
new_truncation(size_t most)
{
	struct tree *tree = tree_object();

	tree_set(tree, "direction", tree_of_string("Right"));
	tree_set(tree, "max_length", tree_of_integer((int64_t)most));
	tree_set(tree, "strategy", tree_of_string("LongestFirst"));
	tree_set(tree, "stride", tree_of_integer(0));
	return tree;
}

/* Sets add_prefix_space of ByteLevel, also inside a Sequence. */
static void
put_blanks_before(struct tree *before)
{
	struct tree *list = tree_get(before, "pretokenizers");

	if (tokenizer_is_type(before, "ByteLevel"))
		tree_set(before, "add_prefix_space", tree_of_boolean(true));
	for (size_t i = 0; list && i < list->count; i++)
		put_blanks_before(list->items[i]);
}

static void
rewrite(struct pruning *choice, size_t most)
{
	struct tree *root = choice->root, *padding = tree_get(root, "padding");
	struct tree *vocab = new_vocabulary(choice), *added = new_added(choice);

	if (padding) {
		tree_set(
		    padding, "pad_id", tree_of_integer(number(choice, choice->padding)));
		tree_set(tree_set(padding, "strategy", tree_object()), "Fixed",
		    tree_of_integer(0));
	}
	if (tree_get(choice->model, "unk_id"))
		tree_set(choice->model, "unk_id",
		    tree_of_integer(number(choice, choice->unknown)));
	tree_set(root, "added_tokens", added);
	tree_set(root, "truncation", new_truncation(most));
	tree_set(root, "post_processor", tree_of_null());
	if (tree_get(root, "pre_tokenizer"))
		put_blanks_before(tree_get(root, "pre_tokenizer"));
	tree_set(choice->model, "vocab", vocab);
}

struct pruned *
pruned_read(const char *dir, size_t most)
{
	struct pruned *pruned = mem_zero(1, sizeof *pruned);
	char *home = modules_transformer(dir);
	struct pruning choice = { .root = json_need(home, "tokenizer.json") };
	struct tokenizer_settings *settings = tokenizer_settings_read(home);

	tokenizer_rules_apply(choice.root, settings);
	tokenizer_settings_free(settings);
	read_choice(&choice);
	pruned->tokenizer = choice.root;
	pruned->count = choice.count;
	pruned->ids = mem_new(choice.count, sizeof *pruned->ids);
	for (size_t i = 0; i < choice.count; i++)
		pruned->ids[i] = (int32_t)choice.entries[i].id;
	rewrite(&choice, most);
	strings_free(choice.names);
	free(choice.entries);
	free(home);
	return pruned;
}

void
pruned_free(struct pruned *pruned)
{
	tree_free(pruned->tokenizer);
	free(pruned->ids);
	free(pruned);
}
