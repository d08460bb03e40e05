#include "encode/embed.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strings.h"
#include "model/batch.h"
#include "encode/emit.h"
#include "encode/queue.h"
#include "model/experts.h"
#include "nn/nn.h"
#include "text/tree.h"

/* A column of ids and the column that it becomes. */
struct field {
	int in, out, expert, gate; /* columns; -1: there is none */
	char *name;		   /* X of X.ids */
	/* of a record, by turns: what its lists become, of rows of those known */
	struct filled {
		float *made;
		int64_t *place; /* the row that a list's embedding goes to */
		int64_t lists, record;
		bool pending; /* is yet to be taken from those known */
		size_t room, place_room;
	} filled[2];
};

/* Texts that were met, as [expert, gate, skip, ids ...], and their embeddings by their number. */
struct known {
	struct strings *texts;
	float *made;
	int32_t *key;
	size_t room, key_room;
	int64_t asked, repeated;
};
struct embed {
	struct known known;
	struct model *model;
	const struct reader *in;
	struct embed_options options;
	struct field *fields;
	size_t count;
	int width; /* of what is made */
	struct emit *emit;
	struct sequence *sequences; /* the lists of a column */
	int64_t *order;		    /* those that are to be computed */
	struct batch batch;
	bool whole; /* one who looks on sees all of a batch */
	struct encode_queue *queue;
	int64_t begun, ended; /* records */
	/* of who chooses gates in the pass: the field and the lists of the batch at work; the vectors that it sees */
	int field;
	const int64_t *lists;
	float *pooled, *seen;
	size_t pooled_size, seen_room;
	size_t sequences_room, order_room;
};

/* The column of texts X.NAME, or -1. */
static int
find_texts(const struct embed *e, const char *field, const char *last)
{
	char *name = mem_format("%s%s", field, last);
	int column = stream_find(e->in, name);

	if (column >= 0)
		column = stream_need(e->in, name, DTYPE_U8, 1);
	free(name);
	return column;
}

/* The column of texts X.gate, or gate: one a row, or one for each text of the row's list. */
static int
find_gates(const struct embed *e, const char *field, const struct column *ids)
{
	char *own = mem_format("%s.gate", field);
	const char *name = stream_find(e->in, own) >= 0 ? own : "gate";
	int column = stream_find(e->in, name);
	bool lists =
	    column >= 0 && ids->depth == 2 && stream_column(e->in, column)->depth == 2;

	column = stream_need(e->in, name, DTYPE_U8, lists ? 2 : 1);
	free(own);
	return column;
}

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
	field->expert = find_texts(e, field->name, ".expert");
	field->gate = -1;
	if (!e->options.routed)
		return;
	field->gate = find_gates(e, field->name, ids);
}

/* Gates of the batch at work, by the hidden states on the way. */
static void
choose_on_the_way(void *context, const struct model_seen *seen, int32_t *gates)
{
	struct embed *e = context;
	const struct embed_router *router = e->options.router;
	const struct head *head = model_head(e->model);
	size_t N = seen->sequences.N, width = seen->C * (size_t)head->pools;

	e->pooled = nn_reserve(e->pooled, &e->pooled_size, N * width, sizeof(float));
	for (int i = 0; i < head->pools; i++)
		nn_pool(e->pooled + (size_t)i * seen->C, width, seen->hidden,
		    &seen->sequences, head->include_prompt ? NULL : seen->skip,
		    head->pool[i], seen->C);
	e->seen = mem_grow(e->seen, &e->seen_room, N * width, sizeof *e->seen);
	nn_download(e->seen, e->pooled, N * width * sizeof *e->seen);
	router->route(router->context, e->field, e->lists, e->seen, (int64_t)N, gates);
}

static void
add_router(struct embed *e)
{
	const struct embed_router *router = e->options.router;

	if (!router)
		return;
	model_choose(e->model, router->layer, choose_on_the_way, e);
	for (size_t i = 0; i < e->count; i++)
		router->add(router->context, (int)i,
		    e->count > 1 ? e->fields[i].name : NULL,
		    stream_column(e->in, e->fields[i].in)->depth == 2);
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
	e->whole = options->emit || options->router;
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
	add_router(e);
	e->queue = encode_queue_new(model, &(struct encode_queue_options){ e->width,
					       options->normalize, embed_ahead(e) });
	return e;
}

static int
expert_called(const struct embed *e, const char *name)
{
	int expert = model_expert(e->model, name);

	if (expert < 0)
		die("%s: record %lld: asks for the task%s '%s'; %s has %s",
		    stream_name(e->in), (long long)stream_records(e->in),
		    model_spec(e->model)->loras ? "" : " expert", name,
		    model_dir(e->model), model_expert_names(e->model));
	return expert;
}

