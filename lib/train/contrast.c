#include "train/contrast.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "model/batch.h"
#include "model/experts.h"
#include "ranks/ranks.h"
#include "stream/stream.h"
#include "stream/values.h"
#include "text/json.h"
#include "token/tokenizer.h"
#include "train/batch_sync.h"
#include "train/precomputed.h"

enum side { QUERY, DOCUMENT, NEGATIVES, SIDES };

static const char *const sides[] = { "query", "document", "negatives" };

struct contrast {
	struct reader *reader;
	struct model *model;
	struct contrast_options options;
	char *path;
	int ids[SIDES], key[SIDES], expert[SIDES], target; /* columns; -1: absent */
	struct record record;
	bool ahead;	       /* `record` was read but not yet taken */
	int64_t pass;	       /* number of the current reading of a file, from 0 */
	int64_t epoch, epochs; /* of the batch; the number of epochs in passes before */
	struct contrast_position position;
	struct sequence *sequences;
	struct batch batch; /* one side, for model_refuses */
	int64_t *keys;
	size_t sequence_capacity, key_capacity;
	struct loss_keys loss_keys[LOSS_KEYS]; /* of columns; hashes of tokens */
	struct floats targets;
	struct precomputed *precomputed; /* NULL: documents are computed */
	struct batch_sync sync;		 /* with the other ranks */
};

const char *
contrast_name(const struct contrast *contrast)
{
	return strcmp(contrast->path, "-") == 0 ? "<stdin>" : contrast->path;
}

/* Opening. ------------------------------------------------------------------------- */

static int
find(struct contrast *contrast, enum side side, const char *suffix, enum dtype dtype)
{
	char *name = mem_format("%s.%s", sides[side], suffix);
	int index = stream_find(contrast->reader, name);

	if (index >= 0 && stream_column(contrast->reader, index)->dtype != dtype)
		die("%s: column \"%s\" is %s, %s was expected",
		    stream_name(contrast->reader), name,
		    dtype_name(stream_column(contrast->reader, index)->dtype),
		    dtype_name(dtype));
	free(name);
	return index;
}

/* The column of relation targets, of twice the model's width; -1: not wanted. */
static int
find_target(const struct contrast *contrast)
{
	static const char name[] = "relation.target";
	const struct reader *reader = contrast->reader;
	int index = stream_find(reader, name), width = 2 * model_width(contrast->model);

	if (!contrast->options.targets)
		return -1;
	if (index < 0)
		die("%s: there is no column \"%s\", to which --reze holds the model; reze-stats apply makes it",
		    stream_name(reader), name);
	const struct column *column = stream_column(reader, index);
	if (column->depth != 0 || column->rank != 1 || !dtype_is_float(column->dtype) ||
	    column->shape[0] != width)
		die("%s: column \"%s\" is not of vectors of %d components, twice the width of %s",
		    stream_name(reader), name, width, model_dir(contrast->model));
	return index;
}

static void
open_stream(struct contrast *contrast)
{
	contrast->reader = stream_open(contrast->path);
	for (enum side side = QUERY; side < SIDES; side++) {
		contrast->ids[side] = find(contrast, side, "ids", DTYPE_I32);
		contrast->key[side] = find(contrast, side, "key", DTYPE_I64);
		contrast->expert[side] =
		    side == NEGATIVES ? -1 : find(contrast, side, "expert", DTYPE_U8);
	}
	stream_need(contrast->reader, "query.ids", DTYPE_I32, 1);
	stream_need(contrast->reader, "document.ids", DTYPE_I32, 1);
	contrast->target = find_target(contrast);
}

/* Dies if the stream is not this rank's. */
static void
check_rank(const struct contrast *contrast)
{
	const struct tree *properties = stream_properties(contrast->reader);
	const char *name = stream_name(contrast->reader);
	long rank = strtol(tree_string(properties, "rank", "0"), NULL, 10);
	long ranks = strtol(tree_string(properties, "ranks", "1"), NULL, 10);

	if (ranks == ranks_count() && rank == ranks_own())
		return;
	if (ranks == 1)
		die("%s: has whole batches, of which each of %d ranks would learn the same; tasksample --rank %d --ranks %d makes a rank's",
		    name, ranks_count(), ranks_own(), ranks_count());
	die("%s: is for rank %ld of %ld, but is read by rank %d of %d", name, rank, ranks,
	    ranks_own(), ranks_count());
}

