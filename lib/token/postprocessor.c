#include "token/postprocessor.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "token/vocabulary.h"

static void
push_special(struct ids *to, const struct tree *node, const struct tree *id)
{
	if (!id || !tree_is_whole(id) || id->integer < 0 || id->integer >= VOCABULARY_MAX)
		tree_die(node, "post_processor: a special token without a valid id");
	ids_push(to, (int32_t)id->integer);
}

/* The ids of {"SpecialToken": {"id": NAME}}, looked up in "special_tokens". */
static void
push_named(struct ids *to, const struct tree *post, const struct tree *special)
{
	const char *name = tree_need(special, "id")->string;
	const struct tree *entry =
	    name ? tree_get(tree_get(post, "special_tokens"), name) : NULL;
	const struct tree *ids = tree_get(entry, "ids");

	if (!ids || ids->kind != TREE_LIST)
		tree_die(post, "post_processor: special token '%s' has no ids",
		    name ? name : "");
	for (size_t i = 0; i < ids->count; i++)
		push_special(to, post, ids->items[i]);
}

/* "cls": ["[CLS]", 101] */
static void
push_pair(struct ids *to, const struct tree *post, const char *key)
{
	const struct tree *pair = tree_need(post, key);

	push_special(to, post, pair->count == 2 ? pair->items[1] : NULL);
}

static void
read_single(const struct tree *post, struct ids *before, struct ids *after)
{
	const struct tree *single = tree_need(post, "single");
	bool seen = false;

	for (size_t i = 0; i < single->count; i++) {
		const struct tree *special = tree_get(single->items[i], "SpecialToken"),
				  *text = tree_get(single->items[i], "Sequence");
		if (special)
			push_named(seen ? after : before, post, special);
		else if (text && !seen && !strcmp(tree_string(text, "id", "A"), "A"))
			seen = true;
		else
			tree_die(post,
			    "post_processor: its 'single' template is not supported");
	}
	if (!seen)
		tree_die(post,
		    "post_processor: its 'single' template has no place for the text");
}

static const char strange[] =
    "post_processor: its 'pair' template is not supported, a text and a second one, of types 0 and 1";

/* Notes the type of the next part of a pair; `texts` of its texts were before it. */
static void
read_type(const struct tree *part, int texts, struct pair_around *pair)
{
	int64_t type = tree_integer(part, "type_id", 0);

	if (type == 1 && !pair->typed && texts == 1) {
		pair->typed = true;
		pair->first = pair->between.count;
	}
	if (type != pair->typed)
		pair->fault = strange;
}

static void
read_pair(const struct tree *post, struct pair_around *pair)
{
	static const char *const names[] = { "A", "B" };
	const struct tree *list = tree_get(post, "pair");
	struct ids *const parts[] = { &pair->before, &pair->between, &pair->after };
	int texts = 0;

	pair->typed = false;
	for (size_t i = 0; list && i < list->count; i++) {
		const struct tree *special = tree_get(list->items[i], "SpecialToken"),
				  *text = tree_get(list->items[i], "Sequence");
		read_type(special ? special : text, texts, pair);
		if (special)
			push_named(parts[texts], post, special);
		else if (texts < 2 && !strcmp(tree_string(text, "id", ""), names[texts]))
			texts++;
		else
			pair->fault = strange;
	}
	if (texts < 2)
		pair->fault = strange;
}

/* BERT's pair has one separator between the texts and types, RoBERTa's has two and all types 0. */
static void
read_kind(const struct tree *post, bool bert, struct pair_around *pair)
{
	push_pair(&pair->before, post, "cls");
	push_pair(&pair->between, post, "sep");
	if (!bert)
		push_pair(&pair->between, post, "sep");
	push_pair(&pair->after, post, "sep");
	pair->typed = bert;
	pair->first = 1;
}

void
postprocessor_read(const struct tree *node, struct ids *before, struct ids *after,
    struct pair_around *pair)
{
	const char *type = node ? tree_string(node, "type", "") : "ByteLevel";

	if (!strcmp(type, "Sequence")) {
		const struct tree *list = tree_need(node, "processors");
		for (size_t i = 0; i < list->count; i++)
			postprocessor_read(list->items[i], before, after, pair);
		return;
	}
	if (!strcmp(type, "ByteLevel"))
		return;
	if (before->count || after->count)
		tree_die(node,
		    "post_processor: a Sequence in which two steps put tokens around a text is not supported");
	if (!strcmp(type, "BertProcessing") || !strcmp(type, "RobertaProcessing")) {
		push_pair(before, node, "cls");
		push_pair(after, node, "sep");
		read_kind(node, *type == 'B', pair);
	} else if (!strcmp(type, "TemplateProcessing")) {
		read_single(node, before, after);
		read_pair(node, pair);
	} else {
		tree_die(node, "post_processor: '%s' is not supported", type);
	}
}
