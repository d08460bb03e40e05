#include "mts/held.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/spool.h"
#include "base/strings.h"
#include "stream/gather.h"
#include "text/json.h"

enum {
	PUT_ROWS = 1024,
	PUT_BYTES = 64 << 20, /* wide rows make smaller records */
	PIECES = STREAM_DEPTH + 1
};

struct entry {
	int64_t at,
	    row; /* where the spool says where its record's columns are; row there */
	int64_t number;	    /* among the rows of the stream */
	int64_t attributes; /* among the texts */
};

struct held {
	const struct reader *reader;
	int columns;
	struct order *order;
	int keys_of_row;
	int64_t sample, seen;
	struct rng rng;
	struct entry *entries;
	int64_t *keys; /* [count, keys_of_row] */
	int64_t count;
	size_t entries_capacity, keys_capacity;
	struct strings *attributes; /* as JSON, each once */
	struct spool spool;

	/* of the record that is being added */
	int64_t *slots; /* where its rows go */
	struct place *places;
	size_t slots_capacity, places_capacity;
	struct gather *gathers; /* [columns] */
	struct array *arrays;	/* [columns] */
};

struct held *
held_new(const struct reader *reader, struct order *order, int64_t sample, uint64_t seed)
{
	struct held *held = mem_zero(1, sizeof *held);

	held->reader = reader;
	held->columns = stream_columns(reader);
	held->order = order;
	held->keys_of_row = order_count(order);
	held->sample = sample;
	held->rng = rng_seed(seed, 0);
	held->attributes = strings_new();
	held->gathers = mem_zero((size_t)held->columns, sizeof *held->gathers);
	held->arrays = mem_zero((size_t)held->columns, sizeof *held->arrays);
	return held;
}

/* Which entry the next row becomes; -1: none. */
static int64_t
next_slot(struct held *held)
{
	int64_t seen = held->seen++;

	if (!held->sample || held->count < held->sample) {
		held->entries = mem_grow(held->entries, &held->entries_capacity,
		    (size_t)held->count + 1, sizeof *held->entries);
		held->keys = mem_grow(held->keys, &held->keys_capacity,
		    (size_t)(held->count + 1) * (size_t)held->keys_of_row + 1,
		    sizeof *held->keys);
		return held->count++;
	}
	int64_t slot = (int64_t)rng_below(&held->rng, (uint64_t)seen + 1);
	return slot < held->sample ? slot : -1;
}

/* Bytes into the spool, aligned; returns where they begin. */
static int64_t
put_piece(struct held *held, const void *bytes, size_t count)
{
	static const char zeros[8];
	int64_t at = (int64_t)held->spool.bytes;

	spool_write(&held->spool, bytes, count);
	spool_write(&held->spool, zeros, -count % sizeof zeros);
	return at;
}

/* The columns into the spool; returns where it says where they are: [columns, PIECES]. */
static int64_t
put_columns(struct held *held, const struct array *arrays, int64_t rows)
{
	int64_t *table = mem_zero((size_t)held->columns * PIECES, sizeof *table),
		*at = table;

	for (int c = 0; c < held->columns; c++, at += PIECES) {
		const struct column *column = stream_column(held->reader, c);
		const struct array *array = &arrays[c];
		int64_t lists = rows;
		for (int d = 0; d < column->depth; d++) {
			at[d] = put_piece(held, array->offsets[d],
			    (size_t)(lists + 1) * sizeof(int64_t));
			lists = array->offsets[d][lists];
		}
		at[STREAM_DEPTH] = put_piece(
		    held, array->data, (size_t)lists * column_element_size(column));
	}
	int64_t place =
	    put_piece(held, table, (size_t)held->columns * PIECES * sizeof *table);
	free(table);
	return place;
}

static int64_t
attributes_of(struct held *held, const struct record *record)
{
	char *text = json_text(record->attributes, 0);
	int64_t number = strings_add(held->attributes, text, strlen(text), NULL);

	free(text);
	return number;
}

