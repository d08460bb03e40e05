#include "encode/embed.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strings.h"
#include "model/batch.h"
#include "encode/emit.h"
#include "encode/queue.h"
#include "encode/text_batch.h"
#include "model/experts.h"
#include "nn/nn.h"
#include "stream/values.h"
#include "text/tree.h"

/* A column of ids and the columns that it becomes. */
struct embedded_column {
	char *name; /* X of X.ids */
	struct token_column text;
	int out; /* the column of embeddings; -1: none is asked for */
	/* The embeddings [lists,width] of a record; two records take turns.  pending: they are still to be copied from rows
	 * `place` of `cache`. */
	struct embedded_rows {
		float *made;
		const struct embedding_cache *cache;
		int64_t *place; /* [lists] */
		int64_t lists, record;
		bool pending;
		size_t room, place_room;
	} rows[2];
};

enum { KEY = 5 };

/* Texts by [expert, adapter, skip, second, attended, ids ...], and their embeddings by the number of the text. */
struct embedding_cache {
	struct strings *texts; /* NULL: not in use */
	float *made;	       /* [texts,width] */
	size_t room;
};

struct embed {
	/* the one that takes new texts, and one before it from which pending columns are copied */
	struct embedding_cache caches[2], *cache;
	int32_t *key;
	size_t key_room;
	int64_t asked, repeated;
	struct model *model;
	const struct reader *in;
	struct embed_options options;
	struct embedded_column *columns; /* [count] */
	size_t count;
	int width; /* of an embedding that is written */
	struct emit *emit;
	struct text_batch texts; /* of a column */
	int64_t *order;		 /* [texts.count] those to compute */
	struct batch batch;
	bool
	    watched; /* hidden states are asked for: a batch is one forward pass, and nothing is cached */
	struct encode_queue *queue;
	int64_t begun, ended; /* records */
	/* For the router: column and texts of the batch at work, and their pooled hidden states. */
	int column;
	const int64_t *lists;
	float *pooled, *seen;
	size_t pooled_size, seen_room, order_room;
};

static void
add_column(struct embed *e, int in, struct writer *out)
{
	const struct column *ids = stream_column(e->in, in);
	size_t stem = strlen(ids->name) - strlen(".ids");

	if (ids->dtype != DTYPE_I32 || ids->rank || ids->depth < 1)
		die("%s: the column '%s' is not a list of i32 token ids; did tok make it?",
		    stream_name(e->in), ids->name);
	e->columns = mem_resize(e->columns, e->count + 1, sizeof *e->columns);
	struct embedded_column *column = &e->columns[e->count++];
	*column =
	    (struct embedded_column){ .name = mem_format("%.*s", (int)stem, ids->name),
		    .out = -1 };
	if (emit_embedding(e->emit)) {
		bool scores = e->options.scores;
		char *name = mem_format(
		    "%s.%s", column->name, scores ? "score" : emit_embedding(e->emit));
		column->out = stream_add(out, &(struct column){ .name = name,
						  .dtype = DTYPE_F32,
						  .depth = ids->depth - 1,
						  .rank = !scores || e->width > 1,
						  .shape = { e->width } });
		free(name);
	}
	emit_add(e->emit, out, column->name, ids);
	column->text =
	    text_batch_column(e->in, in, column->name, column->name, e->options.routed);
}

/* Chooses the adapters of the batch at work by pooled hidden states. */
static void
choose_adapters(void *context, const struct model_seen *seen, int32_t *adapters)
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
	router->route(
	    router->context, e->column, e->lists, e->seen, (int64_t)N, adapters);
}

static void
add_router(struct embed *e)
{
	const struct embed_router *router = e->options.router;

	if (!router)
		return;
	model_choose(e->model, router->layer, choose_adapters, e);
	for (size_t i = 0; i < e->count; i++)
		router->add(router->context, (int)i,
		    e->count > 1 ? e->columns[i].name : NULL,
		    stream_column(e->in, e->columns[i].text.ids)->depth == 2);
}