/* Warns if the relation targets were computed by another model. */
static void
check_model(const struct contrast *contrast)
{
	const char *made =
	    tree_string(stream_properties(contrast->reader), "model", NULL);

	if (contrast->options.targets && made &&
	    strcmp(made, model_fingerprint(contrast->model)) != 0)
		warn(
		    "%s: the targets are of another model than %s, which learns from them",
		    stream_name(contrast->reader), model_dir(contrast->model));
}

/* Warns of columns of tokens that the loss does not use, for example negatives under another name. */
static void
tell_unread(const struct contrast *contrast)
{
	const struct reader *reader = contrast->reader;

	for (int i = 0; i < stream_columns(reader); i++) {
		const char *name = stream_column(reader, i)->name;
		size_t length = strlen(name);
		bool read = length < 4 || strcmp(name + length - 4, ".ids") != 0;
		for (enum side side = QUERY; side < SIDES; side++)
			read |= contrast->ids[side] == i;
		if (!read)
			warn(
			    "%s: column \"%s\" is not trained on; hard negatives are in \"negatives.ids\", which tok -f negatives=%.*s makes",
			    stream_name(reader), name, (int)length - 4, name);
	}
}

struct contrast *
contrast_open(
    const char *path, struct model *model, const struct contrast_options *options)
{
	struct contrast *contrast = mem_zero(1, sizeof *contrast);

	contrast->path = mem_string(path);
	contrast->model = model;
	contrast->options = *options;
	open_stream(contrast);
	check_rank(contrast);
	tell_unread(contrast);
	tokenizer_check(contrast->reader, model_dir(model));
	check_model(contrast);
	batch_sync_open(&contrast->sync);
	if (options->documents)
		contrast->precomputed = precomputed_open(options->documents, model);
	if (options->expert && model_expert(model, options->expert) < 0)
		die("--expert: the model has no task expert \"%s\"", options->expert);
	return contrast;
}

void
contrast_close(struct contrast *contrast)
{
	stream_close(contrast->reader);
	batch_free(&contrast->batch);
	precomputed_free(contrast->precomputed);
	free(contrast->path);
	free(contrast->sequences);
	free(contrast->keys);
	free(contrast->targets.data);
	batch_sync_close(&contrast->sync);
	free(contrast);
}

/* Records. ------------------------------------------------------------------------- */

_Noreturn static void
bad(const struct contrast *contrast, const char *what)
{
	die("%s: record %lld: %s", contrast_name(contrast),
	    (long long)stream_records(contrast->reader), what);
}

/* Reads the next record into contrast->record; at the end of a file starts its next epoch. */
static bool
read_ahead(struct contrast *contrast)
{
	if (contrast->ahead)
		return true;
	while (!stream_next(contrast->reader, &contrast->record)) {
		bool empty = stream_records(contrast->reader) == 0;
		if (empty || strcmp(contrast->path, "-") == 0 ||
		    contrast->pass + 1 >= contrast->options.epochs)
			return false;
		stream_close(contrast->reader);
		open_stream(contrast);
		contrast->pass++;
		contrast->epochs = contrast->epoch + 1;
	}
	return contrast->ahead = true;
}

void
contrast_prepare(struct contrast *contrast)
{
	if (!stream_waits(contrast->reader, 0))
		read_ahead(contrast);
}

static const int64_t *
lists(const struct contrast *contrast, enum side side, int64_t *count)
{
	int index = contrast->ids[side];

	*count = 0;
	if (index < 0)
		return NULL;
	const struct column *column = stream_column(contrast->reader, index);
	const struct array *array = &contrast->record.columns[index];
	if (column->depth < 1)
		bad(contrast, "the negatives are not lists of token ids");
	*count = column_lists(column, array, contrast->record.rows);
	return column_list_offsets(column, array);
}

