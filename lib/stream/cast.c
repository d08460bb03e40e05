#include "stream/cast.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "stream/coded.h"
#include "stream/gather.h"
#include "stream/values.h"

enum { FEW = 100 };
static const float F16_MOST = 65504;

struct cast_column {
	int index, width; /* floats that are written of a vector */
	struct column from;
	struct coded *read, *coded; /* of the data that come and go; NULL: floats */
	struct floats floats;
	float *kept; /* [vectors, width], if vectors are longer */
	size_t kept_room;
	char *data;
	size_t room;
	int64_t sample; /* vectors that its ranges were taken from */
};

/* A copy of a record. */
struct held_record {
	struct record record;
	struct gather *gathers; /* [columns] */
};

struct cast {
	const struct reader *in;
	struct writer *out;
	enum cast_kind kind;
	const char *ranges;
	int keep; /* numbers of a vector; 0: all */
	struct cast_column *columns;
	int count;
	int64_t sample; /* vectors in held records */
	bool holds;	/* the ranges are not known yet */
	struct held_record *held;
	size_t held_count, held_room;
};

struct cast *
cast_new(
    const struct reader *in, struct writer *out, enum cast_kind kind, const char *ranges)
{
	struct cast *cast = mem_zero(1, sizeof *cast);

	cast->in = in;
	cast->out = out;
	cast->kind = kind;
	cast->ranges = ranges;
	cast->holds = kind == CAST_I8 && !ranges;
	return cast;
}

void
cast_keep(struct cast *cast, int numbers)
{
	cast->keep = numbers;
}

/* The coding of a column of `in`; NULL: it has none, or the column was added. */
static struct coded *
open_coded(const struct cast *cast, int index)
{
	return index < stream_columns(cast->in) ? coded_open(cast->in, index) : NULL;
}

bool
cast_fits(const struct cast *cast, int index, bool usual)
{
	const struct column *column = stream_made_column(cast->out, index);

	if (!column || column->rank != 1)
		return false;
	const char *dot = strrchr(column->name, '.'),
		   *kind = dot ? dot + 1 : column->name;
	if (usual && strcmp(kind, "emb") && (!dot || strcmp(kind, "tokens")))
		return false;
	if (dtype_is_float(column->dtype))
		return column->shape[0] <= 1 << 20;
	struct coded *coded = open_coded(cast, index);
	coded_free(coded);
	return coded;
}

/* Ranges. ---------------------------------------------------------------------------- */

/* The column of that name, or else the only embeddings. */
static int
find_calibration(const struct reader *reader, const char *name)
{
	int found = stream_find(reader, name);

	return found >= 0 ? found : values_embedding(reader, NULL, 0);
}

static void
calibrate_all(struct coded *coded, struct reader *reader, int index)
{
	const struct column *column = stream_column(reader, index);
	struct floats room = { 0 };
	struct record record;
	int64_t vectors = 0;

	while (stream_next(reader, &record)) {
		const struct array *array = &record.columns[index];
		int64_t count = column_elements(column, array, record.rows);
		const float *x = values_floats(column, array, count, &room);
		for (int64_t i = 0; i < count; i++)
			values_refuse_nan(
			    reader, index, array, i, x + i * coded->width, coded->width);
		coded_calibrate(coded, x, count);
		vectors += count;
	}
	if (!vectors)
		die("%s: column '%s' has no vector to take ranges from",
		    stream_name(reader), column->name);
	free(room.data);
	coded_ready(coded);
}

static const char *
model_of(const struct reader *reader)
{
	return tree_string(stream_properties(reader), "model", "");
}

static struct coded *
read_ranges(const struct reader *in, const char *path, const char *name, int width)
{
	struct reader *reader = stream_open(path);
	int index = find_calibration(reader, name);
	const struct column *column = stream_column(reader, index);
	struct coded *coded = coded_open(reader, index);

	if (coded ? !coded->least : !dtype_is_float(column->dtype) || column->rank != 1)
		die("%s: column '%s' has no ranges, only %s", path, column->name,
		    coded ? "bits" : "other values than vectors of floats");
	if (column->shape[0] != width)
		die("%s: column '%s' has vectors of width %lld; those to cast have %d",
		    path, column->name, (long long)column->shape[0], width);
	if (in && *model_of(in) && *model_of(reader) &&
	    strcmp(model_of(in), model_of(reader)) != 0)
		warn(
		    "%s: its vectors, whose ranges the codes get, are of model %s, those of %s of model %s",
		    path, model_of(reader), stream_name(in), model_of(in));
	if (!coded) {
		coded = coded_i8(width);
		calibrate_all(coded, reader, index);
	}
	stream_close(reader);
	return coded;
}