_Noreturn static void
no_expert(const struct embed *e, const struct field *field)
{
	die("%s: record %lld: names no task expert for '%s'; use 'tok --task NAME', or --expert with one of %s",
	    stream_name(e->in), (long long)stream_records(e->in), field->name,
	    model_expert_names(e->model));
}

/* The expert that a row of the column X.expert names; of a model's own LoRAs, -1 where it is empty. */
static int
row_expert(const struct embed *e, const struct array *names, int64_t row)
{
	int64_t from = names->offsets[0][row], to = names->offsets[0][row + 1];

	if (from == to && model_spec(e->model)->loras)
		return -1;
	char *name =
	    mem_format("%.*s", (int)(to - from), (const char *)names->data + from);
	int expert = expert_called(e, name);
	free(name);
	return expert;
}

/* Of each sequence: its row's, else the record's, else the default.  A LoRA of the model's own is a gate. */
static void
choose_experts(struct embed *e, const struct field *field, const struct record *record)
{
	const struct spec *spec = model_spec(e->model);
	const int64_t *lists = record->columns[field->in].offsets[0];
	bool nested = stream_column(e->in, field->in)->depth == 2;
	const char *name = tree_string(
	    tree_get(record->attributes, "experts"), field->name, e->options.expert);
	bool has = spec->experts || spec->loras;
	bool by_row = has && field->expert >= 0;
	int expert = has && !by_row && name ? expert_called(e, name) : -1;

	if (spec->experts && !by_row && !name && record->rows)
		no_expert(e, field);
	for (int64_t row = 0; row < record->rows; row++) {
		int64_t first = nested ? lists[row] : row;
		int64_t end = nested ? lists[row + 1] : row + 1;
		if (by_row && first < end)
			expert = row_expert(e, &record->columns[field->expert], row);
		for (int64_t i = first; i < end; i++) {
			struct sequence *s = &e->sequences[i];
			s->adapter = spec->loras ? expert : 0;
			s->expert = spec->loras
					? -1
					: experts_choose(spec, expert, s->ids, s->length);
		}
	}
}

/* The gate that a row names with the text at `index` of a column of that depth; -1: none. */
static int
named_gate(const struct embed *e, const struct array *names, int depth, int64_t index,
    int64_t row)
{
	const int64_t *offsets = names->offsets[depth - 1];
	int64_t from = offsets[index];
	size_t length = (size_t)(offsets[index + 1] - from);
	const char *name = (const char *)names->data + from;
	int gate = length ? model_adapter(e->model, name, length) : -1;

	if (length && gate < 0)
		die("%s: record %lld: row %lld asks for the gate '%.*s'; there are %s",
		    stream_name(e->in), (long long)stream_records(e->in),
		    (long long)row + 1, length < 80 ? (int)length : 80, name,
		    model_adapter_names(e->model));
	return gate;
}

static void
choose_gates(struct embed *e, const struct field *field, const struct record *record)
{
	const int64_t *lists = record->columns[field->in].offsets[0];
	bool nested = stream_column(e->in, field->in)->depth == 2;
	int depth = field->gate < 0 ? 0 : stream_column(e->in, field->gate)->depth;
	const struct array *names = depth ? &record->columns[field->gate] : NULL;

	if (model_spec(e->model)->loras)
		return;
	for (int64_t row = 0; row < record->rows; row++) {
		int64_t first = nested ? lists[row] : row;
		int64_t end = nested ? lists[row + 1] : row + 1;
		if (depth == 2 && names->offsets[0][row + 1] != end)
			die("%s: record %lld: row %lld has not as many gates as texts in '%s.ids'",
			    stream_name(e->in), (long long)stream_records(e->in),
			    (long long)row + 1, field->name);
		int gate = depth == 1 ? named_gate(e, names, depth, row, row) : 0;
		for (int64_t i = first; i < end; i++)
			e->sequences[i].adapter =
			    depth == 2 ? named_gate(e, names, depth, i, row) : gate;
	}
}

