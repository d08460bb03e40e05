#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/rng.h"
#include "sample/pairs_internal.h"
#include "sample/task_types.h"

/* Texts. --------------------------------------------------------------------------- */

/* Dies on an empty label, or on a number that the recipe does not ask for. */
static void
check_label(
    const struct pairs *pairs, const struct buffer *label, const struct tree *record)
{
	const struct recipe_source *source = pairs->source;
	const char *name = pairs->fields[SIDE_DOCUMENT].spec;
	double number;

	if (!label->used)
		tree_die(record, "the label '%s' is empty", name);
	if (!source->names && !source->field[SIDE_DOCUMENT] &&
	    number_read(label->data, label->used, &number))
		tree_die(record,
		    "the label '%s' is a number, not a text; give its 'names', or 'document: %s' to take it as it is",
		    name, name);
}

void
pairs_append_side(struct pairs *pairs, struct buffer *to, int side,
    const struct tree *record, const struct fields_choice *choice)
{
	const struct task_type *type = pairs->source->type;

	fields_append(to, record, pairs->fields + side, choice);
	if (side == SIDE_DOCUMENT && type && type->worded)
		check_label(pairs, to, record);
}

void
pairs_set_label(struct pairs *pairs, const struct tree *record)
{
	const struct fields_choice first = { .chance = 0 };

	pairs->text.used = 0;
	if (pairs->source->group)
		pairs_append_side(pairs, &pairs->text, SIDE_DOCUMENT, record, &first);
	else
		fields_append(&pairs->text, record, &pairs->label, &first);
	if (!pairs->text.used)
		tree_die(record, "has no label: field '%s' is empty; leave out such rows",
		    pairs->source->group ? pairs->fields[SIDE_DOCUMENT].spec
					 : pairs->label.spec);
}

/* Examples. ------------------------------------------------------------------------ */

int64_t
pairs_count(const struct pairs *pairs)
{
	return pairs->count;
}

static const struct tree *
row_of(struct pairs *pairs, int side, int64_t index)
{
	struct examples *set = pairs->sets[side];
	int64_t row = pairs->rows ? index_get(pairs->rows, side, index) : index;

	if (row < 0 || row >= examples_count(set))
		index_die(pairs->rows);
	return examples_get(set, row);
}

static void
set_text(struct pairs *pairs, int side, const struct tree *record,
    const struct fields_choice *choice)
{
	pairs->pair.text[side].used = 0;
	pairs_append_side(pairs, pairs->pair.text + side, side, record, choice);
}

/* Sets the query to the record's text and the document to that of another row of the same label. */
static void
set_partner(struct pairs *pairs, const struct tree *record, const uint64_t *chance)
{
	struct pair *pair = &pairs->pair;
	const struct fields_choice all = { .all = true };
	const struct buffer *query = &pair->text[SIDE_QUERY];
	const char *name = pairs->source->name;

	set_text(pairs, SIDE_QUERY, record, &all);
	pairs_set_label(pairs, record);
	int64_t other = labels_other(pairs->labels, pairs->text.data, pairs->text.used,
	    rng_hash(0, query->data, query->used), chance);
	if (other < 0)
		tree_die(record, "changed while it was read");
	pair->labelled = true;
	pair->label =
	    rng_hash(rng_hash(0, name, strlen(name)), pairs->text.data, pairs->text.used);
	set_text(
	    pairs, SIDE_DOCUMENT, examples_get(pairs->sets[SIDE_QUERY], other), &all);
}

/* Sets the query to the group's queries, joined by newlines, and the document to theirs. */
static void
set_group(struct pairs *pairs, int64_t group)
{
	int64_t start = index_get(pairs->rows, GROUPS, group),
		end = index_get(pairs->rows, GROUPS, group + 1);
	struct buffer *query = pairs->pair.text + SIDE_QUERY;
	const struct fields_choice all = { .all = true }, first = { .chance = 0 };

	query->used = 0;
	for (int64_t i = start; i < end; i++) {
		const struct tree *record = row_of(pairs, SIDE_QUERY, i);
		if (i == start)
			set_text(pairs, SIDE_DOCUMENT, record, &first);
		else
			buffer_add(query, "\n", 1);
		pairs_append_side(pairs, query, SIDE_QUERY, record, &all);
	}
}

