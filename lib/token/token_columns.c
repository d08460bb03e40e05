#include "token/token_columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "folder/prompt.h"
#include "token/frame.h"
#include "token/tokenised.h"

/* The columns of a field, or of a pair of fields. */
struct made_column {
	int ids;
	int second;   /* of pairs */
	int attended; /* where the role hides tokens */
	int depth;
	struct tokenised result;
};

struct token_columns {
	struct tokenise_options *options;
	const struct tokenizer *tokenizer;
	const struct template *template; /* NULL: none; borrowed */
	enum frame_prepare prepare;
	struct frame *frame;
	struct pair_template *asks; /* of pairs; NULL: none */
	struct role *role;	    /* NULL: none; borrowed */
	char *prompt;
	bool forced; /* the prompt is the command line's, not the model's default */
	size_t most;
	struct made_column *columns; /* [count] */
	size_t count;
	struct token_counts counts;
	/* pairs of lists: the first texts, each as often as it has pairs, and their offsets */
	char *repeated;
	int64_t *starts;
	size_t repeated_room, starts_room;
};

struct frame *
token_columns_frame(const struct token_columns *made, size_t most)
{
	const struct tokenizer *tokenizer = made->tokenizer;
	struct chat *chat = NULL;

	if (!made->template && !made->prepare)
		chat = chat_open(made->options->model, tokenizer);
	return chat ? frame_new_chat(tokenizer, chat, most)
		    : frame_new(tokenizer, made->template, made->prepare, most);
}

struct token_columns *
token_columns_new(struct tokenise_options *options, const struct tokenizer *tokenizer,
    const struct template *template, struct role *role, size_t most)
{
	struct token_columns *made = mem_zero(1, sizeof *made);
	const char *model = options->model;

	made->options = options;
	made->tokenizer = tokenizer;
	made->most = most;
	made->role = role;
	if (options->pair) {
		made->asks = pair_template_open(model, tokenizer, &options->asking);
		if (made->asks)
			pair_template_demand(made->asks, most);
		else
			pair_demand(tokenizer, most);
		return made;
	}
	made->forced = options->task || options->prompt;
	made->prompt = options->task	 ? prompt_find(model, options->task)
		       : options->prompt ? mem_string(options->prompt)
					 : prompt_default(model);
	bool strips = role && role->strips && !options->prepare;
	made->template = template;
	made->prepare = strips ? FRAME_STRIP : options->prepare;
	made->frame = token_columns_frame(made, role ? most - role->markers : most);
	return made;
}

void
token_columns_free(struct token_columns *made)
{
	for (size_t i = 0; i < made->count; i++)
		tokenised_free(&made->columns[i].result);
	free(made->columns);
	free(made->repeated);
	free(made->starts);
	free(made->prompt);
	pair_template_free(made->asks);
	if (made->frame)
		frame_free(made->frame);
	free(made);
}

const char *
token_columns_prompt(const struct token_columns *made)
{
	return made->prompt;
}

const struct token_counts *
token_columns_counts(const struct token_columns *made)
{
	return &made->counts;
}

/* Columns. ------------------------------------------------------------------------- */

/* Adds a column FIELD.ENDING of i32. */
static int
add_column(struct writer *writer, const char *field, const char *ending, int depth)
{
	char *name = mem_format("%s.%s", field, ending);
	int column = stream_add(
	    writer, &(struct column){ .name = name, .dtype = DTYPE_I32, .depth = depth });

	free(name);
	return column;
}

/* The field of the second texts of a column: all but the first field have one. */
static const struct text_field *
second_of(const struct token_columns *made, size_t index)
{
	return made->options->fields.items[index + (made->options->pair ? 1 : 0)];
}

void
token_columns_add(
    struct token_columns *made, const struct column *columns, struct writer *writer)
{
	const struct text_field_list *fields = &made->options->fields;
	bool pair = made->options->pair;

