#include "token/pretokenizer.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "token/bpe.h"
#include "token/normalizer.h"
#include "token/splitter.h"

/* SPLIT: a splitter.  BLANK: puts a blank before a piece that begins with none.  BYTES: writes bytes as characters.
 * META: writes blanks as another character, and puts it before a piece as BLANK does. */
enum kind { SPLIT, BLANK, BYTES, META };
enum scheme { ALWAYS, FIRST, NEVER };
enum { MOST = 64, SMALL = 256 }; /* most steps; bytes of a buffer on the stack */

struct pretokenizer_step {
	enum kind kind;
	struct splitter *splitter;
	enum split_behaviour behaviour;
	bool invert;
	enum scheme scheme; /* META */
	char mark[4];
	size_t mark_length;
};

struct pretokenizer {
	char *file; /* for messages */
	struct pretokenizer_step *step;
	size_t count, capacity;
};

static void
add(struct pretokenizer *pretokenizer, struct pretokenizer_step step)
{
	pretokenizer->step = mem_grow(pretokenizer->step, &pretokenizer->capacity,
	    pretokenizer->count + 1, sizeof step);
	pretokenizer->step[pretokenizer->count++] = step;
}

static void
add_traits(
    struct pretokenizer *pretokenizer, unsigned traits, enum split_behaviour behaviour)
{
	add(pretokenizer,
	    (struct pretokenizer_step){
		.splitter = splitter_of_traits(traits), .behaviour = behaviour });
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
	add(pretokenizer, (struct pretokenizer_step){
			      .splitter = splitter_of_pattern(node, "pre_tokenizer"),
			      .behaviour = behaviour_of(node, NULL),
			      .invert = tree_boolean(node, "invert", false) });
}

static void
add_bytes(struct pretokenizer *pretokenizer, const struct tree *node)
{
	if (tree_boolean(node, "add_prefix_space", true))
		add(pretokenizer, (struct pretokenizer_step){ .kind = BLANK });
	if (tree_boolean(node, "use_regex", true))
		add(pretokenizer,
		    (struct pretokenizer_step){ .splitter = splitter_of_gpt2() });
	add(pretokenizer, (struct pretokenizer_step){ .kind = BYTES });
}

static enum scheme
scheme_of(const struct tree *node)
{
	static const char *const names[] = { "always", "first", "never" };
	bool before = tree_boolean(node, "add_prefix_space", true); /* in older files */
	const char *name =
	    tree_string(node, "prepend_scheme", before ? "always" : "never");
	int i = 0;

	while (i < 3 && strcmp(name, names[i]))
		i++;
	if (i == 3)
		tree_die(
		    node, "pre_tokenizer: prepend_scheme '%s' is not supported", name);
	if (!before && i != NEVER)
		tree_die(node,
		    "pre_tokenizer: add_prefix_space is false, but prepend_scheme '%s'",
		    name);
	return (enum scheme)i;
}