/* The expert of a side's row: its column, the record's attribute, the option. */
static int
row_expert(const struct contrast *contrast, enum side side, int64_t row)
{
	enum side from = side == QUERY ? QUERY : DOCUMENT; /* negatives are documents */

	if (!model_spec(contrast->model)->experts)
		return -1;
	const char *name = tree_string(tree_get(contrast->record.attributes, "experts"),
	    sides[from], contrast->options.expert);
	char *own = NULL;
	if (contrast->expert[from] >= 0) {
		const struct array *array =
		    &contrast->record.columns[contrast->expert[from]];
		const int64_t *offsets = array->offsets[0];
		name = own = mem_format("%.*s", (int)(offsets[row + 1] - offsets[row]),
		    (const char *)array->data + offsets[row]);
	}
	if (!name)
		bad(contrast,
		    mem_format(
			"no task expert is named (attribute \"experts\" or --expert); the model has %s",
			model_expert_names(contrast->model)));
	int expert = model_expert(contrast->model, name);
	if (expert < 0)
		bad(contrast, mem_format("the model has no task expert \"%s\"; it has %s",
				  name, model_expert_names(contrast->model)));
	free(own);
	return expert;
}

/* Dies naming the record if the model refuses a side's sequences. */
static void
demand(struct contrast *contrast, enum side side, const int64_t *offsets, int64_t count)
{
	struct batch *batch = &contrast->batch;

	batch_cut(batch, contrast->record.columns[contrast->ids[side]].data, offsets, 0,
	    count, INT32_MAX);
	batch->expert = model_spec(contrast->model)->experts ? 0 : -1;
	char *why = model_refuses(contrast->model, batch, 0);
	if (why)
		bad(contrast, mem_format("%s.ids: %s", sides[side], why));
}

/* Seed of a sequence's dropout: depends on batch and row alone, not on chunks or ranks. */
static uint64_t
draw_of(const struct contrast *contrast, enum side side, int64_t index)
{
	struct loss_parts parts = batch_sync_parts(&contrast->sync);
	const size_t *starts = side == NEGATIVES ? parts.negatives : parts.rows;
	int64_t key[] = { contrast->position.taken, side,
		index + (int64_t)starts[ranks_own()] };

	return rng_hash(1, key, sizeof key);
}

/* The precomputed embedding of sequence `index` of a side; NULL: it is computed. */
static const float *
precomputed_vector(const struct contrast *contrast, enum side side, int64_t index,
    const int32_t *ids, int64_t length)
{
	if (!contrast->precomputed || side == QUERY)
		return NULL;
	const float *vector = precomputed_find(contrast->precomputed, ids, length);
	if (!vector)
		bad(contrast,
		    mem_format(
			"text %lld of '%s' is not in %s, or was cut to other tokens there",
			(long long)index, sides[side], contrast->options.documents));
	return vector;
}

/* Fills in a side's sequences; returns their number of tokens. */
static int64_t
add_side(struct contrast *contrast, enum side side, struct sequence *to,
    const int64_t *offsets, int64_t count)
{
	if (!count)
		return 0;
	const struct column *column =
	    stream_column(contrast->reader, contrast->ids[side]);
	const struct array *array = &contrast->record.columns[contrast->ids[side]];
	int32_t skip = batch_prompt_tokens(contrast->record.attributes, sides[side]);
	bool by_row = contrast->expert[side == QUERY ? QUERY : DOCUMENT] >= 0;
	int expert = by_row ? -1 : row_expert(contrast, side, 0);
	bool frozen = side != QUERY &&
		      (contrast->options.freeze_documents || contrast->precomputed);

	demand(contrast, side, offsets, count);
	for (int64_t i = 0, row = 0; i < count; i++) {
		const int32_t *ids = (const int32_t *)array->data + offsets[i];
		int64_t length = offsets[i + 1] - offsets[i];
		while (column->depth == 2 ? array->offsets[0][row + 1] <= i : row < i)
			row++;
		if (by_row)
			expert = row_expert(contrast, side, row);
		to[i] = (struct sequence){ .ids = ids,
			.length = (int32_t)length,
			.skip = skip,
			.expert = experts_choose(
			    model_spec(contrast->model), expert, ids, length),
			.adapter = frozen ? -1 : 0,
			.frozen = frozen,
			.vector = precomputed_vector(contrast, side, i, ids, length),
			.side = side != QUERY,
			.draw = draw_of(contrast, side, i) };
	}
	return offsets[count] - offsets[0];
}

