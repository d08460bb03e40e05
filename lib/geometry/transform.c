#include "geometry/transform.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/rng.h"
#include "search/vectors.h"

/* A column, and its vectors after the map. */
struct mapped {
	struct vectors *vectors;
	int slot; /* in written records */
	float *made;
	size_t capacity;
};

static const char *
column_name(const struct vectors *vectors)
{
	return stream_column(vectors->reader, vectors->column)->name;
}

/* Dies unless the map fits the vectors. */
static void
check(const struct transform *transform, const struct vectors *vectors, bool any_model)
{
	const char *stream = stream_name(vectors->reader);
	const char *model = tree_string(stream_properties(vectors->reader), "model", "");

	if (!any_model && *model && *transform->model &&
	    strcmp(model, transform->model) != 0)
		die("%s: its vectors are of model %s, %s was fitted to those of model %s; fit one to this model, or say --any-model",
		    stream, model, transform->name, transform->model);
	if (!any_model && strcmp(vectors_kind(vectors), transform->kind) != 0)
		die("%s: its vectors are %s, %s was fitted to %s; make both alike, or say --any-model",
		    stream, vectors_kind(vectors), transform->name, transform->kind);
	if (vectors->width != transform->in)
		die("%s: the vectors of %s have width %d, %s was fitted to such of %d",
		    stream, column_name(vectors), vectors->width, transform->name,
		    transform->in);
}

static struct mapped *
open_columns(const struct transform *transform, struct reader *reader,
    struct writer *writer, const struct transform_options *options, int *count)
{
	const struct embeddings_options *wanted = options->columns;

	*count = wanted->count ? wanted->count : 1;
	struct mapped *columns = mem_zero((size_t)*count, sizeof *columns);

	for (int i = 0; i < *count; i++) {
		struct vectors *vectors = columns[i].vectors = vectors_open(
		    reader, wanted->count ? wanted->fields[i] : NULL, VECTORS_LISTS);
		struct column column = *stream_column(reader, vectors->column);
		check(transform, vectors, wanted->any_model);
		column.dtype = DTYPE_F32;
		column.shape[0] = transform->out;
		columns[i].slot = stream_add(writer, &column);
	}
	return columns;
}

/* Warns of embeddings that are not mapped, because the model is a property of the whole stream. */
static void
tell_others(const struct reader *reader, const struct mapped *columns, int count)
{
	for (int c = 0; c < stream_columns(reader); c++) {
		bool mapped = false;
		for (int i = 0; i < count; i++)
			mapped |= columns[i].vectors->column == c;
		if (!mapped && values_is_embedding(stream_column(reader, c)))
			warn(
			    "%s: '%s' is not mapped, but will count as mapped; name it by --field, too, or drop it",
			    stream_name(reader), stream_column(reader, c)->name);
	}
}

static void
map(const struct transform *transform, struct mapped *column, const struct record *record)
{
	struct vectors *vectors = column->vectors;

	vectors_load(vectors, record);
	size_t count = (size_t)vectors->count, values = count * (size_t)transform->out;
	column->made =
	    mem_grow(column->made, &column->capacity, values, sizeof *column->made);
	transform->apply(transform->with, column->made, vectors->raw, count);
	for (size_t i = 0; i < values; i++)
		if (!isfinite(column->made[i]))
			die("%s: record %lld: %s maps vector %zu of %s to values that are not finite",
			    stream_name(vectors->reader),
			    (long long)stream_records(vectors->reader), transform->name,
			    i / (size_t)transform->out + 1, column_name(vectors));
}

char *
transform_model(uint64_t hash, const char *model)
{
	return mem_format("%016" PRIx64, rng_hash(hash, model, strlen(model)));
}

void
transform_tell_kind(struct writer *writer, const char *kind)
{
	stream_property(writer, "emb", strcmp(kind, "embeddings") != 0 ? kind : NULL);
}

const char *
transform_kind(const struct reader *reader)
{
	return tree_string(stream_properties(reader), "emb", "embeddings");
}

void
transform_stream(const struct transform *transform, const char *path,
    const struct transform_options *options)
{
	struct reader *reader = stream_open(path);
	struct writer *writer = stream_create(options->output, reader);
	struct record record;
	int count;

	stream_level(writer, options->level);
	stream_property(writer, "model", *transform->made ? transform->made : NULL);
	struct mapped *columns = open_columns(transform, reader, writer, options, &count);
	tell_others(reader, columns, count);
	struct progress *progress = stream_progress(reader);
	while (stream_next(reader, &record)) {
		struct record *made = stream_make(writer, &record);
		for (int i = 0; i < count; i++) {
			map(transform, &columns[i], &record);
			made->columns[columns[i].slot] =
			    record.columns[columns[i].vectors->column];
			made->columns[columns[i].slot].data = columns[i].made;
		}
		stream_put(writer, made);
	}
	progress_free(progress);
	stream_finish(writer);
	for (int i = 0; i < count; i++) {
		vectors_close(columns[i].vectors);
		free(columns[i].made);
	}
	free(columns);
	stream_close(reader);
}