/* Columns. --------------------------------------------------------------------------- */

static struct coded *
new_coded(const struct cast *cast, int index, const char *name, int width)
{
	if (cast->kind == CAST_BIT)
		return coded_bits(width);
	if (cast->kind != CAST_I8)
		return NULL;
	bool made = index >= stream_columns(cast->in); /* its model is not that of `in` */
	return cast->ranges
		   ? read_ranges(made ? NULL : cast->in, cast->ranges, name, width)
		   : coded_i8(width);
}

/* Whether vectors are of the kind already. */
static bool
is_done(const struct cast *cast, const struct column *column, const struct coded *coded)
{
	switch (cast->kind) {
	case CAST_F32: return column->dtype == DTYPE_F32;
	case CAST_F16: return column->dtype == DTYPE_F16;
	case CAST_I8: return coded && coded->least && !cast->ranges;
	default: return coded && !coded->least;
	}
}

void
cast_column(struct cast *cast, int index)
{
	const struct column *column = stream_made_column(cast->out, index);
	struct coded *read = open_coded(cast, index);

	int width = read ? read->width : (int)column->shape[0];
	if (cast->keep > width)
		die("%s: column '%s' has vectors of %d numbers, fewer than --dim %d",
		    stream_name(cast->in), column->name, width, cast->keep);
	if ((!cast->keep || cast->keep == width) && is_done(cast, column, read)) {
		coded_free(read);
		return;
	}
	cast->columns =
	    mem_resize(cast->columns, (size_t)cast->count + 1, sizeof *cast->columns);
	struct cast_column *to = &cast->columns[cast->count++];
	*to = (struct cast_column){ .index = index,
		.width = cast->keep ? cast->keep : width,
		.from = *column,
		.read = read };
	to->coded = new_coded(cast, index, column->name, to->width);
	enum dtype dtype = to->coded		    ? to->coded->dtype
			   : cast->kind == CAST_F16 ? DTYPE_F16
						    : DTYPE_F32;
	stream_recast(cast->out, index, dtype, to->coded ? to->coded->size : to->width);
	if (to->coded && !cast->holds)
		coded_tell(to->coded, cast->out, column->name);
}

/* Records. --------------------------------------------------------------------------- */

/* Dies on numbers that the new kind cannot hold. */
static void
check_range(const struct cast *cast, const struct cast_column *column, const float *x,
    int64_t count)
{
	bool codes = column->coded;

	for (int64_t i = 0; i < count * column->width; i++) {
		if (!isfinite(x[i]) ? !codes : codes || fabsf(x[i]) <= F16_MOST)
			continue;
		die("%s: record %lld: column '%s': vector %lld has the number %g, which %s cannot hold",
		    stream_name(cast->in), (long long)stream_records(cast->in),
		    column->from.name, (long long)(i / column->width) + 1, (double)x[i],
		    codes ? "codes" : "f16");
	}
}

/* The first numbers of vectors [count, whole]. */
static const float *
first_numbers(struct cast_column *column, const float *x, int64_t count, size_t whole)
{
	size_t width = (size_t)column->width;

	if (whole == width)
		return x;
	column->kept = mem_grow(column->kept, &column->kept_room,
	    (size_t)count * width + 1, sizeof *column->kept);
	for (size_t i = 0; i < (size_t)count; i++)
		memcpy(column->kept + i * width, x + i * whole, width * sizeof *x);
	return column->kept;
}

/* The column's vectors as floats, as many numbers as are written. */
static const float *
floats_of(struct cast_column *column, const struct record *record, int64_t *count)
{
	const struct array *array = &record->columns[column->index];

	*count = column_elements(&column->from, array, record->rows);
	const float *x =
	    coded_floats(column->read, &column->from, array, *count, &column->floats);
	return first_numbers(column, x, *count,
	    column->read ? (size_t)column->read->width : (size_t)column->from.shape[0]);
}

