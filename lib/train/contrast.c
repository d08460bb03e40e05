#include "train/contrast.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "encode/text_batch.h"
#include "ranks/ranks.h"
#include "stream/stream.h"
#include "stream/values.h"
#include "text/json.h"
#include "token/tokenizer.h"
#include "train/batch_columns.h"
#include "train/batch_scores.h"
#include "train/batch_sync.h"
#include "train/guide.h"
#include "train/precomputed.h"

enum side { QUERY, DOCUMENT, NEGATIVES, SIDES };

static const char *const sides[] = { "query", "document", "negatives" };

struct contrast {
	struct reader *reader;
	struct model *model;
	struct contrast_options options;
	char *path;
	struct token_column text[SIDES]; /* ids -1: absent */
	char *alone; /* name of texts without pairs, on the queries' side; or NULL */
	int key[SIDES], target; /* columns; -1: absent */
	struct record record;
	bool ahead;	       /* `record` was read but not yet taken */
	int64_t pass;	       /* number of the current reading of a file, from 0 */
	int64_t epoch, epochs; /* of the batch; the number of epochs in passes before */
	struct contrast_position position;
	struct text_batch texts; /* of the record: the sides one after another */
	int64_t *keys;
	size_t key_capacity;
	struct loss_keys loss_keys[LOSS_KEYS]; /* of columns; hashes of tokens */
	struct floats targets;
	struct batch_scores scores;	 /* of the record */
	struct guide guide;		 /* likewise */
	struct precomputed *precomputed; /* NULL: documents are computed */
	struct batch_sync sync;		 /* with the other ranks */
};

const char *
contrast_name(const struct contrast *contrast)
{
	return strcmp(contrast->path, "-") == 0 ? "<stdin>" : contrast->path;
}

struct tree *
contrast_about(const struct contrast *contrast)
{
	return stream_about(contrast->reader);
}

