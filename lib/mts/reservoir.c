#include "mts/reservoir.h"

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

struct reservoir_row {
	int64_t at;	/* offset in the spool of the offsets of its record's columns */
	int64_t row;	/* in this record */
	int64_t number; /* in the stream */
	int64_t attributes; /* number in reservoir->attributes */
};

struct reservoir {
	const struct reader *reader;
	int columns;
	struct order *order;
	int keys_of_row;
	int64_t sample, seen;
	struct rng rng;
	struct reservoir_row *entries;
	int64_t *keys; /* [count, keys_of_row] */
	int64_t count;
	size_t entries_capacity, keys_capacity;
	struct strings *attributes; /* as JSON, distinct */
	struct spool spool;

	/* of the record being added */
	int64_t *slots; /* entries of its rows */
	struct row_ref *refs;
	size_t slots_capacity, refs_capacity;
	struct gather *gathers; /* [columns] */
	struct array *arrays;	/* [columns] */
};

struct reservoir *
reservoir_new(
    const struct reader *reader, struct order *order, int64_t sample, uint64_t seed)
{
	struct reservoir *reservoir = mem_zero(1, sizeof *reservoir);

	reservoir->reader = reader;
	reservoir->columns = stream_columns(reader);
	reservoir->order = order;
	reservoir->keys_of_row = order_count(order);
	reservoir->sample = sample;
	reservoir->rng = rng_seed(seed, 0);
	reservoir->attributes = strings_new();
	reservoir->gathers =
	    mem_zero((size_t)reservoir->columns, sizeof *reservoir->gathers);
	reservoir->arrays =
	    mem_zero((size_t)reservoir->columns, sizeof *reservoir->arrays);
	return reservoir;
}

/* The entry that the next row becomes; -1: it is not sampled. */
static int64_t
next_slot(struct reservoir *reservoir)
{
	int64_t seen = reservoir->seen++;

	if (!reservoir->sample || reservoir->count < reservoir->sample) {
		reservoir->entries =
		    mem_grow(reservoir->entries, &reservoir->entries_capacity,
			(size_t)reservoir->count + 1, sizeof *reservoir->entries);
		reservoir->keys = mem_grow(reservoir->keys, &reservoir->keys_capacity,
		    (size_t)(reservoir->count + 1) * (size_t)reservoir->keys_of_row + 1,
		    sizeof *reservoir->keys);
		return reservoir->count++;
	}
	int64_t slot = (int64_t)rng_below(&reservoir->rng, (uint64_t)seen + 1);
	return slot < reservoir->sample ? slot : -1;
}

/* Appends bytes to the spool, aligned; returns their offset. */
static int64_t
put_piece(struct reservoir *reservoir, const void *bytes, size_t count)
{
	static const char zeros[8];
	int64_t at = (int64_t)reservoir->spool.bytes;

	spool_write(&reservoir->spool, bytes, count);
	spool_write(&reservoir->spool, zeros, -count % sizeof zeros);
	return at;
}

/* Appends the columns to the spool, then the table of their offsets [columns, PIECES]; returns the table's offset. */
static int64_t
put_columns(struct reservoir *reservoir, const struct array *arrays, int64_t rows)
{
	int64_t *table = mem_zero((size_t)reservoir->columns * PIECES, sizeof *table),
		*at = table;

	for (int c = 0; c < reservoir->columns; c++, at += PIECES) {
		const struct column *column = stream_column(reservoir->reader, c);
		const struct array *array = &arrays[c];
		int64_t lists = rows;
		for (int d = 0; d < column->depth; d++) {
			at[d] = put_piece(reservoir, array->offsets[d],
			    (size_t)(lists + 1) * sizeof(int64_t));
			lists = array->offsets[d][lists];
		}
		at[STREAM_DEPTH] = put_piece(
		    reservoir, array->data, (size_t)lists * column_element_size(column));
	}
	int64_t place = put_piece(
	    reservoir, table, (size_t)reservoir->columns * PIECES * sizeof *table);
	free(table);
	return place;
}

static int64_t
attributes_of(struct reservoir *reservoir, const struct record *record)
{
	char *text = json_text(record->attributes, 0);
	int64_t number = strings_add(reservoir->attributes, text, strlen(text), NULL);

	free(text);
	return number;
}

void
reservoir_add(struct reservoir *reservoir, const struct record *record,
    const int64_t *rows, int64_t count, int64_t before)
{
	int64_t taken = 0;

	reservoir->slots = mem_grow(reservoir->slots, &reservoir->slots_capacity,
	    (size_t)count, sizeof *reservoir->slots);
	reservoir->refs = mem_grow(reservoir->refs, &reservoir->refs_capacity,
	    (size_t)count, sizeof *reservoir->refs);
	for (int64_t i = 0; i < count; i++) {
		int64_t slot = next_slot(reservoir);
		if (slot < 0)
			continue;
		reservoir->slots[taken] = slot;
		reservoir->refs[taken++] = (struct row_ref){ record->columns, rows[i] };
	}
	if (!taken)
		return;
	bool whole = taken == record->rows;
	for (int c = 0; c < reservoir->columns && !whole; c++)
		reservoir->arrays[c] = gather_rows(&reservoir->gathers[c],
		    stream_column(reservoir->reader, c), c, reservoir->refs, taken);
	int64_t at = put_columns(
		    reservoir, whole ? record->columns : reservoir->arrays, taken),
		attributes = attributes_of(reservoir, record);
	for (int64_t i = 0; i < taken; i++) {
		int64_t slot = reservoir->slots[i], row = reservoir->refs[i].row;
		reservoir->entries[slot] =
		    (struct reservoir_row){ at, i, before + row, attributes };
		order_keys(reservoir->order, record, row,
		    reservoir->keys + slot * reservoir->keys_of_row);
	}
}

