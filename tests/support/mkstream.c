/*
 * mkstream - JSON Lines as a tensor stream, with vectors: what encode would have written
 *
 * mkstream [ROWS [DTYPE [MODEL [SIMILARITY]]]] <rows.jsonl >rows.mts	ROWS a record (default: 16);
 * vectors of DTYPE (f32); the model's name and its similarity in the header
 * mkstream random N WIDTH SEED >random.mts	N unit vectors "text.emb" with _id d0, d1, ...
 *
 * The first line decides the columns: a string is text, a whole number i64, a number f64, a list
 * of these a list; NAME.emb, .hs, .rw and .tokens are vectors or lists of them, null in them is NaN.
 * An empty list has no type and cannot stand there.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "stream/stream.h"
#include "text/datafile.h"

enum { COLUMNS = 16 };

struct buffer {
	struct column column;
	int64_t *offsets[STREAM_DEPTH];
	size_t offset_count[STREAM_DEPTH], offset_capacity[STREAM_DEPTH];
	char *data;
	size_t used, capacity;
};

static void
append(struct buffer *buffer, const void *bytes, size_t count)
{
	buffer->data = mem_grow(buffer->data, &buffer->capacity, buffer->used + count, 1);
	if (count)
		memcpy(buffer->data + buffer->used, bytes, count);
	buffer->used += count;
}

static void
append_offset(struct buffer *buffer, int level, int64_t offset)
{
	size_t count = buffer->offset_count[level]++;

	buffer->offsets[level] = mem_grow(buffer->offsets[level],
	    &buffer->offset_capacity[level], count + 1, sizeof(int64_t));
	buffer->offsets[level][count] = offset;
}

static void
empty(struct buffer *buffer)
{
	buffer->used = 0;
	for (int level = 0; level < buffer->column.depth; level++) {
		buffer->offset_count[level] = 0;
		append_offset(buffer, level, 0);
	}
}

static bool
is_vectors(const char *key)
{
	const char *ending = strrchr(key, '.');

	return ending && ending > key &&
	       (!strcmp(ending, ".emb") || !strcmp(ending, ".hs") ||
		   !strcmp(ending, ".rw") || !strcmp(ending, ".tokens"));
}

/* A value whose kind all values of a list have: its first, or a real number among integers. */
static const struct tree *
first(const struct tree *list)
{
	if (list->kind != TREE_LIST || !list->count)
		tree_die(list, "the first row must have something in the list '%s'",
		    list->key);
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i]->kind == TREE_REAL)
			return list->items[i];
	return list->items[0];
}

static void
describe(struct buffer *buffer, const struct tree *value, enum dtype dtype)
{
	struct column *column = &buffer->column;

	*column = (struct column){ .name = mem_string(value->key) };
	const struct tree *inner = value;
	if (is_vectors(value->key)) {
		column->depth = first(value)->kind == TREE_LIST;
		column->dtype = dtype;
		column->rank = 1;
		column->shape[0] =
		    (int64_t)(column->depth ? value->items[0] : value)->count;
	} else {
		if (value->kind == TREE_LIST) {
			column->depth = 1;
			inner = first(value);
		}
		column->text = inner->kind == TREE_STRING;
		column->depth += column->text;
		column->dtype = column->text		      ? DTYPE_U8
				: inner->kind == TREE_INTEGER ? DTYPE_I64
							      : DTYPE_F64;
	}
}

static void
put_value(struct buffer *buffer, const struct tree *value)
{
	if (buffer->column.text) {
		append(buffer, value->string, value->length);
		append_offset(buffer, buffer->column.depth - 1, (int64_t)buffer->used);
	} else if (buffer->column.rank == 0 && buffer->column.dtype == DTYPE_I64) {
		if (value->kind == TREE_REAL)
			tree_die(value, "a real number in a column of integers");
		append(buffer, &value->integer, sizeof value->integer);
	} else if (buffer->column.rank == 0) {
		double real = value->kind == TREE_NULL ? NAN : value->real;
		append(buffer, &real, sizeof real);
	} else {
		for (size_t i = 0; i < value->count; i++) {
			float part = value->items[i]->kind == TREE_NULL
					 ? NAN
					 : (float)value->items[i]->real;
			double wide;
			tensor_from_f32(&wide, buffer->column.dtype, &part, 1);
			append(buffer, &wide, dtype_size(buffer->column.dtype));
		}
	}
}