const char *
contrast_alone(const struct contrast *contrast)
{
	return contrast->alone;
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

/* The side that has a text for each row. */
static enum side
rows_of(const struct contrast *contrast)
{
	return contrast->options.pairs ? DOCUMENT : QUERY;
}

/* Finds the columns of pairs: "pair" stands for "document" where nothing else is in the stream. */
static void
find_pairs(struct contrast *contrast)
{
	struct reader *reader = contrast->reader;

	contrast->text[QUERY].ids = -1;
	if (stream_find(reader, "pair.ids") >= 0)
		contrast->text[DOCUMENT] = text_batch_column(reader,
		    stream_need(reader, "pair.ids", DTYPE_I32, 1), "pair", "document",
		    false);
	for (enum side side = DOCUMENT; side < SIDES; side++)
		if (contrast->text[side].ids < 0 ? side == DOCUMENT
						 : contrast->text[side].second < 0)
			die("%s: has no pairs ('pair.ids' or 'document.ids', with 'pair.second' or 'document.second'); 'tok --pair -f query -f document -f negatives' makes them",
			    stream_name(reader));
}

/* Finds texts without pairs: the only column of token ids, under any name but those of the sides. */
static bool
find_alone(struct contrast *contrast)
{
	struct reader *reader = contrast->reader;
	int ids = batch_only_ids(reader);

	if (!contrast->options.alone || ids < 0)
		return false;
	for (enum side side = QUERY; side < SIDES; side++)
		if (contrast->text[side].ids >= 0)
			return false;
	free(contrast->alone);
	const char *name = stream_column(reader, ids)->name;
	stream_need(reader, name, DTYPE_I32, 1);
	contrast->alone = mem_string(name);
	*strrchr(contrast->alone, '.') = '\0';
	contrast->text[QUERY] =
	    text_batch_column(reader, ids, contrast->alone, sides[QUERY], false);
	return true;
}

static void
open_stream(struct contrast *contrast)
{
	contrast->reader = stream_open(contrast->path);
	for (enum side side = QUERY; side < SIDES; side++) {
		int ids = find(contrast, side, "ids", DTYPE_I32);
		contrast->key[side] = find(contrast, side, "key", DTYPE_I64);
		contrast->text[side] = text_batch_column(contrast->reader, ids,
		    sides[side], sides[side == QUERY ? QUERY : DOCUMENT], false);
	}
	if (contrast->options.pairs) {
		find_pairs(contrast);
	} else if (!find_alone(contrast)) {
		stream_need(contrast->reader, "query.ids", DTYPE_I32, 1);
		stream_need(contrast->reader, "document.ids", DTYPE_I32, 1);
	}
	contrast->target = contrast->options.targets
			       ? batch_target_column(contrast->reader, contrast->model)
			       : -1;
	contrast->scores.ids = contrast->text[NEGATIVES].ids;
	if (contrast->options.scores)
		batch_scores_open(&contrast->scores, contrast->reader,
		    contrast->text[NEGATIVES].ids, contrast->options.pairs);
	if (contrast->options.guide)
		guide_open(&contrast->guide, contrast->reader, contrast->alone,
		    contrast->text[NEGATIVES].ids);
	contrast->texts.in = contrast->reader;
}

struct contrast *
contrast_open(
    const char *path, struct model *model, const struct contrast_options *options)
{
	struct contrast *contrast = mem_zero(1, sizeof *contrast);

	contrast->path = mem_string(path);
	contrast->model = model;
	contrast->options = *options;
	contrast->texts =
	    (struct text_batch){ .model = model, .expert = contrast->options.expert };
	if (strcmp(path, "-") != 0)
		file_need_twice(path);
	open_stream(contrast);
	if (!options->whole)
		batch_check_rank(contrast->reader);
	batch_tell_unread(contrast->reader,
	    (int[]){ contrast->text[QUERY].ids, contrast->text[DOCUMENT].ids,
		contrast->text[NEGATIVES].ids },
	    SIDES);
	tokenizer_check(contrast->reader, model_dir(model));
	if (options->targets)
		batch_check_targets(contrast->reader, model);
	batch_sync_open(&contrast->sync, options->whole);
	if (contrast->alone && (options->documents || options->freeze_documents))
		die("%s: has texts alone; --%s needs queries and their documents",
		    contrast_name(contrast),
		    options->documents ? "documents" : "freeze-documents");
	if (options->documents)
		contrast->precomputed = precomputed_open(options->documents, model);
	if (options->expert)
		text_batch_option(model, options->expert);
	return contrast;
}

void
contrast_close(struct contrast *contrast)
{
	stream_close(contrast->reader);
	text_batch_free(&contrast->texts);
	precomputed_free(contrast->precomputed);
	free(contrast->path);
	free(contrast->alone);
	free(contrast->keys);
	free(contrast->targets.data);
	batch_scores_free(&contrast->scores);
	guide_free(&contrast->guide);
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
		if (empty || contrast->pass + 1 >= contrast->options.epochs)
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

/* The number of texts of a side of the record. */
static int64_t
lists(const struct contrast *contrast, enum side side)
{
	int index = contrast->text[side].ids;

	if (index < 0)
		return 0;
	const struct column *column = stream_column(contrast->reader, index);
	const struct array *array = &contrast->record.columns[index];
	if (column->depth < 1)
		bad(contrast, "the negatives are not lists of token ids");
	return column_lists(column, array, contrast->record.rows);
}

/* Seed of a sequence's dropout: depends on batch and row alone, not on chunks or ranks. */
static uint64_t
draw_of(const struct contrast *contrast, enum side side, int64_t index)
{
	struct loss_parts parts = batch_sync_parts(&contrast->sync);
	const size_t *starts = side == NEGATIVES ? parts.negatives : parts.rows;
	int64_t key[] = { contrast->position.taken, side,
		index + (int64_t)starts[contrast->sync.own] };

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
			(long long)index + 1, sides[side], contrast->options.documents));
	return vector;
}

