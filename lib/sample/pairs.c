#include "sample/pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/rng.h"
#include "sample/examples.h"
#include "sample/fields.h"
#include "sample/judgements.h"
#include "sample/labels.h"
#include "sample/task_types.h"

struct pairs {
	const struct recipe_source *source;
	struct examples *sets[SIDES]; /* of files the same one */
	struct fields fields[SIDES], label;
	bool is_set; /* two texts of one field */
	struct numbers
	    rows[SIDES];       /* of the examples; no data: an example's own number */
	struct numbers groups; /* where in the rows each begins, and the last one ends */
	uint64_t part[2];      /* first and last hash of what is taken */
	bool hashed;	       /* the part, or the sample, is not everything */
	int64_t most;	       /* so many examples, in the order of the file */
	int64_t count;
	struct labels *labels;		 /* NULL: they are not asked for */
	struct buffer text;		 /* of a label, or to be hashed */
	struct comparison *mark;	 /* which the type asks for; NULL: none */
	const struct comparison **where; /* what must hold: the recipe's, or the mark */
	int where_count;
	bool *known; /* [where_count] whether any row has what is asked for */
	struct pair pair;
};

/* Which fields. -------------------------------------------------------------------- */

/* The pair of names that the first record has, as the usual files of pairs have them. */
static void
guess_fields(struct pairs *pairs, const struct tree *record)
{
	static const char *const usual[][SIDES] = { { "query", "document" },
		{ "query", "pos" }, { "query", "positive" }, { "anchor", "positive" },
		{ "set", "set" }, { "0", "1" } };
	size_t count = sizeof usual / sizeof *usual, at = 0;

	while (at < count && !(fields_find(record, usual[at][SIDE_QUERY]) &&
				 fields_find(record, usual[at][SIDE_DOCUMENT])))
		at++;
	for (int side = 0; side < SIDES; side++)
		pairs->fields[side].spec = usual[at < count ? at : 0][side];
}

/* The first of a field's names that the record has. */
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

/* As the type has them, where the recipe names none. */
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

/* Texts. --------------------------------------------------------------------------- */

/* A label that is a number says nothing, unless the recipe wants it so. */
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
		    "the label '%s' is a number, not a text; give its 'names', or "
		    "'document: %s' to take it as it is",
		    name, name);
}

static void
append_side(struct pairs *pairs, struct buffer *to, int side, const struct tree *record,
    const struct fields_choice *choice)
{
	const struct task_type *type = pairs->source->type;

	fields_append(to, record, pairs->fields + side, choice);
	if (side == SIDE_DOCUMENT && type && type->worded)
		check_label(pairs, to, record);
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
	append_side(
	    pairs, &pairs->text, side, record, &(struct fields_choice){ .all = true });
	return rng_hash(0, pairs->text.data, pairs->text.used);
}

/* What conditions of a judgement ask. */
static bool
judgement_passes(struct pairs *pairs, const struct judged *judged)
{
	struct tree *record = tree_object();

	tree_set(record, "score", tree_of_integer(judged->grade));
	bool pass = passes(pairs, record);
	tree_free(record);
	return pass;
}