/* Sets the first max_negatives texts of all fields. */
static void
set_negatives(struct pairs *pairs, const struct tree *record)
{
	const struct recipe_source *source = pairs->source;
	size_t most = (size_t)source->max_negatives, count = 0;

	for (const char **name = source->negatives; name && *name; name++) {
		const struct tree *value = fields_need(record, *name);
		for (size_t i = 0; i < fields_texts(value) && count < most; i++) {
			pairs->negatives = mem_grow(pairs->negatives,
			    &pairs->negatives_room, count + 1, sizeof *pairs->negatives);
			pairs->negatives[count++] =
			    (struct pair_text){ *name, fields_text(value, i), 0 };
		}
	}
	pairs->pair.negatives = pairs->negatives;
	pairs->pair.negative_count = count;
}

/* The number of texts, or numbers, of all fields. */
static size_t
count_all(const struct tree *record, const char *const *names)
{
	size_t count = 0;

	for (; names && *names; names++)
		count += fields_texts(fields_need(record, *names));
	return count;
}

/* Dies unless each negative has a score, also those that max_negatives leaves out: another number may be of other texts. */
static void
check_scores(const struct recipe_source *source, const struct tree *record, size_t scores)
{
	size_t negatives = count_all(record, (const char *const *)source->negatives);

	if (scores != negatives)
		tree_die(record, "has %zu scores of negatives, and %zu negatives", scores,
		    negatives);
}

/* Sets the scores of the pair and of its negatives, in the order of the fields. */
static void
set_scores(struct pairs *pairs, const struct tree *record)
{
	const struct recipe_source *source = pairs->source;
	struct pair *pair = &pairs->pair;
	const char *const *name = (const char *const *)source->negative_scores;
	size_t count = 0;

	if (!source->score)
		return;
	pair->score =
	    fields_number(record, source->score, fields_need(record, source->score)) /
	    source->scale;
	for (; name && *name; name++) {
		const struct tree *value = fields_need(record, *name);
		for (size_t i = 0; i < fields_texts(value); i++, count++)
			if (count < pair->negative_count)
				pairs->negatives[count].score =
				    fields_number(record, *name, fields_text(value, i)) /
				    source->scale;
	}
	if (source->negative_scores)
		check_scores(source, record, count);
}

const struct pair *
pairs_get(struct pairs *pairs, int64_t index, const uint64_t chances[SIDES])
{
	const struct recipe_source *source = pairs->source;
	struct pair *pair = &pairs->pair;

	if (source->group) {
		set_group(pairs, index);
		return pair;
	}
	const struct tree *record = row_of(pairs, SIDE_QUERY, index);
	if (source->label) {
		set_partner(pairs, record, chances ? chances + SIDE_DOCUMENT : NULL);
		return pair;
	}
	for (int side = 0; side < SIDES; side++) {
		bool other = side == SIDE_DOCUMENT && pairs->is_set;
		if (side == SIDE_DOCUMENT && source->beir)
			record = row_of(pairs, side, index);
		set_text(pairs, side, record,
		    &(struct fields_choice){ .chance = chances ? chances[side] : 0,
			.unlike = other ? &pair->text[SIDE_QUERY] : NULL });
	}
	pair->record = record;
	set_negatives(pairs, record);
	set_scores(pairs, record);
	return pair;
}

uint64_t
pair_key(const struct pair *pair, int side)
{
	const struct buffer *text = &pair->text[side];

	return pair->labelled ? pair->label : rng_hash(0, text->data, text->used);
}

int64_t
pairs_repaired(const struct pairs *pairs)
{
	int64_t count = examples_repaired(pairs->sets[SIDE_QUERY]);

	if (pairs->source->beir)
		count += examples_repaired(pairs->sets[SIDE_DOCUMENT]);
	return count;
}

void
pairs_close(struct pairs *pairs)
{
	examples_close(pairs->sets[SIDE_QUERY]);
	if (pairs->source->beir)
		examples_close(pairs->sets[SIDE_DOCUMENT]);
	for (int side = 0; side < SIDES; side++) {
		free(pairs->pair.text[side].data);
	}
	index_close(pairs->rows);
	if (pairs->labels)
		labels_free(pairs->labels);
	if (pairs->mark)
		comparison_free(pairs->mark);
	free(pairs->where);
	free(pairs->text.data);
	free(pairs->known);
	free(pairs->negatives);
	free(pairs);
}