/* Adds a side's sequences; returns their number of tokens. */
static int64_t
add_side(struct contrast *contrast, enum side side, int64_t count)
{
	bool frozen = side != QUERY &&
		      (contrast->options.freeze_documents || contrast->precomputed);
	int64_t tokens = 0;

	if (!count)
		return 0;
	struct sequence *to =
	    text_batch_add(&contrast->texts, &contrast->text[side], &contrast->record);
	for (int64_t i = 0; i < count; i++) {
		to[i].adapter = frozen ? -1 : 0;
		to[i].frozen = frozen;
		to[i].vector =
		    precomputed_vector(contrast, side, i, to[i].ids, to[i].length);
		to[i].side = side != QUERY;
		to[i].draw = frozen ? 0 : draw_of(contrast, side, i);
		tokens += to[i].length;
	}
	return tokens;
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
		values_refuse_nan(contrast->reader, index,
		    &contrast->record.columns[index], i, targets + i * column->shape[0],
		    (int)column->shape[0]);
	return targets;
}

/* The record as sequences, keys and targets. */
static void
take(struct contrast *contrast, struct contrast_batch *batch)
{
	struct loss_parts parts = batch_sync_parts(&contrast->sync);
	int64_t count[SIDES], tokens = 0, all = 0, at = 0;
	int ranks = ranks_count();

	for (enum side side = QUERY; side < SIDES; side++) {
		count[side] = lists(contrast, side);
		all += count[side];
	}
	contrast->keys = mem_grow(contrast->keys, &contrast->key_capacity,
	    LOSS_KEYS * (size_t)all, sizeof *contrast->keys);
	contrast->texts.count = 0;
	for (enum side side = QUERY; side < SIDES; at += count[side++]) {
		tokens += add_side(contrast, side, count[side]);
		if (!contrast->options.keep_duplicates)
			batch_keys(contrast->keys + at, contrast->keys + all + at,
			    contrast->reader, &contrast->record, contrast->key[side],
			    contrast->texts.sequences + at, count[side]);
	}
	for (int kind = 0; kind < LOSS_KEYS; kind++) {
		const int64_t *keys = contrast->keys + kind * all;
		contrast->loss_keys[kind] = (struct loss_keys){ keys, keys + count[QUERY],
			keys + 2 * count[QUERY] };
	}
	*batch = (struct contrast_batch){
		.rows = count[rows_of(contrast)],
		.negatives = count[NEGATIVES],
		.tokens = tokens,
		.count = all,
		.sequences = contrast->texts.sequences,
		.keys = contrast->options.keep_duplicates ? NULL : contrast->loss_keys,
		.parts = parts,
		.all = (contrast->options.pairs || contrast->alone ? 1 : 2) *
			   parts.rows[ranks] +
		       parts.negatives[ranks],
		.targets = take_targets(contrast),
		.scores = contrast->options.scores ? contrast->scores.values : NULL,
		.negative_rows = contrast->scores.rows,
		.guide = contrast->guide.vectors,
		.guide_width = (size_t)contrast->guide.width,
	};
}

/* Hash of all that a row trains on: a text of another row, or another score, is another row. */
static uint64_t
hash_row(const struct contrast *contrast, int64_t row)
{
	bool keyed = !contrast->options.keep_duplicates;
	uint64_t hash = 0;

	for (enum side side = QUERY; side < SIDES; side++) {
		const struct token_column *text = &contrast->text[side];
		const int columns[] = { text->ids, text->second, text->attended,
			text->expert, keyed ? contrast->key[side] : -1,
			contrast->options.guide ? contrast->guide.columns[side] : -1 };
		for (size_t i = 0; text->ids >= 0 && i < sizeof columns / sizeof *columns;
		     i++)
			hash = batch_hash_row(hash + side, contrast->reader,
			    &contrast->record, columns[i], row);
	}
	for (int i = 0; contrast->options.scores && i < 2; i++)
		hash = batch_hash_row(hash, contrast->reader, &contrast->record,
		    contrast->scores.columns[i], row);
	return batch_hash_row(
	    hash, contrast->reader, &contrast->record, contrast->target, row);
}