/* Writing. ------------------------------------------------------------------------- */

static int
by_keys(const void *a, const void *b, void *of)
{
	const struct reservoir *reservoir = of;
	int64_t one = *(const int64_t *)a, two = *(const int64_t *)b;
	const int64_t *x = reservoir->keys + one * reservoir->keys_of_row,
		      *y = reservoir->keys + two * reservoir->keys_of_row;

	for (int i = 0; i < reservoir->keys_of_row; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	int64_t first = reservoir->entries[one].number,
		second = reservoir->entries[two].number;
	return (first > second) - (first < second);
}

/* Finds the columns of an entry's record in the mapped spool. */
static void
find_columns(const struct reservoir *reservoir, const char *map,
    const struct reservoir_row *entry, struct array *arrays)
{
	const int64_t *at = (const int64_t *)(const void *)(map + entry->at);

	for (int c = 0; c < reservoir->columns; c++, at += PIECES) {
		int depth = stream_column(reservoir->reader, c)->depth;
		for (int d = 0; d < STREAM_DEPTH; d++)
			arrays[c].offsets[d] =
			    d < depth ? (const int64_t *)(const void *)(map + at[d])
				      : NULL;
		arrays[c].data = map + at[STREAM_DEPTH];
	}
}

static size_t
bytes_of(const struct reservoir *reservoir, const struct row_ref *ref)
{
	size_t bytes = 0;

	for (int c = 0; c < reservoir->columns; c++)
		bytes += gather_bytes(
		    stream_column(reservoir->reader, c), &ref->columns[c], ref->row);
	return bytes;
}

static void
put_record(struct reservoir *reservoir, struct writer *writer, const struct row_ref *refs,
    int64_t rows, int64_t attributes)
{
	const char *text = strings_get(reservoir->attributes, attributes);
	struct tree *tree =
	    json_parse(text, strlen(text), stream_name(reservoir->reader), 0);

	for (int c = 0; c < reservoir->columns; c++)
		reservoir->arrays[c] = gather_rows(&reservoir->gathers[c],
		    stream_column(reservoir->reader, c), c, refs, rows);
	stream_put(writer,
	    stream_make(writer, &(struct record){ rows, tree, reservoir->arrays }));
	tree_free(tree);
}

void
reservoir_put(struct reservoir *reservoir, struct writer *writer)
{
	int64_t *sorted = mem_new((size_t)reservoir->count + 1, sizeof *sorted), rows;
	struct row_ref refs[PUT_ROWS];
	size_t columns = (size_t)reservoir->columns;
	struct array *arrays = mem_new(PUT_ROWS * columns, sizeof *arrays);
	const char *map = spool_map(&reservoir->spool);

	if (reservoir->count < reservoir->sample)
		warn("%s: --sample %lld: there are only %lld rows",
		    stream_name(reservoir->reader), (long long)reservoir->sample,
		    (long long)reservoir->count);
	order_commit(reservoir->order, reservoir->keys, reservoir->count);
	for (int64_t i = 0; i < reservoir->count; i++)
		sorted[i] = i;
	qsort_r(sorted, (size_t)reservoir->count, sizeof *sorted, by_keys, reservoir);
	for (int64_t i = 0; i < reservoir->count; i += rows) {
		int64_t attributes = reservoir->entries[sorted[i]].attributes;
		size_t bytes = 0;
		for (rows = 0; rows < PUT_ROWS && i + rows < reservoir->count; rows++) {
			const struct reservoir_row *entry =
			    &reservoir->entries[sorted[i + rows]];
			struct array *there = arrays + (size_t)rows * columns;
			if (entry->attributes != attributes)
				break;
			find_columns(reservoir, map, entry, there);
			refs[rows] = (struct row_ref){ there, entry->row };
			bytes += bytes_of(reservoir, &refs[rows]);
			if (bytes > PUT_BYTES && rows)
				break;
		}
		put_record(reservoir, writer, refs, rows, attributes);
	}
	free(sorted);
	free(arrays);
}

void
reservoir_free(struct reservoir *reservoir)
{
	for (int c = 0; c < reservoir->columns; c++)
		gather_free(&reservoir->gathers[c]);
	order_free(reservoir->order);
	strings_free(reservoir->attributes);
	spool_free(&reservoir->spool);
	free(reservoir->entries);
	free(reservoir->keys);
	free(reservoir->slots);
	free(reservoir->refs);
	free(reservoir->gathers);
	free(reservoir->arrays);
	free(reservoir);
}