/* Warns of embeddings that pass, because the model is a property of the whole stream. */
static void
tell_others(const struct embed *e, const struct writer *out)
{
	const char *own = model_fingerprint(e->model),
		   *model = tree_string(stream_properties(e->in), "model", "");

	for (int i = 0; i < stream_columns(e->in) && strcmp(model, own) != 0; i++)
		if (stream_made_column(out, i) &&
		    values_is_embedding(stream_column(e->in, i)))
			warn(
			    "%s: '%s' is not of %s, but will count as of that model; drop it (mts cat -c), or paste it to the result",
			    stream_name(e->in), stream_column(e->in, i)->name,
			    model_dir(e->model));
}

struct embed *
embed_new(struct model *model, const struct reader *in, struct writer *out,
    const struct embed_options *options)
{
	struct embed *e = mem_zero(1, sizeof *e);

	e->cache = e->caches;
	e->model = model;
	e->in = in;
	e->options = *options;
	e->texts = (struct text_batch){ .model = model,
		.in = in,
		.expert = options->expert,
		.empty = options->zero,
		.advice = "; see --empty" };
	e->emit = emit_new(model, options->emit, options->precision);
	e->watched = options->emit || options->router;
	int width = options->width ? options->width : model_head(model)->truncate;
	e->width = width && width < model_width(model) ? width : model_width(model);
	for (int i = 0; i < stream_columns(in); i++) {
		const char *name = stream_column(in, i)->name, *dot = strrchr(name, '.');
		if (!dot || strcmp(dot, ".ids") || dot == name)
			continue;
		add_column(e, i, out);
		const struct token_column *text = &e->columns[e->count - 1].text;
		int used[] = { i, text->second, text->attended };
		for (int j = 0; !options->keep && j < 3; j++)
			if (used[j] >= 0)
				stream_drop(out, stream_column(in, used[j])->name);
	}
	if (!e->count)
		die("%s: has no column of token ids ('NAME.ids'); put 'tok -m %s' before",
		    stream_name(in), model_dir(model));
	tell_others(e, out);
	add_router(e);
	e->queue = encode_queue_new(model, &(struct encode_queue_options){ e->width,
					       options->normalize, embed_ahead(e) });
	return e;
}

static void
free_cache(struct embedding_cache *cache)
{
	strings_free(cache->texts);
	free(cache->made);
	*cache = (struct embedding_cache){ 0 };
}

/* Frees the cache before, unless pending columns are copied from it. */
static void
drop_cache(struct embed *e)
{
	struct embedding_cache *before = &e->caches[e->cache == e->caches];

	for (size_t f = 0; f < 2 * e->count; f++) {
		const struct embedded_rows *rows = &e->columns[f / 2].rows[f % 2];
		if (rows->pending && rows->cache == before)
			return;
	}
	free_cache(before);
}

/* Completes the rows of all records up to number `record`. */
static void
finish(struct embed *e, int64_t record)
{
	size_t width = (size_t)e->width;

	encode_queue_commit(e->queue, record);
	for (size_t f = 0; f < 2 * e->count; f++) {
		struct embedded_rows *rows = &e->columns[f / 2].rows[f % 2];
		if (!rows->pending || rows->record > record)
			continue;
		for (int64_t i = 0; i < rows->lists; i++)
			memcpy(rows->made + (size_t)i * width,
			    rows->cache->made + (size_t)rows->place[i] * width,
			    width * sizeof *rows->made);
		rows->pending = false;
	}
	drop_cache(e);
}

/* Tokens of a group of batches.  WATCHED: of one forward pass whose hidden states are asked for.  EACH: of each thread; more tokens
 * give threads more even shares.  QUEUE: batches of a device's own size. */
enum { WATCHED = 2048, EACH = 8192, QUEUE = 8 };