/* Hash of the record's rows: a sum, so that it does not depend on the number of ranks. */
static uint64_t
hash_rows(const struct contrast *contrast)
{
	uint64_t sum = 0;

	for (int64_t row = 0; row < contrast->record.rows; row++)
		sum += hash_row(contrast, row);
	return sum;
}

/* Adds attributes of the record to a hash. */
static uint64_t
hash_attributes(uint64_t hash, const struct contrast *contrast, const char *const *names)
{
	for (; *names; names++) {
		const struct tree *value = tree_get(contrast->record.attributes, *names);
		char *text = value ? json_text(value, 0) : mem_string("");
		hash = rng_hash(hash, text, strlen(text) + 1);
		free(text);
	}
	return hash;
}

static struct sync_message
message_of(const struct contrast *contrast)
{
	static const char *const common[] = { "step", "epoch", "task", "dataset",
		"temperature", "prompt_tokens", "batch_rows", "batch_checksum", NULL };
	const struct tree *attributes = contrast->record.attributes;
	struct sync_message message = { .state = SYNC_BATCH,
		.tokens = hash_rows(contrast),
		.record = stream_records(contrast->reader),
		.step = tree_integer(attributes, "step", -1),
		.rows = lists(contrast, rows_of(contrast)),
		.negatives = lists(contrast, NEGATIVES),
		.attributes = hash_attributes(0, contrast, common) };

	return message;
}

/* Takes the columns beside the tokens. */
static void
take_beside(struct contrast *contrast)
{
	const struct reader *reader = contrast->reader;
	const struct record *record = &contrast->record;
	int64_t counts[SIDES];

	if (contrast->options.scores)
		batch_scores_take(&contrast->scores, reader, record);
	else
		batch_scores_take_rows(&contrast->scores, reader, record);
	for (enum side side = QUERY; side < SIDES; side++)
		counts[side] = lists(contrast, side);
	if (contrast->options.guide)
		guide_take(&contrast->guide, reader, record, counts);
}

/* Takes the record that was read ahead, if all ranks have one. */
static bool
advance(struct contrast *contrast)
{
	struct contrast_position *position = &contrast->position;
	struct sync_message message = { .state = SYNC_END };

	contrast->sync.awaited = true;
	if (read_ahead(contrast)) {
		take_beside(contrast);
		message = message_of(contrast);
	}
	if (!batch_sync_exchange(&contrast->sync, &message, contrast_name(contrast)))
		return false;
	uint64_t hash = hash_attributes(batch_sync_hash(&contrast->sync), contrast,
	    (const char *const[]){ "temperature", "experts", "prompt_tokens", NULL });
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

void
contrast_rewind(struct contrast *contrast)
{
	stream_close(contrast->reader);
	open_stream(contrast);
	contrast->ahead = false;
	contrast->pass = contrast->epoch = contrast->epochs = 0;
	contrast->position = (struct contrast_position){ .step = -1 };
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
		batch->temperature = tree_real(
		    attributes, "temperature", contrast->options.usual_temperature);
	if (!(batch->temperature > 0))
		bad(contrast, "the temperature is not above 0");
	batch->stream = contrast_name(contrast);
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
	struct contrast_position position = contrast->position;

	if (contrast->precomputed)
		position.documents = precomputed_hash(contrast->precomputed);
	return position;
}

void
contrast_resume(struct contrast *contrast, const struct contrast_position *position)
{
	if (contrast_position(contrast).documents != position->documents)
		die("%s: is not the file of embeddings that the checkpoint was trained with; give the same, or --restart",
		    contrast->options.documents);
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
