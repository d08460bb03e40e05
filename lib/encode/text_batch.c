#include "encode/text_batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/experts.h"

/* The texts of a column in a record. */
struct texts_at {
	const char *name;
	const struct record *record;
	struct sequence *sequences;
	int64_t count;
	const int64_t *
	    rows; /* [rows + 1], where the texts of a row begin; NULL: each row has one */
};

static int64_t
first_of(const struct texts_at *at, int64_t row)
{
	return at->rows ? at->rows[row] : row;
}

/* The index of the column NAME.SUFFIX; -1: there is none.  Dies if its type is another. */
static int
column_beside(const struct reader *in, const char *name, const char *suffix,
    enum dtype dtype, int depth)
{
	char *whole = mem_format("%s.%s", name, suffix);
	int index = stream_find(in, whole);

	if (index >= 0)
		stream_need(in, whole, dtype, depth);
	free(whole);
	return index;
}

struct token_column
text_batch_column(const struct reader *in, int ids, const char *name,
    const char *expert_name, bool adapters)
{
	struct token_column column = {
		.name = name, .expert_name = expert_name, .ids = ids, .adapter = -1
	};
	int lists = ids >= 0 && stream_column(in, ids)->depth == 2;

	column.expert = column_beside(in, expert_name, "expert", DTYPE_U8, 1);
	column.second = column_beside(in, name, "second", DTYPE_I32, lists);
	column.attended = column_beside(in, name, "attended", DTYPE_I32, lists);
	if (adapters) {
		char *gate = mem_format("%s.gate", name);
		const char *found = stream_find(in, gate) >= 0 ? gate : "gate";
		int index = stream_find(in, found);
		bool each = lists && index >= 0 && stream_column(in, index)->depth == 2;
		column.adapter = stream_need(in, found, DTYPE_U8, each ? 2 : 1);
		free(gate);
	}
	return column;
}

int
text_batch_option(const struct model *model, const char *task)
{
	const char *names = model_expert_names(model);
	int expert = model_expert(model, task);

	if (expert < 0)
		die("%s: has no task%s '%s'%s%s", model_dir(model),
		    model_spec(model)->loras ? "" : " expert", task,
		    *names ? "; it has " : "", names);
	return expert;
}

static int
find_expert(const struct text_batch *batch, const char *name)
{
	int expert = model_expert(batch->model, name);

	if (expert < 0)
		die("%s: record %lld: asks for the task%s '%s'; %s has %s",
		    stream_name(batch->in), (long long)stream_records(batch->in),
		    model_spec(batch->model)->loras ? "" : " expert", name,
		    model_dir(batch->model), model_expert_names(batch->model));
	return expert;
}

/* The expert in a row of the column of experts; -1 where that is empty and tasks have LoRAs. */
static int
row_expert(const struct text_batch *batch, const struct array *names, int64_t row)
{
	int64_t from = names->offsets[0][row], to = names->offsets[0][row + 1];

	if (from == to && model_spec(batch->model)->loras)
		return -1;
	char *name =
	    mem_format("%.*s", (int)(to - from), (const char *)names->data + from);
	int expert = find_expert(batch, name);
	free(name);
	return expert;
}

static void
choose_experts(const struct text_batch *batch, const struct token_column *column,
    const struct texts_at *at)
{
	const struct spec *spec = model_spec(batch->model);
	const char *name = tree_string(tree_get(at->record->attributes, "experts"),
	    column->expert_name, batch->expert);
	bool has = spec->experts || spec->loras, by_row = has && column->expert >= 0;
	int expert = has && !by_row && name ? find_expert(batch, name) : -1;

	if (spec->experts && !by_row && !name && at->count)
		die("%s: record %lld: names no task expert for '%s'; use 'tok --task NAME', or --expert with one of %s",
		    stream_name(batch->in), (long long)stream_records(batch->in),
		    column->name, model_expert_names(batch->model));
	for (int64_t row = 0; row < at->record->rows; row++) {
		int64_t first = first_of(at, row), end = first_of(at, row + 1);
		if (by_row && first < end)
			expert =
			    row_expert(batch, &at->record->columns[column->expert], row);
		for (int64_t i = first; i < end; i++) {
			struct sequence *s = &at->sequences[i];
			if (spec->loras)
				s->adapter = expert;
			else
				s->expert =
				    experts_choose(spec, expert, s->ids, s->length);
		}
	}
}

/* The adapter that the column of adapters, of that depth, has at `index`; -1 where it is empty. */
static int
adapter_at_index(const struct text_batch *batch, const struct array *names, int depth,
    int64_t index, int64_t row)
{
	const int64_t *offsets = names->offsets[depth - 1];
	size_t length = (size_t)(offsets[index + 1] - offsets[index]);
	const char *name = (const char *)names->data + offsets[index];
	int adapter = length ? model_adapter(batch->model, name, length) : -1;

	if (length && adapter < 0)
		die("%s: record %lld: row %lld asks for the gate '%.*s'; there are %s",
		    stream_name(batch->in), (long long)stream_records(batch->in),
		    (long long)row + 1, length < 80 ? (int)length : 80, name,
		    model_adapter_names(batch->model));
	return adapter;
}

