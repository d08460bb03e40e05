#include "model/embed.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strings.h"
#include "model/batch.h"
#include "model/emit.h"
#include "nn/nn.h"
#include "text/tree.h"

/* A column of ids and the column that it becomes. */
struct field {
	int in, out, expert; /* columns; -1: there is none */
	char *name;	     /* X of X.ids */
	float *made;	     /* of the record at hand */
	size_t room;
};

/* Texts that were met, as [expert, skip, ids ...], and their embeddings by their number. */
struct known {
	struct strings *texts;
	float *made;
	size_t room;
	int32_t *key, *ids; /* of one text; of those of a record that are new */
	size_t key_room, ids_room, offsets_room, number_room;
	int64_t *offsets, *number; /* of the new ones; [lists of the record] */
	int64_t asked, repeated;
};
enum { KNOWN_BYTES = 128 << 20 };

struct embed {
	struct known known;
	struct model *model;
	const struct reader *in;
	struct embed_options options;
	struct field *fields;
	size_t count;
	int width; /* of what is made */
	struct emit *emit;
	struct batch batch;
	float *full; /* embeddings of a batch before they are cut to the width */
	size_t full_room;
};

/* One column at work. */
struct work {
	const struct record *record;
	const struct field *field;
	const int64_t *rows; /* of a list of lists; NULL: a list a row */
	int64_t row;	     /* of the list that is looked at */
	int chosen;	     /* expert of the record as a whole; -1: none */
};

static void
add_field(struct embed *e, int in, struct writer *out)
{
	const struct column *ids = stream_column(e->in, in);
	size_t stem = strlen(ids->name) - strlen(".ids");

	if (ids->dtype != DTYPE_I32 || ids->rank || ids->depth < 1)
		die("%s: the column '%s' is no list of i32 token ids; did tok make it?",
		    stream_name(e->in), ids->name);
	e->fields = mem_resize(e->fields, e->count + 1, sizeof *e->fields);
	struct field *field = &e->fields[e->count++];
	*field =
	    (struct field){ .in = in, .name = mem_format("%.*s", (int)stem, ids->name) };
	char *name;
	field->out = -1;
	if (emit_embedding(e->emit)) {
		name = mem_format("%s.%s", field->name, emit_embedding(e->emit));
		field->out = stream_add(out, &(struct column){ .name = name,
						 .dtype = DTYPE_F32,
						 .depth = ids->depth - 1,
						 .rank = 1,
						 .shape = { e->width } });
		free(name);
	}
	emit_add(e->emit, out, field->name, ids);
	name = mem_format("%s.expert", field->name);
	field->expert = stream_find(e->in, name);
	if (field->expert >= 0)
		field->expert = stream_need(e->in, name, DTYPE_U8, 1);
	free(name);
}

struct embed *
embed_new(struct model *model, const struct reader *in, struct writer *out,
    const struct embed_options *options)
{
	struct embed *e = mem_zero(1, sizeof *e);

	e->model = model;
	e->in = in;
	e->options = *options;
	e->emit = emit_new(model, options->emit);
	int kept = options->width ? options->width : model_head(model)->truncate;
	e->width = kept && kept < model_width(model) ? kept : model_width(model);
	for (int i = 0; i < stream_columns(in); i++) {
		const char *name = stream_column(in, i)->name, *dot = strrchr(name, '.');
		if (!dot || strcmp(dot, ".ids") || dot == name)
			continue;
		add_field(e, i, out);
		if (!options->keep)
			stream_drop(out, name);
	}
	if (!e->count)
		die("%s: has no column of token ids ('NAME.ids'); put 'tok -m %s' before",
		    stream_name(in), model_dir(model));
	return e;
}

static int
expert_called(const struct embed *e, const char *name)
{
	int expert = model_expert(e->model, name);

	if (expert < 0)
		die("%s: record %lld: asks for the task expert '%s'; %s has %s",
		    stream_name(e->in), (long long)stream_records(e->in), name,
		    model_dir(e->model), model_experts(e->model));
	return expert;
}