	made->count = fields->count - pair;
	made->columns = mem_zero(made->count, sizeof *made->columns);
	if (pair && columns[fields->items[0]->columns[0]].depth != 1)
		die_usage("--pair: '%s' has lists of texts; the first field has one text",
		    fields->items[0]->name);
	for (size_t f = 0; f < made->count; f++) {
		const struct text_field *field = second_of(made, f);
		struct made_column *column = &made->columns[f];
		int depth = column->depth = columns[field->columns[0]].depth;
		bool alone = pair && made->count == 1 && depth == 1;
		const char *name = alone ? "pair" : field->name;
		column->ids = add_column(writer, name, "ids", depth);
		if (pair)
			column->second = add_column(writer, name, "second", depth - 1);
		if (made->role && made->role->hides)
			column->attended =
			    add_column(writer, name, "attended", depth - 1);
	}
}

/* Records. ------------------------------------------------------------------------- */

/* A member of an object among the attributes, which is made if need be; NULL takes it away. */
static void
set_attribute(
    struct tree *attributes, const char *object, const char *key, struct tree *value)
{
	struct tree *inner = tree_get(attributes, object);

	if (value)
		tree_set(inner ? inner : tree_set(attributes, object, tree_object()), key,
		    value);
	else if (inner)
		tree_remove(inner, key);
}

/* The prompt of a field: the command line's, else the record's, else the model's default. */
static void
set_prompt(struct token_columns *made, const char *field, struct tree *attributes)
{
	const char *task = made->options->task, *prompt = made->prompt;

	if (!made->forced)
		prompt = tree_string(tree_get(attributes, "prompts"), field, prompt);
	if (task)
		set_attribute(attributes, "experts", field, tree_of_string(task));
	frame_prompt(made->frame, prompt ? prompt : "");
	set_attribute(attributes, "prompts", field,
	    prompt && *prompt ? tree_of_string(prompt) : NULL);
	int64_t head = (int64_t)frame_head(made->frame);
	set_attribute(
	    attributes, "prompt_tokens", field, head ? tree_of_integer(head) : NULL);
}

_Noreturn static void
die_long(const struct token_columns *made, const char *field, int depth,
    const struct token_place *place, int64_t text)
{
	static const char advice[] =
	    "leave out --no-truncate, or give more with --max-length";

	if (place->lines && depth == 1)
		die("%s:%lld: '%s' is longer than %zu tokens; %s", place->name,
		    (long long)table_line(place->lines, text), field, made->most, advice);
	die("%s: record %lld: text %lld of '%s' is longer than %zu tokens; %s",
	    place->name, (long long)place->number, (long long)text + 1, field, made->most,
	    advice);
}

_Noreturn static void
die_pair(const struct token_columns *made, const struct token_place *place, int64_t pair,
    bool listed)
{
	bool refuse = made->options->truncation == PAIR_REFUSE;
	bool lines = place->lines && !listed;
	int64_t line = lines ? table_line(place->lines, pair) : pair + 1;
	char *where = lines ? mem_format("%s:%lld", place->name, (long long)line)
			    : mem_format("%s: record %lld: pair %lld", place->name,
				  (long long)place->number, (long long)line);

	die("%s: %s is longer than %zu tokens; %s", where,
	    refuse ? "the pair" : "the first text of the pair", made->most,
	    refuse ? "leave out --no-truncate, or give more with --max-length"
		   : "--truncation longest_first cuts it");
}

static void
add_counts(struct token_columns *made, const struct tokenised *result, int64_t texts)
{
	made->counts.texts += texts;
	made->counts.cut += result->cut;
	made->counts.repaired += result->repaired;
	for (int64_t i = 0; i < texts; i++)
		made->counts.empty += result->offsets[i] == result->offsets[i + 1];
}