int64_t
embed_group_tokens(int64_t tokens, bool watched)
{
	int64_t one = (int64_t)nn_worker_tokens(DTYPE_F32);

	if (nn_device())
		return tokens ? tokens : watched ? one : QUEUE * one;
	if (watched)
		return tokens ? tokens : WATCHED;
	return (tokens ? tokens : EACH) * (int64_t)nn_workers();
}

/* Computes the texts order[0..count-1], text i to row place[i] of *made. */
static void
compute(struct embed *e, int64_t count, float *const *made, const int64_t *place,
    const int64_t *offsets, struct progress *progress)
{
	int64_t budget = embed_group_tokens(e->options.tokens, e->watched);

	batch_sort(e->order, count, e->texts.sequences);
	for (int64_t first = 0, end; first < count; first = end) {
		const int64_t *order = e->order + first;
		end = batch_end(e->order, first, count, e->texts.sequences, budget);
		batch_pack(&e->batch, order, end - first, e->texts.sequences);
		emit_at(e->emit, order, offsets);
		e->lists = order;
		encode_queue_add(e->queue, e->begun, &e->batch, made, place, order);
		progress_add(progress, e->batch.tokens);
	}
}

/* Begins another cache before both of them can take more than the limit: arrays grow to twice their size.  A device goes on with the
 * record under way, whose embeddings go to the cache before. */
static void
limit_cache(struct embed *e)
{
	const struct embedding_cache *cache = e->cache;
	size_t bytes = cache->room * sizeof *cache->made;
	size_t limit = (size_t)e->options.cache / (embed_ahead(e) ? 4 : 2);

	if (cache->texts && bytes + strings_bytes(cache->texts) <= limit)
		return;
	e->cache = &e->caches[e->cache == e->caches];
	/* columns of one record may fill more than one */
	if (e->cache->texts)
		finish(e, e->begun);
	free_cache(e->cache);
	e->cache->texts = strings_new();
	drop_cache(e);
}

/* Whether a text without tokens has the embedding 0. */
static bool
is_zero(const struct embed *e, const struct sequence *s)
{
	return e->options.zero && !s->length && model_spec(e->model)->layers;
}

/* Sets place[lists], each text's number in the cache, and e->order, the new texts; returns the number of new texts. */
static int64_t
look_up(struct embed *e, int64_t *place, int64_t lists)
{
	int64_t count = 0;

	for (int64_t i = 0; i < lists; i++) {
		const struct sequence *s = &e->texts.sequences[i];
		size_t length = (size_t)s->length;
		bool fresh;
		e->key = mem_grow(e->key, &e->key_room, length + KEY, sizeof *e->key);
		e->key[0] = (int32_t)s->expert;
		e->key[1] = (int32_t)s->adapter;
		e->key[2] = s->skip;
		e->key[3] = s->second;
		e->key[4] = s->attended;
		memcpy(e->key + KEY, s->ids, length * sizeof *s->ids);
		place[i] = strings_add(e->cache->texts, (const char *)e->key,
		    (length + KEY) * sizeof *e->key, &fresh);
		if (fresh && !is_zero(e, s))
			e->order[count++] = i;
	}
	e->asked += lists;
	e->repeated += lists - count;
	return count;
}

/* A repeated text has the embedding of its first occurrence, bit for bit: benchmarks repeat texts up to twenty times. */
static void
embed_cached(struct embed *e, struct embedded_rows *rows, const int64_t *offsets,
    struct progress *progress)
{
	limit_cache(e);
	struct embedding_cache *cache = e->cache;
	int64_t count = look_up(e, rows->place, rows->lists);
	size_t texts = (size_t)strings_count(cache->texts);
	cache->made = mem_grow(cache->made, &cache->room,
	    mem_multiply(texts, (size_t)e->width, "embeddings"), sizeof *cache->made);
	for (int64_t i = 0; i < rows->lists; i++)
		if (is_zero(e, &e->texts.sequences[i]))
			memset(cache->made + (size_t)rows->place[i] * (size_t)e->width, 0,
			    (size_t)e->width * sizeof *cache->made);
	rows->cache = cache;
	rows->pending = true;
	compute(e, count, &cache->made, rows->place, offsets, progress);
}