/* Whether `where` and `part` leave row i of a file, or judgement i of a folder. */
static bool
is_candidate(
    struct pairs *pairs, const struct judgements *judgements, int64_t i, uint64_t *hash)
{
	int side = (int)pairs->source->part_by;
	const struct judged *judged = judgements ? judgements->items + i : NULL;

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

/* Of the part so much as has `sample` of the candidates. */
static void
narrow_part(struct pairs *pairs, const struct judgements *judgements, int64_t count)
{
	int64_t sample = pairs->source->sample;
	struct buffer hashes = { 0 };
	uint64_t hash;

	for (int64_t i = 0; i < count; i++)
		if (is_candidate(pairs, judgements, i, &hash))
			buffer_add(&hashes, &hash, sizeof hash);
	if (hashes.used / sizeof hash > (size_t)sample) {
		uint64_t *sorted = (void *)hashes.data;
		qsort(sorted, hashes.used / sizeof hash, sizeof hash, compare_hashes);
		pairs->part[1] = sorted[sample - 1];
	}
	free(hashes.data);
}

/* What rows have in common: the label, of groups the document. */
static void
append_label(struct pairs *pairs, const struct tree *record)
{
	const struct fields_choice first = { .chance = 0 };

	pairs->text.used = 0;
	if (pairs->source->group)
		append_side(pairs, &pairs->text, SIDE_DOCUMENT, record, &first);
	else
		fields_append(&pairs->text, record, &pairs->label, &first);
}

static void
add_labelled(struct pairs *pairs, const struct tree *record, int64_t row)
{
	uint64_t hash = hash_text(pairs, record, SIDE_QUERY);

	append_label(pairs, record);
	labels_add(pairs->labels, pairs->text.data, pairs->text.used, hash, row);
}

static void
select_rows(struct pairs *pairs)
{
	const struct recipe_source *source = pairs->source;
	struct examples *set = pairs->sets[SIDE_QUERY];
	struct numbers *rows = pairs->rows + SIDE_QUERY;
	int64_t taken = 0, count = examples_count(set);
	uint64_t hash;

	if (source->sample < count)
		narrow_part(pairs, NULL, count);
	for (int64_t row = 0; row < count && taken < pairs->most; row++) {
		if (!is_candidate(pairs, NULL, row, &hash))
			continue;
		taken++;
		if (pairs->labels)
			add_labelled(pairs, examples_get(set, row), row);
		else
			numbers_add(rows, row);
	}
	if (source->group)
		labels_group(pairs->labels, source->group, rows, &pairs->groups);
	else if (source->label)
		labels_finish(pairs->labels, source->name, rows);
	pairs->count = (int64_t)(source->group ? pairs->groups.count - 1 : rows->count);
}

static void
open_files(struct pairs *pairs, const char *folder, const char *tmpdir, int64_t max_line)
{
	const struct recipe_source *source = pairs->source;
	struct examples *set = examples_open(source->files, source->file_count, folder,
	    tmpdir, max_line, source->each.names ? &source->each : NULL);
	int64_t count = examples_count(set);

	pairs->sets[SIDE_QUERY] = pairs->sets[SIDE_DOCUMENT] = set;
	set_fields(pairs);
	set_conditions(pairs);
	if (source->label || source->group)
		pairs->labels = labels_new();
	if (pairs->where_count || pairs->labels || pairs->hashed)
		select_rows(pairs);
	else
		pairs->count = count < pairs->most ? count : pairs->most;
}

static void
open_folder(struct pairs *pairs, const char *folder, const char *tmpdir, int64_t max_line)
{
	const struct recipe_source *source = pairs->source;
	struct judgements judgements = judgements_read(source, folder, tmpdir, max_line);
	uint64_t hash;

	memcpy(pairs->sets, judgements.sets, sizeof pairs->sets);
	set_fields(pairs);
	set_conditions(pairs);
	if (source->sample < judgements.count)
		narrow_part(pairs, &judgements, judgements.count);
	for (int64_t i = 0; i < judgements.count && pairs->count < pairs->most; i++) {
		if (!is_candidate(pairs, &judgements, i, &hash))
			continue;
		for (int side = 0; side < SIDES; side++)
			numbers_add(pairs->rows + side, judgements.items[i].row[side]);
		pairs->count++;
	}
	free(judgements.items);
}

/* That there are examples, and conditions ask for what there is. */
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
		    "data set %s: no example is left by 'where: %s', which is its "
		    "type's, or by its 'part'",
		    source->name, comparison_text(pairs->mark));
	if (!pairs->count)
		tree_die(source->node,
		    "data set %s: no example is left by its 'where', 'part' or 'label'",
		    source->name);
}

struct pairs *
pairs_open(const struct recipe_source *source, const char *folder, const char *tmpdir,
    int64_t max_line)
{
	struct pairs *pairs = mem_zero(1, sizeof *pairs);

	pairs->source = source;
	memcpy(pairs->part, source->part, sizeof pairs->part);
	pairs->hashed =
	    source->part[0] || source->part[1] < UINT64_MAX || source->sample < INT64_MAX;
	pairs->most = source->first < source->sample ? source->first : source->sample;
	if (source->beir)
		open_folder(pairs, folder, tmpdir, max_line);
	else
		open_files(pairs, folder, tmpdir, max_line);
	check(pairs);
	return pairs;
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
	const int64_t *rows = pairs->rows[side].data;

	return examples_get(pairs->sets[side], rows ? rows[index] : index);
}

static void
set_text(struct pairs *pairs, int side, const struct tree *record,
    const struct fields_choice *choice)
{
	pairs->pair.text[side].used = 0;
	append_side(pairs, pairs->pair.text + side, side, record, choice);
}

/* Another row's text in place of the document, of the same label as the record. */
static void
set_partner(struct pairs *pairs, const struct tree *record, const uint64_t *chance)
{
	struct pair *pair = &pairs->pair;
	const struct fields_choice all = { .all = true };
	const struct buffer *query = &pair->text[SIDE_QUERY];
	const char *name = pairs->source->name;

	set_text(pairs, SIDE_QUERY, record, &all);
	append_label(pairs, record);
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

/* The queries of the group's rows with line ends between, and their document. */
static void
set_group(struct pairs *pairs, int64_t group)
{
	const int64_t *start = pairs->groups.data + group;
	struct buffer *query = pairs->pair.text + SIDE_QUERY;
	const struct fields_choice all = { .all = true }, first = { .chance = 0 };

	query->used = 0;
	for (int64_t i = start[0]; i < start[1]; i++) {
		const struct tree *record = row_of(pairs, SIDE_QUERY, i);
		if (i == start[0])
			set_text(pairs, SIDE_DOCUMENT, record, &first);
		else
			buffer_add(query, "\n", 1);
		append_side(pairs, query, SIDE_QUERY, record, &all);
	}
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
	if (source->negatives)
		pair->negatives = fields_need(record, source->negatives);
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
		free(pairs->rows[side].data);
		free(pairs->pair.text[side].data);
	}
	if (pairs->labels)
		labels_free(pairs->labels);
	if (pairs->mark)
		comparison_free(pairs->mark);
	free(pairs->groups.data);
	free(pairs->where);
	free(pairs->text.data);
	free(pairs->known);
	free(pairs);
}