void
held_add(struct held *held, const struct record *record, const int64_t *rows,
    int64_t count, int64_t before)
{
	int64_t taken = 0;

	held->slots = mem_grow(
	    held->slots, &held->slots_capacity, (size_t)count, sizeof *held->slots);
	held->places = mem_grow(
	    held->places, &held->places_capacity, (size_t)count, sizeof *held->places);
	for (int64_t i = 0; i < count; i++) {
		int64_t slot = next_slot(held);
		if (slot < 0)
			continue;
		held->slots[taken] = slot;
		held->places[taken++] = (struct place){ record->columns, rows[i] };
	}
	if (!taken)
		return;
	bool whole = taken == record->rows;
	for (int c = 0; c < held->columns && !whole; c++)
		held->arrays[c] = gather_rows(&held->gathers[c],
		    stream_column(held->reader, c), c, held->places, taken);
	int64_t at = put_columns(held, whole ? record->columns : held->arrays, taken),
		attributes = attributes_of(held, record);
	for (int64_t i = 0; i < taken; i++) {
		int64_t slot = held->slots[i], row = held->places[i].row;
		held->entries[slot] = (struct entry){ at, i, before + row, attributes };
		order_keys(
		    held->order, record, row, held->keys + slot * held->keys_of_row);
	}
}

/* Writing. ------------------------------------------------------------------------- */

static int
by_keys(const void *a, const void *b, void *of)
{
	const struct held *held = of;
	int64_t one = *(const int64_t *)a, two = *(const int64_t *)b;
	const int64_t *x = held->keys + one * held->keys_of_row,
		      *y = held->keys + two * held->keys_of_row;

	for (int i = 0; i < held->keys_of_row; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	int64_t first = held->entries[one].number, second = held->entries[two].number;
	return (first > second) - (first < second);
}

/* Columns of the record that an entry was spooled with. */
static void
find_columns(const struct held *held, const char *map, const struct entry *entry,
    struct array *arrays)
{
	const int64_t *at = (const int64_t *)(const void *)(map + entry->at);

	for (int c = 0; c < held->columns; c++, at += PIECES) {
		int depth = stream_column(held->reader, c)->depth;
		for (int d = 0; d < STREAM_DEPTH; d++)
			arrays[c].offsets[d] =
			    d < depth ? (const int64_t *)(const void *)(map + at[d])
				      : NULL;
		arrays[c].data = map + at[STREAM_DEPTH];
	}
}

static size_t
bytes_of(const struct held *held, const struct place *place)
{
	size_t bytes = 0;

	for (int c = 0; c < held->columns; c++)
		bytes += gather_bytes(
		    stream_column(held->reader, c), &place->columns[c], place->row);
	return bytes;
}

static void
put_record(struct held *held, struct writer *writer, const struct place *places,
    int64_t rows, int64_t attributes)
{
	const char *text = strings_get(held->attributes, attributes);
	struct tree *tree = json_parse(text, strlen(text), stream_name(held->reader), 1);

	for (int c = 0; c < held->columns; c++)
		held->arrays[c] = gather_rows(
		    &held->gathers[c], stream_column(held->reader, c), c, places, rows);
	stream_put(
	    writer, stream_make(writer, &(struct record){ rows, tree, held->arrays }));
	tree_free(tree);
}

void
held_put(struct held *held, struct writer *writer)
{
	int64_t *sorted = mem_new((size_t)held->count + 1, sizeof *sorted), rows;
	struct place places[PUT_ROWS];
	size_t columns = (size_t)held->columns;
	struct array *arrays = mem_new(PUT_ROWS * columns, sizeof *arrays);
	const char *map = spool_map(&held->spool);

	if (held->count < held->sample)
		warn("%s: --sample %lld: there are only %lld rows",
		    stream_name(held->reader), (long long)held->sample,
		    (long long)held->count);
	order_settle(held->order, held->keys, held->count);
	for (int64_t i = 0; i < held->count; i++)
		sorted[i] = i;
	qsort_r(sorted, (size_t)held->count, sizeof *sorted, by_keys, held);
	for (int64_t i = 0; i < held->count; i += rows) {
		int64_t attributes = held->entries[sorted[i]].attributes;
		size_t bytes = 0;
		for (rows = 0; rows < PUT_ROWS && i + rows < held->count; rows++) {
			const struct entry *entry = &held->entries[sorted[i + rows]];
			struct array *there = arrays + (size_t)rows * columns;
			if (entry->attributes != attributes)
				break;
			find_columns(held, map, entry, there);
			places[rows] = (struct place){ there, entry->row };
			bytes += bytes_of(held, &places[rows]);
			if (bytes > PUT_BYTES && rows)
				break;
		}
		put_record(held, writer, places, rows, attributes);
	}
	free(sorted);
	free(arrays);
}

void
held_free(struct held *held)
{
	for (int c = 0; c < held->columns; c++)
		gather_free(&held->gathers[c]);
	order_free(held->order);
	strings_free(held->attributes);
	spool_free(&held->spool);
	free(held->entries);
	free(held->keys);
	free(held->slots);
	free(held->places);
	free(held->gathers);
	free(held->arrays);
	free(held);
}