/* The lists of a column as sequences, which the model takes, or death. */
static void
take_lists(struct embed *e, const struct field *field, const struct record *record,
    int64_t lists, const int64_t *offsets)
{
	const int32_t *ids = record->columns[field->in].data;
	int32_t skip = batch_prompt_tokens(record->attributes, field->name);
	struct batch all = { .expert = 0, .empty = e->options.zero };

	for (int64_t first = 0, next; first < lists; first = next) {
		next = batch_cut(&all, ids, offsets, first, lists, INT32_MAX);
		char *why = model_refuses(e->model, &all, first);
		if (why)
			die("%s: record %lld: column '%s.ids': %s%s", stream_name(e->in),
			    (long long)stream_records(e->in), field->name, why,
			    strstr(why, "no tokens") ? "; see --empty" : "");
	}
	batch_free(&all);
	e->sequences = mem_grow(
	    e->sequences, &e->sequences_room, (size_t)lists, sizeof *e->sequences);
	for (int64_t i = 0; i < lists; i++)
		e->sequences[i] = (struct sequence){ .ids = ids + offsets[i],
			.length = (int32_t)(offsets[i + 1] - offsets[i]),
			.skip = skip };
	choose_experts(e, field, record);
	choose_gates(e, field, record);
}

/* Have all embeddings of records up to number `record` where their fields have them. */
static void
settle(struct embed *e, int64_t record)
{
	size_t width = (size_t)e->width;

	encode_queue_settle(e->queue, record);
	for (size_t f = 0; f < 2 * e->count; f++) {
		struct filled *filled = &e->fields[f / 2].filled[f % 2];
		if (!filled->pending || filled->record > record)
			continue;
		for (int64_t i = 0; i < filled->lists; i++)
			memcpy(filled->made + (size_t)i * width,
			    e->known.made + (size_t)filled->place[i] * width,
			    width * sizeof *filled->made);
		filled->pending = false;
	}
}

/* Tokens computed at a time, all of whose activations there are; and those of which each thread takes parts, which are the more
 * even the more there are; and how many of its batches stand before a device. */
enum { WHOLE = 2048, EACH = 8192, QUEUE = 8 };

static int64_t
group_tokens(const struct embed *e)
{
	int64_t tokens = e->options.tokens;
	int64_t one = (int64_t)nn_worker_tokens(DTYPE_F32);

	if (nn_device())
		return tokens ? tokens : e->whole ? one : QUEUE * one;
	if (e->whole)
		return tokens ? tokens : WHOLE;
	return (tokens ? tokens : EACH) * (int64_t)nn_workers();
}

/* Compute the lists order[0..count-1], each to its place among the rows *made. */
static void
compute(struct embed *e, int64_t count, float *const *made, const int64_t *place,
    const int64_t *offsets, struct progress *progress)
{
	int64_t budget = group_tokens(e);

	batch_sort(e->order, count, e->sequences);
	for (int64_t first = 0, end; first < count; first = end) {
		const int64_t *order = e->order + first;
		end = batch_end(e->order, first, count, e->sequences, budget);
		batch_pack(&e->batch, order, end - first, e->sequences);
		emit_at(e->emit, order, offsets);
		e->lists = order;
		encode_queue_add(e->queue, e->begun, &e->batch, made, place, order);
		progress_add(progress, e->batch.tokens);
	}
}

/* Forget all texts at half of what they may take: arrays grow to twice their size. */
static void
limit_known(struct embed *e)
{
	struct known *known = &e->known;
	size_t bytes = known->room * sizeof *known->made;
	size_t limit = (size_t)e->options.cache;

	if (known->texts && bytes + strings_bytes(known->texts) <= limit / 2)
		return;
	settle(e, e->begun); /* fields that were to be taken from them */
	strings_free(known->texts);
	free(known->made);
	known->texts = strings_new();
	known->made = NULL;
	known->room = 0;
}

/* Whether the embedding of a text is 0 without being computed. */
static bool
is_zero(const struct embed *e, const struct sequence *s)
{
	return e->options.zero && !s->length && model_spec(e->model)->layers;
}

/* Number the texts; those that are new are to be computed: returns how many. */
static int64_t
look_up(struct embed *e, int64_t *place, int64_t lists)
{
	struct known *known = &e->known;
	int64_t count = 0;

	for (int64_t i = 0; i < lists; i++) {
		const struct sequence *s = &e->sequences[i];
		size_t length = (size_t)s->length;
		bool fresh;
		known->key = mem_grow(
		    known->key, &known->key_room, length + 3, sizeof *known->key);
		known->key[0] = (int32_t)s->expert;
		known->key[1] = (int32_t)s->adapter;
		known->key[2] = s->skip;
		memcpy(known->key + 3, s->ids, length * sizeof *s->ids);
		place[i] = strings_add(known->texts, (const char *)known->key,
		    (length + 3) * sizeof *known->key, &fresh);
		if (fresh && !is_zero(e, s))
			e->order[count++] = i;
	}
	known->asked += lists;
	known->repeated += lists - count;
	return count;
}

/*
 * A text that was met before, in this record or another, has the embedding it had then, bit for bit:
 * benchmarks repeat theirs up to twenty times.
 */
