#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/progress.h"
#include "base/rng.h"
#include "sample/judgements.h"
#include "sample/pairs_internal.h"
#include "sample/task_types.h"
#include "text/json.h"

enum { MANY = 1 << 20 };

/* Which fields. -------------------------------------------------------------------- */

/* Finds the usual pair of field names that the first record has. */
static void
guess_fields(struct pairs *pairs, const struct tree *record)
{
	static const char *const usual[][SIDES] = { { "query", "document" },
		{ "query", "pos" }, { "query", "positive" }, { "anchor", "positive" },
		{ "query", "positive_passages" }, { "messages", "positive_messages" },
		{ "query", "response" }, { "set", "set" }, { "0", "1" } };
	size_t count = sizeof usual / sizeof *usual, at = 0;

	while (at < count && !(fields_find(record, usual[at][SIDE_QUERY]) &&
				 fields_find(record, usual[at][SIDE_DOCUMENT])))
		at++;
	for (int side = 0; side < SIDES; side++)
		pairs->fields[side].spec = usual[at < count ? at : 0][side];
}

/* The first of a field's usual names that the record has; dies if there is none. */
static const char *
find_name(const struct tree *record, const struct task_field *field)
{
	char *names = NULL;

	for (int n = 0; n < TASK_NAMES && field->names[n]; n++) {
		if (fields_find(record, field->names[n])) {
			free(names);
			return field->names[n];
		}
		names = mem_list(names, field->names[n]);
	}
	tree_die(record, "has no %s of type %s (%s); name it by '%s'",
	    field->use == TASK_MARK ? "mark" : recipe_sides[field->use], field->type,
	    names, field->use == TASK_MARK ? "where" : recipe_sides[field->use]);
}

/* Sets the type's fields and condition where the recipe has none. */
static void
set_typed_fields(struct pairs *pairs, const struct tree *record)
{
	const struct recipe_source *source = pairs->source;

	for (int f = 0; f < TASK_FIELDS; f++) {
		const struct task_field *field = task_fields + f;
		if (field->use == TASK_OTHER || strcmp(field->type, source->type->name))
			continue;
		if (field->use < TASK_MARK && !source->field[field->use])
			pairs->fields[field->use].spec = find_name(record, field);
		if (field->use == TASK_MARK && !source->has_where) {
			char *text = mem_format(
			    "%s%s", find_name(record, field), source->type->holds);
			pairs->mark = comparison_new(source->name, text);
			free(text);
		}
	}
}

static void
set_fields(struct pairs *pairs)
{
	const struct recipe_source *source = pairs->source;
	const char *query = source->field[SIDE_QUERY],
		   *document = source->field[SIDE_DOCUMENT];
	struct fields *fields = pairs->fields;

	fields[SIDE_QUERY].spec = query ? query : "query";
	fields[SIDE_DOCUMENT].spec = document ? document : "document";
	fields[SIDE_DOCUMENT].names = source->names;
	pairs->label.spec = source->label;
	if (source->beir) {
		fields[SIDE_QUERY].spec = query ? query : "text";
		if (!document)
			fields[SIDE_DOCUMENT] =
			    (struct fields){ .spec = "title+text", .optional = "title" };
	} else if (source->label) {
		fields[SIDE_QUERY].spec = query ? query : "text";
		fields[SIDE_DOCUMENT] = fields[SIDE_QUERY];
	} else if (source->type) {
		set_typed_fields(pairs, examples_get(pairs->sets[SIDE_QUERY], 0));
	} else if (!query && !document) {
		guess_fields(pairs, examples_get(pairs->sets[SIDE_QUERY], 0));
	}
	pairs->is_set = !source->beir && !source->label && !source->names &&
			!strchr(fields[SIDE_QUERY].spec, '+') &&
			!strcmp(fields[SIDE_QUERY].spec, fields[SIDE_DOCUMENT].spec);
}

/* Is the field named like negatives in files of triples, or does it follow two texts of a list? */
static bool
may_be_negatives(const struct pairs *pairs, const struct tree *record, size_t index)
{
	static const char *const beginnings[] = { "neg", "hard_neg", "hardneg",
		"rejected" };
	const struct tree *value = record->items[index];

	/* numbers are scores of negatives */
	if (value->kind == TREE_LIST && value->count)
		value = value->items[0];
	if (value->kind == TREE_INTEGER || value->kind == TREE_REAL)
		return false;
	if (record->kind == TREE_LIST)
		return index > 1 && !pairs->source->field[SIDE_QUERY];
	for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
		if (!strncasecmp(
			record->items[index]->key, beginnings[i], strlen(beginnings[i])))
			return true;
	return false;
}

