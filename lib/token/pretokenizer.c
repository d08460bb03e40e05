#include "token/pretokenizer.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "token/bpe.h"
#include "token/splitter.h"

/* A splitter; or a blank put before a piece that begins with none; or bytes as characters. */
enum kind { SPLIT, BLANK, BYTES };
enum { MOST = 64 }; /* steps */

struct step {
	enum kind kind;
	struct splitter *splitter;
	enum split_behaviour behaviour;
	bool invert;
};

struct pretokenizer {
	struct step *step;
	size_t count, capacity;
};

static void
add(struct pretokenizer *pretokenizer, struct step step)
{
	pretokenizer->step = mem_grow(pretokenizer->step, &pretokenizer->capacity,
	    pretokenizer->count + 1, sizeof step);
	pretokenizer->step[pretokenizer->count++] = step;
}

static void
add_traits(
    struct pretokenizer *pretokenizer, unsigned traits, enum split_behaviour behaviour)
{
	add(pretokenizer, (struct step){ .splitter = splitter_of_traits(traits),
			      .behaviour = behaviour });
}

static enum split_behaviour
behaviour_of(const struct tree *node, const char *otherwise)
{
	static const char *const names[] = { "Isolated", "Removed", "MergedWithPrevious",
		"MergedWithNext", "Contiguous" };
	const char *name = tree_string(node, "behavior", otherwise);
	int i = 0;

	while (i < 5 && (!name || strcmp(name, names[i])))
		i++;
	if (i == 5)
		tree_die(node, "pre_tokenizer: behavior '%s' is not supported",
		    name ? name : "");
	return (enum split_behaviour)i;
}

static void
add_split(struct pretokenizer *pretokenizer, const struct tree *node)
{
	const struct tree *pattern = tree_need(node, "pattern"),
			  *text = tree_get(pattern, "String"),
			  *regex = tree_get(pattern, "Regex");
	struct step step = { .behaviour = behaviour_of(node, NULL),
		.invert = tree_boolean(node, "invert", false) };

	if (text && text->kind == TREE_STRING && text->length)
		step.splitter = splitter_of_string(text->string, text->length);
	else if (regex && regex->kind == TREE_STRING)
		step.splitter =
		    splitter_of_regex(node->file, regex->string, regex->length);
	else
		tree_die(node, "pre_tokenizer: the pattern of a Split must be a String, "
			       "not empty, or a Regex");
	add(pretokenizer, step);
}

static void
add_bytes(struct pretokenizer *pretokenizer, const struct tree *node)
{
	if (tree_boolean(node, "add_prefix_space", true))
		add(pretokenizer, (struct step){ .kind = BLANK });
	if (tree_boolean(node, "use_regex", true))
		add(pretokenizer, (struct step){ .splitter = splitter_of_gpt2() });
	add(pretokenizer, (struct step){ .kind = BYTES });
}

static void
add_node(struct pretokenizer *pretokenizer, const struct tree *node)
{
	const char *type = tree_string(node, "type", "");

	if (pretokenizer->count >= MOST)
		tree_die(node, "pre_tokenizer: more than %d steps", MOST);
	if (!strcmp(type, "Sequence")) {
		const struct tree *list = tree_need(node, "pretokenizers");
		for (size_t i = 0; i < list->count; i++)
			add_node(pretokenizer, list->items[i]);
	} else if (!strcmp(type, "ByteLevel")) {
		add_bytes(pretokenizer, node);
	} else if (!strcmp(type, "Split")) {
		add_split(pretokenizer, node);
	} else if (!strcmp(type, "Digits")) {
		add_traits(pretokenizer, UTF8_NUMERIC,
		    tree_boolean(node, "individual_digits", false) ? SPLIT_ISOLATED
								   : SPLIT_CONTIGUOUS);
	} else if (!strcmp(type, "Punctuation")) {
		add_traits(pretokenizer, UTF8_PUNCT, behaviour_of(node, "Isolated"));
	} else if (!strcmp(type, "WhitespaceSplit")) {
		add_traits(pretokenizer, UTF8_SPACE, SPLIT_REMOVED);
	} else if (!strcmp(type, "BertPreTokenizer")) {
		add_traits(pretokenizer, UTF8_SPACE, SPLIT_REMOVED);
		add_traits(pretokenizer, UTF8_PUNCT, SPLIT_ISOLATED);
	} else if (!strcmp(type, "Whitespace")) {
		add(pretokenizer, (struct step){ .splitter = splitter_of_words(),
				      .behaviour = SPLIT_REMOVED,
				      .invert = true });
	} else {
		tree_die(node, "pre_tokenizer: '%s' is not supported", type);
	}
}

struct pretokenizer *
pretokenizer_new(const struct tree *node)
{
	struct pretokenizer *pretokenizer = mem_zero(1, sizeof *pretokenizer);

	if (node)
		add_node(pretokenizer, node);
	return pretokenizer;
}

bool
pretokenizer_leave_bytes(struct pretokenizer *pretokenizer)
{
	if (!pretokenizer->count ||
	    pretokenizer->step[pretokenizer->count - 1].kind != BYTES)
		return false;
	pretokenizer->count--;
	return true;
}

/* A piece on its way through the steps, each of which calls the next for what it makes. */
struct way {
	const struct pretokenizer *pretokenizer;
	size_t step;
	pretokenizer_piece *each;
	void *context;
};

static bool
go(void *context, const char *text, size_t length)
{
	const struct way *way = context;
	struct way next = *way;

	if (way->step == way->pretokenizer->count)
		return way->each(way->context, text, length);
	const struct step *step = &way->pretokenizer->step[next.step++];
	if (step->kind == SPLIT)
		return splitter_split(step->splitter, step->behaviour, step->invert, text,
		    length, go, &next);
	if (step->kind == BLANK && *text == ' ')
		return go(&next, text, length);
	char *made;
	if (step->kind == BYTES) {
		made = bpe_characters(text, length, &length);
	} else {
		made = mem_new(mem_add(length, 1, "a text"), 1);
		made[0] = ' ';
		memcpy(made + 1, text, length++);
	}
	bool more = go(&next, made, length);
	free(made);
	return more;
}

bool
pretokenizer_run(const struct pretokenizer *pretokenizer, const char *text, size_t length,
    pretokenizer_piece *each, void *context)
{
	struct way way = {
		.pretokenizer = pretokenizer, .each = each, .context = context
	};

	return !length || go(&way, text, length);
}

void
pretokenizer_free(struct pretokenizer *pretokenizer)
{
	for (size_t i = 0; i < pretokenizer->count; i++)
		if (pretokenizer->step[i].splitter)
			splitter_free(pretokenizer->step[i].splitter);
	free(pretokenizer->step);
	free(pretokenizer);
}
