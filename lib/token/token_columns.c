#include "token/token_columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "folder/prompt.h"
#include "token/frame.h"
#include "token/tokenised.h"

struct token_columns {
	struct tokenise_options *options;
	const struct tokenizer *tokenizer;
	struct frame *frame;
	char *prompt;
	bool forced; /* the prompt is the command line's, not the model's default */
	size_t most;
	int *columns;	       /* [made] of the ids */
	int second;	       /* column, with pairs */
	int *depths;	       /* [made] */
	struct tokenised *ids; /* [made] */
	size_t count;	       /* made */
	struct token_counts counts;
};

struct token_columns *
token_columns_new(struct tokenise_options *options, const struct tokenizer *tokenizer,
    const struct template *template, size_t most)
{
	struct token_columns *made = mem_zero(1, sizeof *made);
	const char *model = options->model;

	made->options = options;
	made->tokenizer = tokenizer;
	made->most = most;
	if (options->pair) {
		pair_demand(tokenizer, most);
		return made;
	}
	made->forced = options->task || options->prompt;
	made->prompt = options->task	 ? prompt_find(model, options->task)
		       : options->prompt ? mem_string(options->prompt)
					 : prompt_default(model);
	made->frame = frame_new(tokenizer, template, options->prepare, most);
	return made;
}

void
token_columns_free(struct token_columns *made)
{
	for (size_t i = 0; i < made->count; i++)
		tokenised_free(&made->ids[i]);
	free(made->ids);
	free(made->columns);
	free(made->depths);
	free(made->prompt);
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

static int
add_ids(struct writer *writer, const char *field, int depth)
{
	char *name = mem_format("%s.ids", field);
	struct column ids = { .name = name, .dtype = DTYPE_I32, .depth = depth };
	int column = stream_add(writer, &ids);

	free(name);
	return column;
}

static void
add_pair(struct token_columns *made, const struct column *columns, struct writer *writer)
{
	const struct text_field_list *fields = &made->options->fields;
	struct column second = { .name = "pair.second", .dtype = DTYPE_I32 };

	for (size_t f = 0; f < fields->count; f++)
		if (columns[fields->items[f]->columns[0]].depth != 1)
			die_usage(
			    "--pair: '%s' has lists of texts; a pair is of two texts",
			    fields->items[f]->name);
	made->columns[0] = add_ids(writer, "pair", 1);
	made->second = stream_add(writer, &second);
}

void
token_columns_add(
    struct token_columns *made, const struct column *columns, struct writer *writer)
{
	const struct text_field_list *fields = &made->options->fields;

	made->count = made->options->pair ? 1 : fields->count;
	made->columns = mem_new(made->count, sizeof *made->columns);
	made->depths = mem_new(made->count, sizeof *made->depths);
	made->ids = mem_zero(made->count, sizeof *made->ids);
	for (size_t f = 0; f < made->count; f++)
		made->depths[f] = columns[fields->items[f]->columns[0]].depth;
	if (made->options->pair) {
		add_pair(made, columns, writer);
		return;
	}
	for (size_t f = 0; f < made->count; f++)
		made->columns[f] =
		    add_ids(writer, fields->items[f]->name, made->depths[f]);
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
die_pair(const struct token_columns *made, const struct token_place *place, int64_t row)
{
	bool refuse = made->options->truncation == PAIR_REFUSE;
	int64_t line = place->lines ? table_line(place->lines, row) : row + 1;
	char *where = place->lines ? mem_format("%s:%lld", place->name, (long long)line)
				   : mem_format("%s: record %lld: row %lld", place->name,
					 (long long)place->number, (long long)line);

	die("%s: %s is longer than %zu tokens; %s", where,
	    refuse ? "the pair" : "the first text of the pair", made->most,
	    refuse ? "leave out --no-truncate, or give more with --max-length"
		   : "--truncation longest_first cuts it");
}

static void
count(struct token_columns *made, const struct tokenised *result, int64_t texts)
{
	made->counts.texts += texts;
	made->counts.cut += result->cut;
	made->counts.repaired += result->repaired;
	for (int64_t i = 0; i < texts; i++)
		made->counts.empty += result->offsets[i] == result->offsets[i + 1];
}

static void
make_field(struct token_columns *made, size_t index, const struct token_place *place,
    const struct record *from, struct record *to)
{
	struct text_field *field = made->options->fields.items[index];
	int depth = made->depths[index];
	struct tokenised *result = &made->ids[index];
	struct array texts = text_field_texts(field, from);
	int64_t lists = depth == 2 ? texts.offsets[0][from->rows] : from->rows;

	set_prompt(made, field->name, to->attributes);
	tokenise_texts(result, made->frame, texts.data, texts.offsets[depth - 1], lists);
	if (result->cut && made->options->refuse)
		die_long(made, field->name, depth, place, result->first_cut);
	count(made, result, lists);
	to->columns[made->columns[index]] = (struct array){ .data = result->ids,
		.offsets = { depth == 2 ? texts.offsets[0] : result->offsets,
		    depth == 2 ? result->offsets : NULL } };
}

static void
make_pair(struct token_columns *made, const struct token_place *place,
    const struct record *from, struct record *to)
{
	struct text_field *const *fields = made->options->fields.items;
	struct tokenised *result = &made->ids[0];
	const struct pair_rules rules = { made->tokenizer, made->most,
		made->options->truncation };

	tokenise_pairs(result, &rules, text_field_texts(fields[0], from),
	    text_field_texts(fields[1], from), from->rows);
	if (result->first_long >= 0)
		die_pair(made, place, result->first_long);
	count(made, result, from->rows);
	to->columns[made->columns[0]] =
	    (struct array){ .data = result->ids, .offsets = { result->offsets } };
	to->columns[made->second].data = result->second;
}

void
token_columns_make(struct token_columns *made, const struct token_place *place,
    const struct record *from, struct record *to)
{
	if (made->options->pair)
		make_pair(made, place, from, to);
	for (size_t f = 0; !made->options->pair && f < made->count; f++)
		make_field(made, f, place, from, to);
}