static bool
is_number(const struct tree *value)
{
	double number;

	return value->kind == TREE_INTEGER || value->kind == TREE_REAL ||
	       value->kind == TREE_BOOL ||
	       (value->kind == TREE_STRING &&
		   number_read(value->string, value->length, &number));
}

/* Without field names in the recipe: warns of a row's own instruction, and of a mark that may say that a row is no pair. */
static void
tell_guessed(const struct pairs *pairs, const struct tree *record)
{
	static const char *const marks[] = { "label", "score" };
	const struct recipe_source *source = pairs->source;
	const char *query = pairs->fields[SIDE_QUERY].spec;

	if (fields_find(record, "prompt"))
		warn(
		    "data set %s: field prompt is not used; give 'query: prompt+%s', or 'query: %s' to leave it out",
		    source->name, query, query);
	for (size_t i = 0; i < 2 && !source->has_where; i++) {
		const struct tree *mark = fields_find(record, marks[i]);
		if (mark && is_number(mark))
			warn(
			    "data set %s: every row is a pair, whatever its field %s says; give 'where: %s>0' or another condition, or 'where: []' to take all",
			    source->name, marks[i], marks[i]);
	}
}

/* Warns of fields that the recipe does not use and that would change what is learned. */
static void
tell_unused(const struct pairs *pairs, const struct tree *record)
{
	const struct recipe_source *source = pairs->source;
	bool several = false;
	char *names = NULL;

	if (source->label || source->group || source->type)
		return;
	for (size_t i = 0; i < record->count && source->max_negatives; i++) {
		if (source->negatives || !may_be_negatives(pairs, record, i))
			continue;
		char *name = record->kind == TREE_LIST
				 ? mem_format("%zu", i)
				 : mem_string(record->items[i]->key);
		several = names;
		names = mem_list(names, name);
		free(name);
	}
	if (names)
		warn(
		    "data set %s: hard negatives are not used: field%s %s; give 'negatives: %s%s%s', or 'max_negatives: 0' to leave them out",
		    source->name, several ? "s" : "", names, several ? "[" : "", names,
		    several ? "]" : "");
	free(names);
	if (record->kind == TREE_OBJECT && !source->field[SIDE_QUERY] &&
	    !source->field[SIDE_DOCUMENT])
		tell_guessed(pairs, record);
}

static void
set_conditions(struct pairs *pairs)
{
	const struct recipe_source *source = pairs->source;
	int count = pairs->where_count = source->where_count + (pairs->mark != NULL);

	pairs->known = mem_zero((size_t)count + 1, sizeof *pairs->known);
	pairs->where = mem_zero((size_t)count + 1, sizeof *pairs->where);
	for (int i = 0; i < count; i++)
		pairs->where[i] = pairs->mark ? pairs->mark : source->where[i];
}

/* Which examples. ------------------------------------------------------------------ */

static bool
passes(struct pairs *pairs, const struct tree *record)
{
	bool pass = true, holds;

	for (int i = 0; i < pairs->where_count; i++) {
		const struct comparison *where = pairs->where[i];
		const struct tree *value = fields_find(record, comparison_name(where));
		pairs->known[i] |= value != NULL;
		if (!comparison_of_tree(where, value, &holds))
			tree_die(record,
			    "field '%s' is not a number, which '%s' asks for",
			    comparison_name(where), comparison_text(where));
		pass &= holds;
	}
	return pass;
}

static uint64_t
hash_text(struct pairs *pairs, const struct tree *record, int side)
{
	pairs->text.used = 0;
	pairs_append_side(
	    pairs, &pairs->text, side, record, &(struct fields_choice){ .all = true });
	return rng_hash(0, pairs->text.data, pairs->text.used);
}

/* Do the conditions hold for a judgement, whose field is "score"? */
static bool
judgement_passes(struct pairs *pairs, const struct judged *judged)
{
	struct tree *record = tree_object();

	tree_set(record, "score", tree_of_integer(judged->grade));
	bool pass = passes(pairs, record);
	tree_free(record);
	return pass;
}

