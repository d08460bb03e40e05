#include "train/corpus.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "stream/stream.h"
#include "token/tokenizer.h"

struct corpus {
	struct reader *reader; /* NULL once the file is in memory */
	char *name;
	struct tree *about; /* stream_about */
	int *columns;
	int column_count;
	/* the sequences in memory: the whole file's, or the last record's */
	int32_t *ids;
	int64_t *starts;
	int64_t lists, next;
	size_t ids_capacity, starts_capacity;
	bool whole;
	int64_t shortest, left_out; /* left_out: not yet reported */
	int64_t epochs, position;
	uint64_t seed, hash;
	struct corpus_batch batch;
	size_t batch_ids_capacity, batch_starts_capacity;
};

static void
find_columns(struct corpus *corpus)
{
	for (int i = 0; i < stream_columns(corpus->reader); i++) {
		const struct column *column = stream_column(corpus->reader, i);
		size_t length = strlen(column->name);
		if (length < 4 || strcmp(column->name + length - 4, ".ids") != 0)
			continue;
		if (column->dtype != DTYPE_I32 || column->depth < 1 || column->rank)
			die("%s: column \"%s\" does not hold lists of token ids (i32)",
			    corpus->name, column->name);
		corpus->columns = mem_resize(corpus->columns,
		    (size_t)corpus->column_count + 1, sizeof *corpus->columns);
		corpus->columns[corpus->column_count++] = i;
	}
	if (!corpus->column_count)
		die("%s: there is no column NAME.ids; tokenise the texts with tok",
		    corpus->name);
}

/* Appends the lists of a record's column to the sequences in memory. */
static void
add_lists(struct corpus *corpus, const struct column *column, const struct array *array,
    int64_t rows)
{
	const int64_t *offsets = column_list_offsets(column, array);
	int64_t lists = column_lists(column, array, rows);
	int64_t used = corpus->starts[corpus->lists];

	corpus->ids = mem_grow(corpus->ids, &corpus->ids_capacity,
	    (size_t)(used + offsets[lists]), sizeof *corpus->ids);
	corpus->starts = mem_grow(corpus->starts, &corpus->starts_capacity,
	    (size_t)(corpus->lists + lists) + 1, sizeof *corpus->starts);
	for (int64_t i = 0; i < lists; i++) {
		int64_t length = offsets[i + 1] - offsets[i];
		if (length < corpus->shortest) {
			corpus->left_out += length > 0;
			continue;
		}
		memcpy(corpus->ids + used, (const int32_t *)array->data + offsets[i],
		    (size_t)length * sizeof *corpus->ids);
		corpus->starts[++corpus->lists] = used += length;
	}
}

static bool
next_record(struct corpus *corpus)
{
	struct record record;

	if (!stream_next(corpus->reader, &record)) {
		if (corpus->left_out)
			warn("%s: %lld texts of fewer than %lld tokens are left out",
			    corpus->name, (long long)corpus->left_out,
			    (long long)corpus->shortest);
		corpus->left_out = 0;
		return false;
	}
	for (int i = 0; i < corpus->column_count; i++)
		add_lists(corpus, stream_column(corpus->reader, corpus->columns[i]),
		    &record.columns[corpus->columns[i]], record.rows);
	return true;
}

struct corpus *
corpus_open(
    const char *path, const char *model, int64_t shortest, int64_t epochs, uint64_t seed)
{
	struct corpus *corpus = mem_zero(1, sizeof *corpus);

	corpus->reader = stream_open(path);
	corpus->name = mem_string(stream_name(corpus->reader));
	corpus->about = stream_about(corpus->reader);
	corpus->seed = seed;
	corpus->shortest = shortest;
	corpus->epochs = epochs;
	corpus->starts =
	    mem_grow(NULL, &corpus->starts_capacity, 1, sizeof *corpus->starts);
	corpus->starts[0] = 0;
	tokenizer_check(corpus->reader, model);
	find_columns(corpus);
	if (strcmp(path, "-") == 0)
		return corpus;

	while (next_record(corpus))
		;
	stream_close(corpus->reader);
	corpus->reader = NULL;
	corpus->whole = true;
	corpus->hash = rng_hash(
	    0, corpus->ids, (size_t)corpus->starts[corpus->lists] * sizeof *corpus->ids);
	corpus->hash = rng_hash(corpus->hash, corpus->starts,
	    (size_t)(corpus->lists + 1) * sizeof *corpus->starts);
	return corpus;
}