static void
put(struct buffer *buffer, const struct tree *value)
{
	int lists = buffer->column.depth - buffer->column.text;

	if (lists == 0) {
		put_value(buffer, value);
		return;
	}
	for (size_t i = 0; i < value->count; i++)
		put_value(buffer, value->items[i]);
	append_offset(buffer, 0,
	    buffer->offsets[0][buffer->offset_count[0] - 1] + (int64_t)value->count);
}

static void
flush(struct writer *writer, struct buffer *buffers, int columns, int64_t rows)
{
	struct record *record = stream_make(writer, NULL);

	record->rows = rows;
	for (int i = 0; i < columns; i++) {
		for (int level = 0; level < buffers[i].column.depth; level++)
			record->columns[i].offsets[level] = buffers[i].offsets[level];
		record->columns[i].data = buffers[i].data;
	}
	stream_put(writer, record);
	for (int i = 0; i < columns; i++)
		empty(&buffers[i]);
}

static void
release(struct buffer *buffer)
{
	for (int level = 0; level < STREAM_DEPTH; level++)
		free(buffer->offsets[level]);
	free(buffer->data);
}

static void
convert(
    int64_t rows_a_record, enum dtype dtype, const char *model, const char *similarity)
{
	struct datafile *file = datafile_open("-", DATAFILE_JSONL);
	struct writer *writer = stream_create("-", NULL);
	struct buffer buffers[COLUMNS] = { 0 };
	const struct tree *row;
	int64_t rows = 0;
	int columns = 0;

	stream_property(writer, "model", model);
	stream_property(writer, "similarity", similarity);
	while ((row = datafile_next(file))) {
		if (row->count > COLUMNS)
			tree_die(row, "a row has %zu columns, of at most %d", row->count,
			    COLUMNS);
		for (size_t i = 0; columns == 0 && i < row->count && i < COLUMNS; i++) {
			describe(&buffers[i], row->items[i], dtype);
			stream_add(writer, &buffers[i].column);
			empty(&buffers[i]);
		}
		columns = columns ? columns : (int)row->count;
		for (int i = 0; i < columns; i++)
			put(&buffers[i], tree_need(row, buffers[i].column.name));
		if (++rows == rows_a_record) {
			flush(writer, buffers, columns, rows);
			rows = 0;
		}
	}
	if (rows)
		flush(writer, buffers, columns, rows);
	stream_finish(writer);
	datafile_close(file);
	for (int i = 0; i < columns; i++) {
		free((char *)buffers[i].column.name);
		release(&buffers[i]);
	}
}

static void
randoms(int64_t n, int width, uint64_t seed)
{
	struct writer *writer = stream_create("-", NULL);
	struct rng rng = rng_seed(seed, 0);
	struct buffer buffers[2] = {
		{ .column = { .name = "_id",
		      .dtype = DTYPE_U8,
		      .text = true,
		      .depth = 1 } },
		{ .column = { .name = "text.emb", .rank = 1, .shape = { width } } },
	};

	for (int i = 0; i < 2; i++) {
		stream_add(writer, &buffers[i].column);
		empty(&buffers[i]);
	}
	for (int64_t row = 0; row < n; row++) {
		char id[32];
		append(&buffers[0], id,
		    (size_t)snprintf(id, sizeof id, "d%lld", (long long)row));
		append_offset(&buffers[0], 0, (int64_t)buffers[0].used);
		for (int i = 0; i < width; i++) {
			float part = (float)(rng_normal(&rng) / sqrt(width));
			append(&buffers[1], &part, sizeof part);
		}
		if (row % 1024 == 1023 || row == n - 1)
			flush(writer, buffers, 2, row % 1024 + 1);
	}
	stream_finish(writer);
	release(&buffers[0]);
	release(&buffers[1]);
}

int
main(int argc, char **argv)
{
	enum dtype dtype = DTYPE_F32;

	program_name = "mkstream";
	bool random = argc == 5 && strcmp(argv[1], "random") == 0;
	if (argc >= 3 && !random && !dtype_parse(argv[2], &dtype))
		die_usage("'%s' is no dtype", argv[2]);
	if (random)
		randoms(atoll(argv[2]), atoi(argv[3]), strtoull(argv[4], NULL, 10));
	else if (argc <= 5)
		convert(argc >= 2 ? atoll(argv[1]) : 16, dtype,
		    argc >= 4 ? argv[3] : NULL, argc == 5 ? argv[4] : NULL);
	else
		die_usage(
		    "mkstream [ROWS [DTYPE [MODEL [SIMILARITY]]]] | mkstream random N WIDTH SEED");
	return 0;
}