/* Fills in the columns of lists of ids.  outer: offsets of the lists of lists; NULL: each list is a row. */
static void
set_columns(const struct token_columns *made, const struct made_column *column,
    const int64_t *outer, struct record *to)
{
	const struct tokenised *result = &column->result;
	struct array *ids = &to->columns[column->ids];

	*ids = (struct array){ .data = result->ids,
		.offsets = {
		    outer ? outer : result->offsets, outer ? result->offsets : NULL } };
	if (made->options->pair)
		to->columns[column->second] =
		    (struct array){ .data = result->second, .offsets = { outer } };
	if (made->role && made->role->hides)
		to->columns[column->attended] =
		    (struct array){ .data = result->attended, .offsets = { outer } };
}

static void
make_field(struct token_columns *made, size_t index, const struct token_place *place,
    const struct record *from, struct record *to)
{
	struct text_field *field = made->options->fields.items[index];
	struct made_column *column = &made->columns[index];
	int depth = column->depth;
	struct tokenised *result = &column->result;
	struct array texts = text_field_texts(field, from);
	int64_t lists = depth == 2 ? texts.offsets[0][from->rows] : from->rows;

	set_prompt(made, field->name, to->attributes);
	tokenise_texts(result, made->frame, texts.data, texts.offsets[depth - 1], lists);
	if (result->cut && made->options->refuse)
		die_long(made, field->name, depth, place, result->first_cut);
	add_counts(made, result, lists);
	if (made->role)
		role_apply(made->role, result, lists);
	set_columns(made, column, depth == 2 ? texts.offsets[0] : NULL, to);
}

/* The first text of each pair: once for each text of its row's list. */
static struct array
repeat(struct token_columns *made, struct array texts, const int64_t *lists, int64_t rows)
{
	const int64_t *from = texts.offsets[0];
	size_t count = (size_t)lists[rows], bytes = 0;

	for (int64_t i = 0; i < rows; i++)
		bytes += (size_t)((lists[i + 1] - lists[i]) * (from[i + 1] - from[i]));
	made->repeated = mem_grow(made->repeated, &made->repeated_room, bytes + 1, 1);
	made->starts =
	    mem_grow(made->starts, &made->starts_room, count + 1, sizeof *made->starts);
	made->starts[0] = 0;
	for (int64_t i = 0, k = 0; i < rows; i++)
		for (; k < lists[i + 1]; k++) {
			size_t length = (size_t)(from[i + 1] - from[i]);
			if (length)
				memcpy(made->repeated + made->starts[k],
				    (const char *)texts.data + from[i], length);
			made->starts[k + 1] = made->starts[k] + (int64_t)length;
		}
	return (struct array){ .data = made->repeated, .offsets = { made->starts } };
}

static void
make_pairs(struct token_columns *made, size_t index, const struct token_place *place,
    const struct record *from, struct record *to)
{
	struct text_field *const *fields = made->options->fields.items;
	struct made_column *column = &made->columns[index];
	struct tokenised *result = &column->result;
	bool lists = column->depth == 2;
	const struct pair_rules rules = { made->tokenizer, made->most,
		made->options->truncation, made->asks };
	struct array first = text_field_texts(fields[0], from);
	struct array second = text_field_texts(fields[index + 1], from);
	int64_t count = lists ? second.offsets[0][from->rows] : from->rows;

	const int64_t *outer = lists ? second.offsets[0] : NULL;

	if (lists) {
		first = repeat(made, first, outer, from->rows);
		second.offsets[0] = second.offsets[1]; /* its texts */
	}
	tokenise_pairs(result, &rules, first, second, count);
	if (result->first_long >= 0)
		die_pair(made, place, result->first_long, lists);
	add_counts(made, result, count);
	set_columns(made, column, outer, to);
}

void
token_columns_make(struct token_columns *made, const struct token_place *place,
    const struct record *from, struct record *to)
{
	for (size_t f = 0; f < made->count; f++)
		if (made->options->pair)
			make_pairs(made, f, place, from, to);
		else
			make_field(made, f, place, from, to);
}