static void
embed_column(struct embed *e, const struct record *record, struct embedded_column *column,
    struct progress *progress)
{
	const struct column *ids = stream_column(e->in, column->text.ids);
	const struct array *array = &record->columns[column->text.ids];
	int64_t lists = column_lists(ids, array, record->rows);
	const int64_t *offsets = column_list_offsets(ids, array);
	struct embedded_rows *rows = &column->rows[e->begun % 2];

	rows->record = e->begun;
	rows->lists = lists;
	rows->made = mem_grow(rows->made, &rows->room,
	    mem_multiply((size_t)lists, (size_t)e->width, "embeddings"),
	    sizeof *rows->made);
	e->column = (int)(column - e->columns);
	if (e->options.router)
		e->options.router->begin(e->options.router->context, e->column, lists);
	e->texts.count = 0;
	if (lists)
		text_batch_add(&e->texts, &column->text, record);
	emit_begin(e->emit, e->column, record->attributes, e->texts.sequences, lists,
	    lists ? offsets[lists] : 0);
	if (!lists)
		return;
	e->order = mem_grow(e->order, &e->order_room, (size_t)lists, sizeof *e->order);
	rows->place =
	    mem_grow(rows->place, &rows->place_room, (size_t)lists, sizeof *rows->place);
	if (!e->watched) {
		embed_cached(e, rows, offsets, progress);
		return;
	}
	for (int64_t i = 0; i < lists; i++)
		e->order[i] = rows->place[i] = i;
	compute(e, lists, &rows->made, rows->place, offsets, progress);
}

bool
embed_ahead(const struct embed *e)
{
	return nn_device() && !e->watched;
}

void
embed_begin(struct embed *e, const struct record *record, struct progress *progress)
{
	int64_t tokens = 0;

	e->begun++;
	for (size_t i = 0; i < e->count; i++)
		tokens += column_elements(stream_column(e->in, e->columns[i].text.ids),
		    &record->columns[e->columns[i].text.ids], record->rows);
	progress_span(progress, stream_share(e->in), tokens);
	for (size_t i = 0; i < e->count; i++)
		embed_column(e, record, &e->columns[i], progress);
	progress_span(progress, stream_share(e->in), 0); /* some were in the cache */
}

void
embed_end(struct embed *e, const struct record *record, struct record *made)
{
	const struct embed_router *router = e->options.router;

	finish(e, ++e->ended);
	for (size_t i = 0; i < e->count; i++) {
		const struct embedded_column *column = &e->columns[i];
		const struct column *ids = stream_column(e->in, column->text.ids);
		const struct array *array = &record->columns[column->text.ids];
		const int64_t *starts = ids->depth == 2 ? array->offsets[0] : NULL;
		emit_end(e->emit, (int)i, made, ids, array);
		if (router)
			router->put(router->context, (int)i, made,
			    column_lists(ids, array, record->rows), starts);
		if (column->out < 0)
			continue;
		made->columns[column->out].data = column->rows[e->ended % 2].made;
		made->columns[column->out].offsets[0] = starts;
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
		free(e->columns[i].name);
		for (int j = 0; j < 2; j++) {
			free(e->columns[i].rows[j].made);
			free(e->columns[i].rows[j].place);
		}
	}
	inform("%lld batches", (long long)encode_queue_batches(e->queue));
	encode_queue_free(e->queue);
	if (e->repeated)
		inform("%lld of %lld texts had been met before", (long long)e->repeated,
		    (long long)e->asked);
	free_cache(&e->caches[0]);
	free_cache(&e->caches[1]);
	free(e->key);
	text_batch_free(&e->texts);
	free(e->order);
	nn_free(e->pooled, e->pooled_size);
	free(e->seen);
	free(e->columns);
	emit_free(e->emit);
	batch_free(&e->batch);
	free(e);
}