/* Splits before each mark. */
static void
add_metaspace(struct pretokenizer *pretokenizer, const struct tree *node)
{
	const struct tree *mark = tree_need(node, "replacement");
	struct pretokenizer_step step = {
		.kind = META, .scheme = scheme_of(node), .behaviour = SPLIT_NEXT
	};
	int32_t code;

	if (mark->kind != TREE_STRING || !mark->length ||
	    utf8_decode(mark->string, mark->length, &code) != mark->length)
		tree_die(node, "pre_tokenizer: 'replacement' must be one character");
	memcpy(step.mark, mark->string, mark->length);
	step.mark_length = mark->length;
	for (size_t i = 0; step.scheme == FIRST && i < pretokenizer->count; i++)
		if (pretokenizer->step[i].kind != SPLIT)
			tree_die(node,
			    "pre_tokenizer: prepend_scheme 'first' behind ByteLevel or Metaspace is not supported");
	if (tree_boolean(node, "split", true))
		step.splitter = splitter_of_string(step.mark, step.mark_length);
	add(pretokenizer, step);
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
	} else if (!strcmp(type, "Metaspace")) {
		add_metaspace(pretokenizer, node);
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
		add(pretokenizer,
		    (struct pretokenizer_step){ .splitter = splitter_of_words(),
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

	if (node) {
		pretokenizer->file = mem_string(node->file ? node->file : "tokenizer");
		add_node(pretokenizer, node);
	}
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

bool
pretokenizer_wants_lead(const struct pretokenizer *pretokenizer)
{
	for (size_t i = 0; i < pretokenizer->count; i++)
		if (pretokenizer->step[i].kind == META &&
		    pretokenizer->step[i].scheme == FIRST)
			return true;
	return false;
}

/* The call of one step for a piece: the step calls the next one for each of its results. */
struct pretoken_chain {
	const struct pretokenizer *pretokenizer;
	size_t step;
	const char *lead;     /* end of the text's lead */
	size_t length, *left; /* of the text; bytes that steps may still make of it */
	pretokenizer_piece *each;
	void *context;
};

static pretokenizer_piece go;

/* Counts the bytes that a step made of a piece. */
static void
spend(const struct pretoken_chain *way, size_t bytes)
{
	if (bytes > *way->left)
		die("%s: pre_tokenizer: it makes more than %zu bytes of a text of %zu",
		    way->pretokenizer->file, normalizer_most(way->length), way->length);
	*way->left -= bytes;
}

/* Emits a piece with its marks, whole or split before each mark. */
static bool
go_marked(const struct pretoken_chain *next, const struct pretokenizer_step *step,
    const char *text, size_t length)
{
	bool before =
	    step->scheme == ALWAYS || (step->scheme == FIRST && text < next->lead);
	char small[SMALL], *made = small, *to;
	size_t blanks = 0, width = step->mark_length;

	for (size_t i = 0; i < length; i++)
		blanks += text[i] == ' ';
	before &= text[0] != ' ' && (length < width || memcmp(text, step->mark, width));
	if (before || blanks) {
		size_t room =
		    mem_add(length, mem_multiply(blanks + 1, width, "a text"), "a text");
		made = room > SMALL ? mem_new(room, 1) : small;
		to = made;
		if (before)
			to = mempcpy(to, step->mark, width);
		for (size_t i = 0; i < length; i++)
			if (text[i] == ' ')
				to = mempcpy(to, step->mark, width);
			else
				*to++ = text[i];
		text = made;
		length = (size_t)(to - made);
		spend(next, length);
	}
	bool more = step->splitter ? splitter_split(step->splitter, step->behaviour,
					 false, text, length, go, (void *)next)
				   : go((void *)next, text, length);
	if (made != small)
		free(made);
	return more;
}

static bool
go(void *context, const char *text, size_t length)
{
	const struct pretoken_chain *way = context;
	struct pretoken_chain next = *way;

	if (way->step == way->pretokenizer->count)
		return way->each(way->context, text, length);
	const struct pretokenizer_step *step = &way->pretokenizer->step[next.step++];
	if (step->kind == SPLIT)
		return splitter_split(step->splitter, step->behaviour, step->invert, text,
		    length, go, &next);
	if (step->kind == META)
		return go_marked(&next, step, text, length);
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
	spend(&next, length);
	bool more = go(&next, made, length);
	free(made);
	return more;
}

bool
pretokenizer_run(const struct pretokenizer *pretokenizer, const char *text, size_t length,
    size_t lead, pretokenizer_piece *each, void *context)
{
	size_t left = normalizer_most(length);
	struct pretoken_chain way = { .pretokenizer = pretokenizer,
		.lead = text + lead,
		.length = length,
		.left = &left,
		.each = each,
		.context = context };

	return !length || go(&way, text, length);
}

void
pretokenizer_free(struct pretokenizer *pretokenizer)
{
	for (size_t i = 0; i < pretokenizer->count; i++)
		if (pretokenizer->step[i].splitter)
			splitter_free(pretokenizer->step[i].splitter);
	free(pretokenizer->file);
	free(pretokenizer->step);
	free(pretokenizer);
}
