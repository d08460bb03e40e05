#include "sample/collate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "sample/fields.h"
#include "stream/text_column.h"

enum { NEGATIVES = SIDES, FIELDS };
static const char *const fields[] = { "query", "document", "negatives" };

struct collate {
	const struct recipe *recipe;
	struct pairs *const *sets;
	struct writer *out;
	bool in_order, prefix; /* prefix: prompts are put before the texts here */
	int text[FIELDS], key[FIELDS], dataset, task,
	    expert[SIDES]; /* columns; -1: none */
	struct text_column texts[FIELDS], datasets, tasks, experts[SIDES];
	int score[FIELDS];		    /* columns of floats; -1: none */
	struct buffer scores[FIELDS];	    /* of documents, of negatives */
	struct numbers keys[FIELDS], lists; /* lists: where each row's negatives end */
};

static void
add_name(struct text_column *texts, const char *name)
{
	text_column_add(texts, name ? name : "", name ? strlen(name) : 0);
}

/* The random number of an example in this pass. */
static uint64_t
chance_of(const struct collate *collate, const struct example *example)
{
	uint64_t words[] = { (uint64_t)example->source, (uint64_t)example->index,
		(uint64_t)example->pass };

	return rng_hash(collate->recipe->seed, words, sizeof words);
}

static const struct pair *
pair_of(const struct collate *collate, const struct example *example)
{
	uint64_t chance = chance_of(collate, example);
	uint64_t chances[SIDES];

	for (int side = 0; side < SIDES; side++)
		chances[side] = rng_hash(chance, &side, sizeof side);
	return pairs_get(collate->sets[example->source], example->index,
	    collate->in_order ? NULL : chances);
}

void
collate_keys(void *context, const struct example *example, uint64_t keys[SIDES])
{
	const struct pair *pair = pair_of(context, example);

	for (int side = 0; side < SIDES; side++)
		keys[side] = pair_key(pair, side);
}

static size_t
begin_text(struct collate *collate, int field, const struct recipe_task *task)
{
	struct text_column *texts = collate->texts + field;
	const char *prompt =
	    task->prompt[field == SIDE_QUERY ? SIDE_QUERY : SIDE_DOCUMENT];

	if (collate->prefix && prompt)
		buffer_add(&texts->bytes, prompt, strlen(prompt));
	return texts->bytes.used;
}

static void
add_score(struct collate *collate, int field, double score)
{
	float value = (float)score;

	if (collate->score[field] >= 0)
		buffer_add(&collate->scores[field], (const char *)&value, sizeof value);
}

static void
add_negatives(
    struct collate *collate, const struct recipe_source *source, const struct pair *pair)
{
	struct text_column *texts = collate->texts + NEGATIVES;

	for (size_t i = 0; i < pair->negative_count; i++) {
		size_t start =
		    begin_text(collate, NEGATIVES, collate->recipe->tasks + source->task);
		fields_append_value(&texts->bytes, pair->record, pair->negatives[i].field,
		    pair->negatives[i].value);
		if (collate->key[NEGATIVES] >= 0)
			numbers_add(collate->keys + NEGATIVES,
			    (int64_t)rng_hash(
				0, texts->bytes.data + start, texts->bytes.used - start));
		text_column_end(texts);
		add_score(collate, NEGATIVES, pair->negatives[i].score);
	}
	numbers_add(&collate->lists, (int64_t)texts->offsets.count - 1);
}

/* Sets the expert of each side, NULL for none; of a list `chance` draws one for both sides. */
static void
experts_for(const struct recipe_task *task, uint64_t chance, const char *experts[SIDES])
{
	for (int side = 0; side < SIDES; side++)
		experts[side] =
		    task->drawn ? task->drawn->items[chance % task->drawn->count]->string
				: task->expert[side];
}

static void
add_row(struct collate *collate, const struct example *example)
{
	const struct recipe_source *source = collate->recipe->sources + example->source;
	const struct recipe_task *task = collate->recipe->tasks + source->task;
	const struct pair *pair = pair_of(collate, example);
	const char *experts[SIDES];

	experts_for(task, chance_of(collate, example), experts);
	for (int side = 0; side < SIDES; side++) {
		struct text_column *texts = collate->texts + side;
		begin_text(collate, side, task);
		buffer_add(&texts->bytes, pair->text[side].data, pair->text[side].used);
		text_column_end(texts);
		if (collate->key[side] >= 0)
			numbers_add(collate->keys + side, (int64_t)pair_key(pair, side));
		add_name(collate->experts + side, experts[side]);
	}
	add_score(collate, SIDE_DOCUMENT, pair->score);
	if (collate->text[NEGATIVES] >= 0)
		add_negatives(collate, source, pair);
	add_name(&collate->datasets, source->name);
	add_name(&collate->tasks, task->name);
}