/* The expert of a list; lists are asked for in order. */
static int
expert_of(const struct embed *e, struct work *work, int64_t list)
{
	const struct field *field = work->field;

	if (!model_spec(e->model)->experts)
		return -1;
	if (field->expert < 0) {
		if (work->chosen < 0)
			die("%s: record %lld: names no task expert for '%s'; use 'tok "
			    "--task NAME', or "
			    "--expert with one of %s",
			    stream_name(e->in), (long long)stream_records(e->in),
			    field->name, model_experts(e->model));
		return work->chosen;
	}
	if (!work->rows)
		work->row = list;
	while (work->rows && work->rows[work->row + 1] <= list)
		work->row++;
	const struct array *names = &work->record->columns[field->expert];
	int64_t from = names->offsets[0][work->row],
		to = names->offsets[0][work->row + 1];
	char name[80] = "";
	if (to - from < (int64_t)sizeof name)
		memcpy(name, (const char *)names->data + from, (size_t)(to - from));
	return expert_called(e, name);
}

/* The first values of each row.  As in sentence-transformers, what the folder says of length 1
 * is done before they are cut, what the user says after it. */
static void
cut(const struct embed *e, float *to, int64_t rows)
{
	size_t width = (size_t)e->width, full = (size_t)model_width(e->model);

	for (size_t i = 0; i < (size_t)rows; i++)
		memcpy(to + i * width, e->full + i * full, width * sizeof *to);
	if (e->options.normalize)
		nn_normalize(to, NULL, to, (size_t)rows, width);
}

/* False when the model refuses the batch, which dies where it is called by `field`. */
static bool
run_batch(struct embed *e, const struct field *field, int64_t first, float *to)
{
	char *why = model_refuses(e->model, &e->batch, first);

	if (why && field)
		die("%s: record %lld: column '%s.ids': %s", stream_name(e->in),
		    (long long)stream_records(e->in), field->name, why);
	free(why);
	if (why)
		return false;
	if (e->width == model_width(e->model)) {
		model_encode(e->model, &e->batch, to);
		return true;
	}
	size_t need = (size_t)e->batch.sequences * (size_t)model_width(e->model);
	e->full = mem_grow(e->full, &e->full_room, need, sizeof *e->full);
	model_encode(e->model, &e->batch, e->full);
	cut(e, to, e->batch.sequences);
	return true;
}

/* What the record says of a field: "experts" or "prompt_tokens". */
static const struct tree *
attribute(const struct record *record, const char *name)
{
	return tree_get(record->attributes, name);
}

/* Number the texts of a record; those that are new, one after another; returns how many. */
static int64_t
know(struct known *known, const int32_t *ids, const int64_t *offsets, int64_t lists,
    int expert, int64_t skip)
{
	int64_t fresh = 0, used = 0;

	known->number = mem_grow(
	    known->number, &known->number_room, (size_t)lists, sizeof *known->number);
	known->offsets = mem_grow(known->offsets, &known->offsets_room, (size_t)lists + 1,
	    sizeof *known->offsets);
	known->ids = mem_grow(known->ids, &known->ids_room,
	    (size_t)(offsets[lists] - offsets[0]) + 1, sizeof *known->ids);
	known->offsets[0] = 0;
	for (int64_t i = 0; i < lists; i++) {
		size_t count = (size_t)(offsets[i + 1] - offsets[i]);
		bool is_new;
		known->key =
		    mem_grow(known->key, &known->key_room, count + 2, sizeof *known->key);
		known->key[0] = (int32_t)expert;
		known->key[1] = (int32_t)skip;
		memcpy(known->key + 2, ids + offsets[i], count * sizeof *ids);
		known->number[i] = strings_add(known->texts, (const char *)known->key,
		    (count + 2) * sizeof *known->key, &is_new);
		if (!is_new)
			continue;
		memcpy(known->ids + used, ids + offsets[i], count * sizeof *ids);
		used += (int64_t)count;
		known->offsets[++fresh] = used;
	}
	known->asked += lists;
	known->repeated += lists - fresh;
	return fresh;
}

/*
 * A text that was met before, in this record or another, has the embedding it had then, bit for bit:
 * benchmarks repeat theirs up to twenty times.  False when a text is refused, and nothing is made.
 */