static void
choose_adapters(const struct text_batch *batch, const struct token_column *column,
    const struct texts_at *at)
{
	if (column->adapter < 0 || model_spec(batch->model)->loras)
		return;
	const struct array *names = &at->record->columns[column->adapter];
	int depth = stream_column(batch->in, column->adapter)->depth;

	for (int64_t row = 0; row < at->record->rows; row++) {
		int64_t first = first_of(at, row), end = first_of(at, row + 1);
		if (depth == 2 && names->offsets[0][row + 1] != end)
			die("%s: record %lld: row %lld does not have as many gates as texts in '%s.ids'",
			    stream_name(batch->in), (long long)stream_records(batch->in),
			    (long long)row + 1, at->name);
		int adapter =
		    depth == 1 ? adapter_at_index(batch, names, depth, row, row) : 0;
		for (int64_t i = first; i < end; i++)
			at->sequences[i].adapter =
			    depth == 2 ? adapter_at_index(batch, names, depth, i, row)
				       : adapter;
	}
}

/* Dies where the model refuses a text. */
static void
demand(const struct text_batch *batch, const char *name, const int32_t *ids,
    const int64_t *offsets, int64_t count)
{
	struct batch all = { .expert = 0, .empty = batch->empty };

	for (int64_t first = 0, next; first < count; first = next) {
		next = batch_cut(&all, ids, offsets, first, count, INT32_MAX);
		char *why = model_refuses(batch->model, &all, first);
		if (why)
			die("%s: record %lld: column '%s.ids': %s%s",
			    stream_name(batch->in), (long long)stream_records(batch->in),
			    name, why,
			    batch->advice && strstr(why, "no tokens") ? batch->advice
								      : "");
	}
	batch_free(&all);
}

/* Where the second texts of pairs begin. */
static void
add_seconds(const struct text_batch *batch, const struct token_column *column,
    const struct texts_at *at)
{
	if (column->second < 0)
		return;
	const struct array *array = &at->record->columns[column->second];
	const int32_t *places = array->data;
	if (column_elements(stream_column(batch->in, column->second), array,
		at->record->rows) != at->count)
		die("%s: record %lld: '%s.second' does not have one number for each pair",
		    stream_name(batch->in), (long long)stream_records(batch->in),
		    column->name);
	for (int64_t i = 0; i < at->count; i++) {
		struct sequence *to = &at->sequences[i];
		if (places[i] < 0 || places[i] > to->length)
			die("%s: record %lld: pair %lld: '%s.second' is %d, and the pair has %d tokens",
			    stream_name(batch->in), (long long)stream_records(batch->in),
			    (long long)i + 1, column->name, (int)places[i],
			    (int)to->length);
		to->second = places[i];
	}
}

/* The numbers of tokens that attention sees. */
static void
add_attended(const struct text_batch *batch, const struct token_column *column,
    const struct texts_at *at)
{
	if (column->attended < 0)
		return;
	const struct array *array = &at->record->columns[column->attended];
	const int32_t *attended = array->data;
	int64_t count = at->rows ? array->offsets[0][at->record->rows] : at->record->rows;
	for (int64_t i = 0; i < at->count; i++) {
		int32_t one = i < count ? attended[i] : 0;
		if (one < 1 || one > at->sequences[i].length)
			die("%s: record %lld: '%s.attended' has %d for text %lld of %d tokens",
			    stream_name(batch->in), (long long)stream_records(batch->in),
			    column->name, (int)one, (long long)i + 1,
			    (int)at->sequences[i].length);
		at->sequences[i].attended = one;
	}
}

struct sequence *
text_batch_add(struct text_batch *batch, const struct token_column *column,
    const struct record *record)
{
	const struct column *ids = stream_column(batch->in, column->ids);
	const struct array *array = &record->columns[column->ids];
	int64_t count = column_lists(ids, array, record->rows);
	const int64_t *offsets = column_list_offsets(ids, array);
	int32_t skip = batch_prompt_tokens(record->attributes, column->name);

	if (count)
		demand(batch, column->name, array->data, offsets, count);
	batch->sequences = mem_grow(batch->sequences, &batch->room,
	    (size_t)(batch->count + count), sizeof *batch->sequences);
	struct sequence *to = batch->sequences + batch->count;
	for (int64_t i = 0; i < count; i++)
		to[i] =
		    (struct sequence){ .ids = (const int32_t *)array->data + offsets[i],
			    .length = (int32_t)(offsets[i + 1] - offsets[i]),
			    .skip = skip,
			    .expert = -1 };
	struct texts_at at = { column->name, record, to, count,
		ids->depth == 2 ? array->offsets[0] : NULL };
	add_seconds(batch, column, &at);
	add_attended(batch, column, &at);
	choose_experts(batch, column, &at);
	choose_adapters(batch, column, &at);
	batch->count += count;
	return to;
}

void
text_batch_free(struct text_batch *batch)
{
	free(batch->sequences);
	*batch = (struct text_batch){ 0 };
}