void
corpus_close(struct corpus *corpus)
{
	if (corpus->reader)
		stream_close(corpus->reader);
	free(corpus->name);
	tree_free(corpus->about);
	free(corpus->columns);
	free(corpus->ids);
	free(corpus->starts);
	free(corpus->batch.ids);
	free(corpus->batch.starts);
	free(corpus);
}

/* Index of the next sequence in memory; -1 at the end. */
static int64_t
peek(struct corpus *corpus)
{
	if (corpus->whole) {
		if (!corpus->lists || corpus->position / corpus->lists >= corpus->epochs)
			return -1;
		uint64_t epoch = (uint64_t)(corpus->position / corpus->lists);
		uint64_t key = rng_hash(corpus->seed, &epoch, sizeof epoch);
		return (int64_t)rng_permute(key,
		    (uint64_t)(corpus->position % corpus->lists),
		    (uint64_t)corpus->lists);
	}
	while (corpus->next == corpus->lists) {
		corpus->next = corpus->lists = 0;
		if (!next_record(corpus))
			return -1;
	}
	return corpus->next;
}

static int64_t
length_of(const struct corpus *corpus, int64_t index)
{
	return corpus->starts[index + 1] - corpus->starts[index];
}

/* Step over the sequence that peek returned. */
static void
take(struct corpus *corpus, int64_t index)
{
	if (!corpus->whole) {
		corpus->hash = rng_hash(corpus->hash, corpus->ids + corpus->starts[index],
		    (size_t)length_of(corpus, index) * sizeof *corpus->ids);
		corpus->next++;
	}
	corpus->position++;
}

bool
corpus_next(struct corpus *corpus, int64_t budget, struct corpus_batch *batch)
{
	struct corpus_batch *b = &corpus->batch;
	int64_t used = 0, index;

	b->sequences = 0;
	b->starts =
	    mem_grow(b->starts, &corpus->batch_starts_capacity, 1, sizeof *b->starts);
	b->starts[0] = 0;
	while ((index = peek(corpus)) >= 0) {
		int64_t length = length_of(corpus, index);
		int64_t epoch = corpus->whole ? corpus->position / corpus->lists : 0;
		/* a batch does not span epochs */
		if (b->sequences && (used + length > budget || epoch != b->epoch))
			break;
		b->epoch = epoch;
		b->ids = mem_grow(b->ids, &corpus->batch_ids_capacity,
		    (size_t)(used + length), sizeof *b->ids);
		b->starts = mem_grow(b->starts, &corpus->batch_starts_capacity,
		    (size_t)b->sequences + 2, sizeof *b->starts);
		memcpy(b->ids + used, corpus->ids + corpus->starts[index],
		    (size_t)length * sizeof *b->ids);
		b->starts[++b->sequences] = used += length;
		take(corpus, index);
	}
	*batch = *b;
	return b->sequences > 0;
}

int64_t
corpus_batches(struct corpus *corpus, int64_t budget)
{
	int64_t batches = 0, used = 0, epoch = -1, index;

	if (!corpus->whole)
		return -1;
	while ((index = peek(corpus)) >= 0) {
		int64_t length = length_of(corpus, index),
			now = corpus->position / corpus->lists;
		if (now != epoch || used + length > budget) {
			batches++;
			used = 0;
		}
		epoch = now;
		used += length;
		take(corpus, index);
	}
	corpus->position = 0;
	return batches;
}

int64_t
corpus_position(const struct corpus *corpus)
{
	return corpus->position;
}

bool
corpus_skip(struct corpus *corpus, int64_t position)
{
	if (corpus->whole) {
		corpus->position = position;
		return position <= corpus->lists * corpus->epochs;
	}
	while (corpus->position < position) {
		int64_t index = peek(corpus);
		if (index < 0)
			return false;
		take(corpus, index);
	}
	return true;
}

uint64_t
corpus_hash(const struct corpus *corpus)
{
	return corpus->hash;
}

const char *
corpus_name(const struct corpus *corpus)
{
	return corpus->name;
}

struct tree *
corpus_about(const struct corpus *corpus)
{
	return tree_copy(corpus->about);
}