static bool
embed_known(struct embed *e, const int32_t *ids, const int64_t *offsets, int64_t lists,
    int64_t skip, float *made, struct progress *progress)
{
	struct known *known = &e->known;
	size_t width = (size_t)e->width, row = width * sizeof *made;
	int64_t known_texts = known->texts ? strings_count(known->texts) : 0;

	if (!known->texts || (size_t)known_texts * row > KNOWN_BYTES) {
		strings_free(known->texts);
		known->texts = strings_new();
		known_texts = 0;
	}
	int64_t fresh = know(known, ids, offsets, lists, e->batch.expert, skip);
	known->made =
	    mem_grow(known->made, &known->room, (size_t)(known_texts + fresh) + 1, row);
	for (int64_t from = 0, next; from < fresh; from = next) {
		next = batch_cut(&e->batch, known->ids, known->offsets, from, fresh,
		    e->options.tokens);
		batch_skip(&e->batch, skip);
		if (!run_batch(e, NULL, from,
			known->made + (size_t)(known_texts + from) * width))
			return false;
		progress_add(progress, e->batch.tokens);
	}
	for (int64_t i = 0; i < lists; i++)
		memcpy(made + (size_t)i * width,
		    known->made + (size_t)known->number[i] * width, row);
	return true;
}

static void
embed_field(struct embed *e, const struct record *record, struct field *field,
    struct progress *progress)
{
	const struct column *column = stream_column(e->in, field->in);
	const struct array *ids = &record->columns[field->in];
	int64_t lists = column_lists(column, ids, record->rows);
	const int64_t *offsets = column_list_offsets(column, ids);
	int64_t skip = tree_integer(attribute(record, "prompt_tokens"), field->name, 0);
	const char *name =
	    tree_string(attribute(record, "experts"), field->name, e->options.expert);
	struct work work = { .record = record,
		.field = field,
		.chosen = -1,
		.rows = column->depth == 2 ? ids->offsets[0] : NULL };

	if (name && model_spec(e->model)->experts && field->expert < 0)
		work.chosen = expert_called(e, name);
	field->made = mem_grow(field->made, &field->room,
	    mem_multiply((size_t)lists, (size_t)e->width, "embeddings"),
	    sizeof *field->made);
	emit_begin(e->emit, (int)(field - e->fields), lists, lists ? offsets[lists] : 0);
	for (int64_t first = 0, next, end; first < lists; first = end) {
		int expert = expert_of(e, &work, first), other = expert;
		end = field->expert < 0 ? lists : first + 1;
		while (end < lists && (other = expert_of(e, &work, end)) == expert)
			end++;
		e->batch.expert = expert;
		if (!e->options.emit &&
		    embed_known(e, ids->data, offsets + first, end - first, skip,
			field->made + first * e->width, progress))
			continue;
		for (int64_t from = first; from < end; from = next) {
			next = batch_cut(
			    &e->batch, ids->data, offsets, from, end, e->options.tokens);
			batch_skip(&e->batch, skip);
			emit_at(e->emit, from, offsets[from]);
			run_batch(e, field, from, field->made + from * e->width);
			progress_add(progress, e->batch.tokens);
		}
	}
}

void
embed_record(struct embed *e, const struct record *record, struct record *made,
    struct progress *progress)
{
	for (size_t i = 0; i < e->count; i++) {
		struct field *field = &e->fields[i];
		embed_field(e, record, field, progress);
		emit_end(e->emit, (int)i, made, &record->columns[field->in]);
		if (field->out < 0)
			continue;
		made->columns[field->out].data = field->made;
		if (stream_column(e->in, field->in)->depth == 2)
			made->columns[field->out].offsets[0] =
			    record->columns[field->in].offsets[0];
	}
}

void
embed_free(struct embed *e)
{
	for (size_t i = 0; i < e->count; i++) {
		free(e->fields[i].name);
		free(e->fields[i].made);
	}
	if (e->known.repeated)
		inform("%lld of %lld texts had been met before",
		    (long long)e->known.repeated, (long long)e->known.asked);
	strings_free(e->known.texts);
	free(e->known.made);
	free(e->known.key);
	free(e->known.ids);
	free(e->known.offsets);
	free(e->known.number);
	free(e->fields);
	free(e->full);
	emit_free(e->emit);
	batch_free(&e->batch);
	free(e);
}