/* Do `where` and `part` keep row i of a file, or judgement i of a folder? */
static bool
is_candidate(
    struct pairs *pairs, const struct judgements *judgements, int64_t i, uint64_t *hash)
{
	int side = (int)pairs->source->part_by;
	const struct judged *judged = judgements ? judgements->items + i : NULL;

	if (pairs->progress)
		progress_add(pairs->progress, 1);
	if (judged && pairs->where_count && !judgement_passes(pairs, judged))
		return false;
	if (judged && !pairs->hashed)
		return true;
	const struct tree *record =
	    examples_get(pairs->sets[side], judged ? judged->row[side] : i);
	if (!judged && !passes(pairs, record))
		return false;
	*hash = pairs->hashed ? hash_text(pairs, record, side) : 0;
	return *hash >= pairs->part[0] && *hash <= pairs->part[1];
}

static int
compare_hashes(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Keeps the `count` smallest hashes; returns the greatest of them. */
static uint64_t
keep_least(struct buffer *hashes, size_t count)
{
	uint64_t *sorted = (void *)hashes->data;

	qsort(sorted, hashes->used / sizeof *sorted, sizeof *sorted, compare_hashes);
	hashes->used = count * sizeof *sorted;
	return sorted[count - 1];
}

/* Narrows the part to `sample` of the candidates; keeps at most twice as many hashes. */
static void
narrow_part(struct pairs *pairs, const struct judgements *judgements, int64_t count)
{
	size_t sample = (size_t)pairs->source->sample;
	struct buffer hashes = { 0 };
	uint64_t hash;

	for (int64_t i = 0; i < count; i++) {
		if (!is_candidate(pairs, judgements, i, &hash))
			continue;
		buffer_add(&hashes, &hash, sizeof hash);
		if (hashes.used / sizeof hash >= 2 * sample)
			pairs->part[1] = keep_least(&hashes, sample);
	}
	if (hashes.used / sizeof hash > sample)
		pairs->part[1] = keep_least(&hashes, sample);
	free(hashes.data);
}

static void
add_labelled(struct pairs *pairs, const struct tree *record, int64_t row)
{
	uint64_t hash = hash_text(pairs, record, SIDE_QUERY);

	pairs_set_label(pairs, record);
	labels_add(pairs->labels, pairs->text.data, pairs->text.used, hash, row);
}

static void
add_list(struct pairs *pairs, struct numbers *list)
{
	for (size_t i = 0; i < list->count; i++)
		index_add(pairs->rows, list->data[i]);
	free(list->data);
}

/* Adds the rows of the labels that were added. */
static void
add_by_label(struct pairs *pairs)
{
	const struct recipe_source *source = pairs->source;
	struct numbers rows = { 0 }, groups = { 0 };

	if (source->group)
		labels_group(pairs->labels, source->group, &rows, &groups);
	else
		labels_finish(pairs->labels, source->name, &rows);
	add_list(pairs, &rows);
	index_next(pairs->rows);
	index_next(pairs->rows);
	add_list(pairs, &groups);
}

static void
select_rows(struct pairs *pairs)
{
	const struct recipe_source *source = pairs->source;
	struct examples *set = pairs->sets[SIDE_QUERY];
	int64_t taken = 0, count = examples_count(set);
	bool sampled = source->sample < count;
	uint64_t hash;

	if (source->label || source->group)
		pairs->labels = labels_new();
	if (count > MANY)
		pairs->progress = progress_new("rows read", count * (1 + sampled));
	if (sampled)
		narrow_part(pairs, NULL, count);
	for (int64_t row = 0; row < count && taken < pairs->most; row++) {
		if (!is_candidate(pairs, NULL, row, &hash))
			continue;
		taken++;
		if (pairs->labels)
			add_labelled(pairs, examples_get(set, row), row);
		else
			index_add(pairs->rows, row);
	}
	if (pairs->labels)
		add_by_label(pairs);
	progress_free(pairs->progress);
	pairs->progress = NULL;
}

/* Dies if there are no examples, or no row has a condition's field. */
static void
check(struct pairs *pairs)
{
	const struct recipe_source *source = pairs->source;

	for (int i = 0; i < pairs->where_count; i++)
		if (!pairs->known[i])
			tree_die(source->node,
			    "data set %s: no row has a field '%s', which '%s' asks for",
			    source->name, comparison_name(pairs->where[i]),
			    comparison_text(pairs->where[i]));
	if (!pairs->count && pairs->mark)
		tree_die(source->node,
		    "data set %s: no example is left by 'where: %s', which is its type's, or by its 'part'",
		    source->name, comparison_text(pairs->mark));
	if (!pairs->count)
		tree_die(source->node,
		    "data set %s: no example is left by its 'where', 'part' or 'label'",
		    source->name);
}

/* Hash of the recipe's keys that choose rows. */
static uint64_t
hash_words(const struct tree *node)
{
	static const char *const others = " name file weight negatives max_negatives ";
	uint64_t hash = 0;

	for (size_t i = 0; i < node->count; i++) {
		const char *key = node->items[i]->key;
		if (cli_listed(others, key))
			continue;
		char *text = json_text(node->items[i], 0);
		hash = rng_hash(hash, key, strlen(key) + 1);
		hash = rng_hash(hash, text, strlen(text) + 1);
		free(text);
	}
	return hash;
}

static void
count_rows(struct pairs *pairs)
{
	pairs->count = pairs->source->group ? index_count(pairs->rows, GROUPS) - 1
					    : index_count(pairs->rows, SIDE_QUERY);
}

/* Chooses the rows that are examples, or reads them from the folder for indices. */
static void
choose_rows(struct pairs *pairs, const char *folder)
{
	const struct recipe_source *source = pairs->source;
	uint64_t key = hash_words(source->node), state = key;
	bool keep = folder && !source->label &&
		    examples_identify(pairs->sets[SIDE_QUERY], &key, &state);
	char *path = keep ? index_path(folder, source->name, key) : NULL;
	struct lock *lock = NULL;

	pairs->rows = keep ? index_find(path, state, &lock) : NULL;
	if (pairs->rows) {
		count_rows(pairs);
	} else {
		pairs->rows = index_create(path, state);
		select_rows(pairs);
		count_rows(pairs);
		check(pairs);
		index_finish(pairs->rows);
	}
	lock_end(lock);
	free(path);
}

static void
open_files(struct pairs *pairs, const struct examples_options *options)
{
	const struct recipe_source *source = pairs->source;
	struct examples *set = examples_open(source->files, source->file_count, options,
	    source->each.names ? &source->each : NULL);
	int64_t count = examples_count(set);

	pairs->sets[SIDE_QUERY] = pairs->sets[SIDE_DOCUMENT] = set;
	set_fields(pairs);
	tell_unused(pairs, examples_get(set, 0));
	set_conditions(pairs);
	if (pairs->where_count || source->label || source->group || pairs->hashed)
		choose_rows(pairs, options->index);
	else
		pairs->count = count < pairs->most ? count : pairs->most;
}

static void
open_folder(struct pairs *pairs, const struct examples_options *options)
{
	const struct recipe_source *source = pairs->source;
	struct judgements judgements = judgements_read(source, options);
	struct numbers documents = { 0 };
	uint64_t hash;

	memcpy(pairs->sets, judgements.sets, sizeof pairs->sets);
	set_fields(pairs);
	set_conditions(pairs);
	pairs->rows = index_create(NULL, 0);
	if (source->sample < judgements.count)
		narrow_part(pairs, &judgements, judgements.count);
	for (int64_t i = 0; i < judgements.count && pairs->count < pairs->most; i++) {
		if (!is_candidate(pairs, &judgements, i, &hash))
			continue;
		index_add(pairs->rows, judgements.items[i].row[SIDE_QUERY]);
		numbers_add(&documents, judgements.items[i].row[SIDE_DOCUMENT]);
		pairs->count++;
	}
	index_next(pairs->rows);
	add_list(pairs, &documents);
	index_finish(pairs->rows);
	free(judgements.items);
	check(pairs);
}

struct pairs *
pairs_open(const struct recipe_source *source, const struct examples_options *options)
{
	struct pairs *pairs = mem_zero(1, sizeof *pairs);

	pairs->source = source;
	memcpy(pairs->part, source->part, sizeof pairs->part);
	pairs->hashed =
	    source->part[0] || source->part[1] < UINT64_MAX || source->sample < INT64_MAX;
	pairs->most = source->first < source->sample ? source->first : source->sample;
	if (source->beir)
		open_folder(pairs, options);
	else
		open_files(pairs, options);
	return pairs;
}