/* Keys of a side: those of its column, or else the hashes of its tokens; and those hashes. */
static void
add_keys(struct contrast *contrast, enum side side, int64_t *to, int64_t *tokens,
    const struct sequence *sequences, int64_t count)
{
	int index = contrast->key[side];

	for (int64_t i = 0; i < count; i++)
		tokens[i] = (int64_t)rng_hash(0, sequences[i].ids,
		    (size_t)sequences[i].length * sizeof *sequences[i].ids);
	if (index < 0 || !count) {
		memcpy(to, tokens, (size_t)count * sizeof *to);
		return;
	}
	const struct column *column = stream_column(contrast->reader, index);
	const struct array *array = &contrast->record.columns[index];
	if (column->rank ||
	    column_elements(column, array, contrast->record.rows) != count)
		bad(contrast, "there is not one key for each sequence");
	memcpy(to, array->data, (size_t)count * sizeof *to);
}

/* [rows, 2 width], or NULL. */
static const float *
take_targets(struct contrast *contrast)
{
	int index = contrast->target;

	if (index < 0)
		return NULL;
	int64_t rows = contrast->record.rows;
	const struct column *column = stream_column(contrast->reader, index);
	const float *targets = values_floats(
	    column, &contrast->record.columns[index], rows, &contrast->targets);
	for (int64_t i = 0; i < rows; i++)
		values_refuse_nan(contrast->reader, index, i,
		    targets + i * column->shape[0], (int)column->shape[0]);
	return targets;
}

/* The record as sequences, keys and targets. */
static void
take(struct contrast *contrast, struct contrast_batch *batch)
{
	int64_t count[SIDES], tokens = 0, at = 0;
	const int64_t *offsets[SIDES];

	for (enum side side = QUERY; side < SIDES; side++) {
		offsets[side] = lists(contrast, side, &count[side]);
		at += count[side];
	}
	contrast->sequences = mem_grow(contrast->sequences, &contrast->sequence_capacity,
	    (size_t)at, sizeof *contrast->sequences);
	int64_t all = at;
	contrast->keys = mem_grow(contrast->keys, &contrast->key_capacity,
	    LOSS_KEYS * (size_t)all, sizeof *contrast->keys);
	at = 0;
	for (enum side side = QUERY; side < SIDES; at += count[side++]) {
		tokens += add_side(
		    contrast, side, contrast->sequences + at, offsets[side], count[side]);
		if (!contrast->options.keep_duplicates)
			add_keys(contrast, side, contrast->keys + at,
			    contrast->keys + all + at, contrast->sequences + at,
			    count[side]);
	}
	for (int kind = 0; kind < LOSS_KEYS; kind++) {
		const int64_t *keys = contrast->keys + kind * all;
		contrast->loss_keys[kind] = (struct loss_keys){ keys, keys + count[QUERY],
			keys + 2 * count[QUERY] };
	}
	*batch = (struct contrast_batch){
		.rows = count[QUERY],
		.negatives = count[NEGATIVES],
		.tokens = tokens,
		.sequences = contrast->sequences,
		.keys = contrast->options.keep_duplicates ? NULL : contrast->loss_keys,
		.parts = batch_sync_parts(&contrast->sync),
		.targets = take_targets(contrast),
	};
}

/* Hash of the record's tokens and targets: a sum over rows, so that it does not depend on the number of ranks. */
static uint64_t
hash_rows(const struct contrast *contrast)
{
	uint64_t sum = 0;

	for (enum side side = QUERY; side < SIDES; side++) {
		int64_t count;
		const int64_t *offsets = lists(contrast, side, &count);
		const int32_t *ids =
		    contrast->record
			.columns[contrast->ids[side] < 0 ? 0 : contrast->ids[side]]
			.data;
		for (int64_t i = 0; i < count; i++)
			sum += rng_hash(side + 1, ids + offsets[i],
			    (size_t)(offsets[i + 1] - offsets[i]) * sizeof *ids);
	}
	if (contrast->target >= 0) {
		size_t bytes = column_element_size(
		    stream_column(contrast->reader, contrast->target));
		const char *at = contrast->record.columns[contrast->target].data;
		for (int64_t i = 0; i < contrast->record.rows; i++)
			sum += rng_hash(SIDES + 1, at + (size_t)i * bytes, bytes);
	}
	return sum;
}