/* Is a setting the same for all tasks, on both sides? */
static bool
is_common(
    const struct recipe *recipe, const char *const *(*of)(const struct recipe_task *))
{
	for (int t = 1; t < recipe->task_count; t++)
		for (int side = 0; side < SIDES; side++) {
			const char *a = of(recipe->tasks)[side],
				   *b = of(recipe->tasks + t)[side];
			if (!a != !b || (a && strcmp(a, b)))
				return false;
		}
	return true;
}

static const char *const *
prompts_of(const struct recipe_task *task)
{
	return task->prompt;
}

static const char *const *
experts_of(const struct recipe_task *task)
{
	return task->expert;
}

static bool
has_common_experts(const struct recipe *recipe)
{
	for (int t = 0; t < recipe->task_count; t++)
		if (recipe->tasks[t].drawn)
			return false;
	return is_common(recipe, experts_of);
}

static int
add_column(
    struct writer *out, enum dtype dtype, int depth, const char *name, const char *suffix)
{
	char full[64];

	snprintf(full, sizeof full, "%s%s", name, suffix);
	return stream_add(out, &(struct column){ .name = full,
				   .dtype = dtype,
				   .text = dtype == DTYPE_U8,
				   .depth = depth });
}

/* Dies unless all data sets have scores, or none. */
static void
add_score_columns(struct collate *collate)
{
	const struct recipe *recipe = collate->recipe;
	const struct recipe_source *first = recipe->sources;

	for (int s = 1; s < recipe->source_count; s++) {
		const struct recipe_source *source = first + s;
		if (!source->score != !first->score ||
		    (source->negatives && first->negatives &&
			!source->negative_scores != !first->negative_scores))
			tree_die(source->node,
			    "the data sets '%s' and '%s' are drawn together: give both a 'score', and their negatives 'negative_scores', or neither",
			    first->name, source->name);
	}
	bool negatives = false;
	for (int s = 0; s < recipe->source_count; s++)
		negatives |= first[s].negative_scores != NULL;
	if (first->score)
		collate->score[SIDE_DOCUMENT] = add_column(
		    collate->out, DTYPE_F32, 0, fields[SIDE_DOCUMENT], ".score");
	if (negatives && collate->text[NEGATIVES] >= 0)
		collate->score[NEGATIVES] =
		    add_column(collate->out, DTYPE_F32, 1, fields[NEGATIVES], ".score");
}

static void
add_columns(struct collate *collate)
{
	const struct recipe *recipe = collate->recipe;
	struct writer *out = collate->out;
	bool keys = recipe->duplicates != DUPLICATES_KEEP, negatives = false,
	     mixes = collate->in_order;

	for (int s = 0; s < recipe->source_count; s++) {
		const struct recipe_task *task = recipe->tasks + recipe->sources[s].task;
		negatives |=
		    recipe->sources[s].negatives && recipe->sources[s].max_negatives > 0;
		mixes |= (task->batching == BATCHING_HETEROGENEOUS &&
			  task->last - task->first > 1);
	}
	mixes |= recipe->is_static && recipe->source_count > 1;
	for (int field = 0; field < FIELDS - !negatives; field++)
		collate->text[field] = add_column(
		    out, DTYPE_U8, 1 + (field == NEGATIVES), fields[field], "");
	for (int field = 0; field < FIELDS - !negatives && keys; field++)
		collate->key[field] =
		    add_column(out, DTYPE_I64, field == NEGATIVES, fields[field], ".key");
	add_score_columns(collate);
	if (mixes)
		collate->dataset = add_column(out, DTYPE_U8, 1, "dataset", "");
	if (!recipe->is_static || collate->in_order || recipe->task_count == 1)
		return;
	collate->task = add_column(out, DTYPE_U8, 1, "task", "");
	collate->prefix = !is_common(recipe, prompts_of);
	for (int side = 0; side < SIDES && !has_common_experts(recipe); side++)
		collate->expert[side] =
		    add_column(out, DTYPE_U8, 1, fields[side], ".expert");
}

struct collate *
collate_new(const struct recipe *recipe, struct pairs *const *sets, struct writer *out,
    bool in_order)
{
	struct collate *collate = mem_zero(1, sizeof *collate);

	collate->recipe = recipe;
	collate->sets = sets;
	collate->out = out;
	collate->in_order = in_order;
	for (int field = 0; field < FIELDS; field++)
		collate->text[field] = collate->key[field] = collate->score[field] = -1;
	collate->dataset = collate->task = collate->expert[0] = collate->expert[1] = -1;
	/* dies of a wrong field now, not at the first batch of the data set */
	for (int s = 0; s < recipe->source_count; s++)
		pairs_get(sets[s], 0, NULL);
	if (out)
		add_columns(collate);
	return collate;
}

/* Sets an attribute to an object with a text for each column; `otherwise` for sides without one, NULL: none. */
static void
set_sides(struct collate *collate, struct tree *attributes, const char *name,
    const char *const sides[SIDES], const char *otherwise)
{
	struct tree *object = tree_object();

	for (int field = 0; field < FIELDS; field++) {
		const char *text =
		    sides[field == SIDE_QUERY ? SIDE_QUERY : SIDE_DOCUMENT];
		text = text ? text : otherwise;
		if (text && collate->text[field] >= 0)
			tree_set(object, fields[field], tree_of_string(text));
	}
	if (object->count)
		tree_set(attributes, name, object);
	else
		tree_free(object);
}