static void
convert(const struct cast *cast, struct cast_column *column, struct record *record)
{
	const struct coded *coded = column->coded;
	int64_t count;
	const float *x = floats_of(column, record, &count);
	size_t numbers = (size_t)count * (size_t)column->width;

	if (count && cast->kind == CAST_I8 && !cast->ranges && !column->sample)
		die("%s: record %lld: column '%s' has its first vectors after those that the ranges of the codes are taken from; give --ranges",
		    stream_name(cast->in), (long long)stream_records(cast->in),
		    column->from.name);
	if (cast->kind == CAST_F32) {
		record->columns[column->index].data = x;
		return;
	}
	check_range(cast, column, x, count);
	size_t bytes = coded ? (size_t)count * (size_t)coded->size : 2 * numbers;
	column->data = mem_grow(column->data, &column->room, bytes + 1, 1);
	if (coded)
		coded_encode(coded, column->data, x, count);
	else
		tensor_from_f32(column->data, DTYPE_F16, x, numbers);
	record->columns[column->index].data = column->data;
}

static void
put(struct cast *cast, struct record *record)
{
	for (int i = 0; i < cast->count; i++)
		convert(cast, &cast->columns[i], record);
	stream_put(cast->out, record);
}

/* The column as it was before stream_recast. */
static const struct column *
column_from(const struct cast *cast, int index)
{
	for (int i = 0; i < cast->count; i++)
		if (cast->columns[i].index == index)
			return &cast->columns[i].from;
	return stream_made_column(cast->out, index);
}

static void
hold(struct cast *cast, const struct record *record)
{
	int columns = stream_made_columns(cast->out);
	struct row_ref *refs = mem_new((size_t)record->rows + 1, sizeof *refs);
	cast->held = mem_grow(
	    cast->held, &cast->held_room, cast->held_count + 1, sizeof *cast->held);
	struct held_record *held = &cast->held[cast->held_count++];

	*held = (struct held_record){
		.record = { record->rows, tree_copy(record->attributes),
		    mem_zero((size_t)columns, sizeof *held->record.columns) },
		.gathers = mem_zero((size_t)columns, sizeof *held->gathers)
	};
	for (int64_t row = 0; row < record->rows; row++)
		refs[row] = (struct row_ref){ record->columns, row };
	for (int i = 0; i < columns; i++) {
		const struct column *column = column_from(cast, i);
		if (column)
			held->record.columns[i] =
			    gather_rows(&held->gathers[i], column, i, refs, record->rows);
	}
	free(refs);
	for (int i = 0; i < cast->count; i++) {
		int64_t count;
		const float *x = floats_of(&cast->columns[i], record, &count);
		check_range(cast, &cast->columns[i], x, count);
		coded_calibrate(cast->columns[i].coded, x, count);
		cast->columns[i].sample += count;
		cast->sample += count;
	}
}

/* The ranges are known: writes the records held. */
static void
release(struct cast *cast)
{
	int columns = stream_made_columns(cast->out);
	int64_t few = 0;

	cast->holds = false;
	for (int i = 0; i < cast->count; i++) {
		int64_t sample = cast->columns[i].sample;
		if (sample && sample < FEW && (!few || sample < few))
			few = sample;
		coded_ready(cast->columns[i].coded);
		coded_tell(cast->columns[i].coded, cast->out, cast->columns[i].from.name);
	}
	if (few)
		warn(
		    "the ranges of the codes are those of %lld vectors; take those of more with --ranges",
		    (long long)few);
	for (size_t r = 0; r < cast->held_count; r++) {
		struct held_record *held = &cast->held[r];
		put(cast, &held->record);
		for (int i = 0; i < columns; i++)
			gather_free(&held->gathers[i]);
		free(held->gathers);
		free(held->record.columns);
		tree_free(held->record.attributes);
	}
	free(cast->held);
}

void
cast_put(struct cast *cast, struct record *made)
{
	if (!cast->holds || !cast->count) {
		put(cast, made);
		return;
	}
	hold(cast, made);
	if (cast->sample >= CAST_SAMPLE)
		release(cast);
}

void
cast_finish(struct cast *cast)
{
	if (cast->holds)
		release(cast);
	for (int i = 0; i < cast->count; i++) {
		struct cast_column *column = &cast->columns[i];
		coded_free(column->read);
		coded_free(column->coded);
		free(column->floats.data);
		free(column->kept);
		free(column->data);
	}
	free(cast->columns);
	free(cast);
}