static void
embed_known(struct embed *e, struct filled *filled, const int64_t *offsets,
    struct progress *progress)
{
	struct known *known = &e->known;

	limit_known(e);
	int64_t count = look_up(e, filled->place, filled->lists);
	size_t texts = (size_t)strings_count(known->texts);
	known->made = mem_grow(known->made, &known->room,
	    mem_multiply(texts, (size_t)e->width, "embeddings"), sizeof *known->made);
	for (int64_t i = 0; i < filled->lists; i++)
		if (is_zero(e, &e->sequences[i]))
			memset(known->made + (size_t)filled->place[i] * (size_t)e->width,
			    0, (size_t)e->width * sizeof *known->made);
	filled->pending = true;
	compute(e, count, &known->made, filled->place, offsets, progress);
}

static void
embed_field(struct embed *e, const struct record *record, struct field *field,
    struct progress *progress)
{
	const struct column *column = stream_column(e->in, field->in);
	const struct array *ids = &record->columns[field->in];
	int64_t lists = column_lists(column, ids, record->rows);
	const int64_t *offsets = column_list_offsets(column, ids);
	struct filled *filled = &field->filled[e->begun % 2];

	filled->record = e->begun;
	filled->lists = lists;
	filled->made = mem_grow(filled->made, &filled->room,
	    mem_multiply((size_t)lists, (size_t)e->width, "embeddings"),
	    sizeof *filled->made);
	e->field = (int)(field - e->fields);
	emit_begin(e->emit, e->field, lists, lists ? offsets[lists] : 0);
	if (e->options.router)
		e->options.router->begin(e->options.router->context, e->field, lists);
	if (!lists)
		return;
	take_lists(e, field, record, lists, offsets);
	e->order = mem_grow(e->order, &e->order_room, (size_t)lists, sizeof *e->order);
	filled->place = mem_grow(
	    filled->place, &filled->place_room, (size_t)lists, sizeof *filled->place);
	if (!e->whole) {
		embed_known(e, filled, offsets, progress);
		return;
	}
	for (int64_t i = 0; i < lists; i++)
		e->order[i] = filled->place[i] = i;
	compute(e, lists, &filled->made, filled->place, offsets, progress);
}

bool
embed_ahead(const struct embed *e)
{
	return nn_device() && !e->whole;
}

void
embed_begin(struct embed *e, const struct record *record, struct progress *progress)
{
	int64_t tokens = 0;

	e->begun++;
	for (size_t i = 0; i < e->count; i++)
		tokens += column_elements(stream_column(e->in, e->fields[i].in),
		    &record->columns[e->fields[i].in], record->rows);
	progress_span(progress, stream_share(e->in), tokens);
	for (size_t i = 0; i < e->count; i++)
		embed_field(e, record, &e->fields[i], progress);
	progress_span(
	    progress, stream_share(e->in), 0); /* some may have been met before */
}

void
embed_end(struct embed *e, const struct record *record, struct record *made)
{
	const struct embed_router *router = e->options.router;

	settle(e, ++e->ended);
	for (size_t i = 0; i < e->count; i++) {
		const struct field *field = &e->fields[i];
		const struct column *column = stream_column(e->in, field->in);
		const struct array *ids = &record->columns[field->in];
		const int64_t *starts = column->depth == 2 ? ids->offsets[0] : NULL;
		emit_end(e->emit, (int)i, made, ids);
		if (router)
			router->put(router->context, (int)i, made,
			    column_lists(column, ids, record->rows), starts);
		if (field->out < 0)
			continue;
		made->columns[field->out].data = field->filled[e->ended % 2].made;
		made->columns[field->out].offsets[0] = starts;
	}
}

bool
embed_embeds(const struct embed *embed)
{
	return emit_embedding(embed->emit);
}

void
embed_free(struct embed *e)
{
	for (size_t i = 0; i < e->count; i++) {
		free(e->fields[i].name);
		for (int j = 0; j < 2; j++) {
			free(e->fields[i].filled[j].made);
			free(e->fields[i].filled[j].place);
		}
	}
	inform("%lld batches", (long long)encode_queue_batches(e->queue));
	encode_queue_free(e->queue);
	if (e->known.repeated)
		inform("%lld of %lld texts had been met before",
		    (long long)e->known.repeated, (long long)e->known.asked);
	strings_free(e->known.texts);
	free(e->known.made);
	free(e->known.key);
	free(e->sequences);
	free(e->order);
	nn_free(e->pooled, e->pooled_size);
	free(e->seen);
	free(e->fields);
	emit_free(e->emit);
	batch_free(&e->batch);
	free(e);
}