static struct sync_message
message_of(const struct contrast *contrast)
{
	static const char *const common[] = { "step", "epoch", "task", "dataset",
		"temperature", "prompt_tokens", "batch_rows", "batch_checksum" };
	const struct tree *attributes = contrast->record.attributes;
	struct sync_message message = { .state = SYNC_BATCH,
		.tokens = hash_rows(contrast),
		.record = stream_records(contrast->reader),
		.step = tree_integer(attributes, "step", -1) };

	lists(contrast, QUERY, &message.rows);
	lists(contrast, NEGATIVES, &message.negatives);
	for (size_t i = 0; i < sizeof common / sizeof *common; i++) {
		const struct tree *value = tree_get(attributes, common[i]);
		char *text = value ? json_text(value, 0) : mem_string("");
		message.attributes = rng_hash(message.attributes, text, strlen(text) + 1);
		free(text);
	}
	return message;
}

/* Takes the record that was read ahead, if all ranks have one. */
static bool
advance(struct contrast *contrast)
{
	struct contrast_position *position = &contrast->position;
	struct sync_message message = { .state = SYNC_END };

	contrast->sync.awaited = true;
	if (read_ahead(contrast))
		message = message_of(contrast);
	if (!batch_sync_exchange(&contrast->sync, &message, contrast_name(contrast)))
		return false;
	uint64_t hash = batch_sync_hash(&contrast->sync);
	const struct tree *attributes = contrast->record.attributes;
	position->hash = rng_hash(position->hash, &hash, sizeof hash);
	position->step = message.step;
	contrast->epoch = contrast->epochs +
			  (tree_get(attributes, "epoch")
				  ? tree_integer_in(attributes, "epoch", 0, INT32_MAX)
				  : 0);
	position->taken++;
	contrast->ahead = false;
	return true;
}

bool
contrast_leave(struct contrast *contrast)
{
	struct sync_message message = { .state = SYNC_LEFT };

	if (!contrast->sync.awaited)
		return false;
	batch_sync_exchange(&contrast->sync, &message, contrast_name(contrast));
	return true;
}

bool
contrast_left(const struct contrast *contrast)
{
	return contrast->sync.left;
}

bool
contrast_next(struct contrast *contrast, struct contrast_batch *batch)
{
	do {
		if (!advance(contrast))
			return false;
	} while (!batch_sync_rows(&contrast->sync));

	const struct tree *attributes = contrast->record.attributes;
	take(contrast, batch);
	batch->temperature = contrast->options.temperature;
	if (batch->temperature == 0)
		batch->temperature =
		    tree_real(attributes, "temperature", CONTRAST_TEMPERATURE);
	if (!(batch->temperature > 0))
		bad(contrast, "the temperature is not above 0");
	batch->task = tree_string(attributes, "task", "");
	batch->dataset = tree_string(attributes, "dataset", "");
	batch->epoch = contrast->epoch;
	batch->record = stream_records(contrast->reader);
	return true;
}

int64_t
contrast_total(struct contrast *contrast)
{
	if (strcmp(contrast->path, "-") == 0) {
		const struct tree *properties = stream_properties(contrast->reader);
		return strtoll(tree_string(properties, "batches", "-1"), NULL, 10);
	}

	struct reader *reader = stream_open(contrast->path);
	struct record record;
	while (stream_next(reader, &record))
		;
	int64_t records = stream_records(reader);
	stream_close(reader);
	return records * contrast->options.epochs;
}

struct contrast_position
contrast_position(const struct contrast *contrast)
{
	return contrast->position;
}

void
contrast_resume(struct contrast *contrast, const struct contrast_position *position)
{
	if (!position->taken || !read_ahead(contrast))
		return;
	if (position->step >= 0 &&
	    tree_integer(contrast->record.attributes, "step", -1) == position->step + 1) {
		contrast->position = *position;
		return;
	}
	while (contrast->position.taken < position->taken) {
		if (!advance(contrast))
			die("%s: ends after %lld batches; the checkpoint has seen %lld: it is of another run; give the same stream, or --restart",
			    contrast_name(contrast), (long long)contrast->position.taken,
			    (long long)position->taken);
	}
	if (contrast->position.hash != position->hash)
		die("%s: its first %lld batches are not those that the checkpoint was trained on; give the same stream, or --restart",
		    contrast_name(contrast), (long long)position->taken);
}