static void
set_attributes(struct collate *collate, struct tree *attributes, const struct draw *draw)
{
	const struct recipe *recipe = collate->recipe;
	const struct recipe_task *task =
	    recipe->tasks + (draw->task < 0 ? 0 : draw->task);
	double temperature = recipe->is_static ? recipe->temperature : task->temperature;
	const char *const no_prompts[SIDES] = { NULL };

	tree_set(attributes, "step", tree_of_integer(draw->step));
	tree_set(attributes, "epoch", tree_of_integer(draw->epoch));
	if (draw->task >= 0)
		tree_set(attributes, "task", tree_of_string(task->name));
	if (draw->source >= 0)
		tree_set(attributes, "dataset",
		    tree_of_string(recipe->sources[draw->source].name));
	if (temperature > 0)
		tree_set(attributes, "temperature", tree_of_real(temperature));
	/* "" tells tok to leave out the model's default prompt as well */
	if (collate->prefix)
		set_sides(collate, attributes, "prompts", no_prompts, "");
	else if (task->prompt[SIDE_QUERY] || task->prompt[SIDE_DOCUMENT])
		set_sides(collate, attributes, "prompts", task->prompt, "");
	if (collate->expert[0] < 0) {
		const char *experts[SIDES];
		experts_for(task, rng_hash(recipe->seed, &draw->step, sizeof draw->step),
		    experts);
		set_sides(collate, attributes, "experts", experts, NULL);
	}
}

static void
set_text(struct record *record, int column, const struct text_column *texts)
{
	if (column >= 0)
		record->columns[column] = text_column_array(texts);
}

static void
clear(struct collate *collate)
{
	for (int field = 0; field < FIELDS; field++) {
		text_column_clear(collate->texts + field);
		collate->keys[field].count = 0;
		collate->scores[field].used = 0;
	}
	for (int side = 0; side < SIDES; side++)
		text_column_clear(collate->experts + side);
	text_column_clear(&collate->datasets);
	text_column_clear(&collate->tasks);
	collate->lists.count = 0;
	numbers_add(&collate->lists, 0);
}

void
collate_put(
    struct collate *collate, const struct draw *draw, const struct rank_slice *slice)
{
	int64_t first = slice_start(slice, draw->rows),
		last = slice_end(slice, draw->rows);

	clear(collate);
	for (int64_t row = first; row < last; row++)
		add_row(collate, draw->examples + row);

	struct record *record = stream_make(collate->out, NULL);
	record->rows = last - first;
	set_attributes(collate, record->attributes, draw);
	if (slice->ranks > 1 && !collate->in_order) {
		tree_set(record->attributes, "first_row", tree_of_integer(first));
		tree_set(record->attributes, "batch_rows", tree_of_integer(draw->rows));
		char *sum =
		    mem_format("%016" PRIx64, sampler_checksum(draw, 0, draw->rows));
		tree_set(record->attributes, "batch_checksum", tree_of_string(sum));
		free(sum);
	}
	for (int side = 0; side < SIDES; side++) {
		set_text(record, collate->text[side], collate->texts + side);
		set_text(record, collate->expert[side], collate->experts + side);
		if (collate->key[side] >= 0)
			record->columns[collate->key[side]].data =
			    collate->keys[side].data;
	}
	if (collate->score[SIDE_DOCUMENT] >= 0)
		record->columns[collate->score[SIDE_DOCUMENT]].data =
		    collate->scores[SIDE_DOCUMENT].data;
	if (collate->score[NEGATIVES] >= 0)
		record->columns[collate->score[NEGATIVES]] =
		    (struct array){ .offsets = { collate->lists.data },
			    .data = collate->scores[NEGATIVES].data };
	set_text(record, collate->dataset, &collate->datasets);
	set_text(record, collate->task, &collate->tasks);
	if (collate->text[NEGATIVES] >= 0)
		record->columns[collate->text[NEGATIVES]] =
		    (struct array){ .offsets = { collate->lists.data,
					collate->texts[NEGATIVES].offsets.data },
			    .data = collate->texts[NEGATIVES].bytes.data };
	if (collate->key[NEGATIVES] >= 0)
		record->columns[collate->key[NEGATIVES]] =
		    (struct array){ .offsets = { collate->lists.data },
			    .data = collate->keys[NEGATIVES].data };
	stream_put(collate->out, record);
}

void
collate_free(struct collate *collate)
{
	for (int field = 0; field < FIELDS; field++) {
		text_column_free(collate->texts + field);
		free(collate->keys[field].data);
		free(collate->scores[field].data);
	}
	for (int side = 0; side < SIDES; side++)
		text_column_free(collate->experts + side);
	text_column_free(&collate->datasets);
	text_column_free(&collate->tasks);
	free(collate->lists.data);
	free(collate);
}
