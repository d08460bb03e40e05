#include "geometry/embeddings.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/progress.h"
#include "search/vectors.h"

struct embedding_stream {
	struct reader *reader;
	struct vectors **columns;
	int count;
};

struct embeddings {
	struct embeddings_options options;
	struct embedding_stream *streams;
	int count, width;
	int at, column; /* stream and column to read next; column > 0: of `record` */
	struct record record;
	int64_t rows; /* of this stream before `record` */
	struct floats relations;
	struct progress *progress;
	char *model;
};

static struct vectors *
open_column(
    struct reader *reader, const char *field, const struct embeddings_options *options)
{
	return vectors_open(
	    reader, field, options->relations || options->single ? 0 : VECTORS_LISTS);
}

static void
add_column(struct embedding_stream *stream, struct vectors *vectors)
{
	stream->columns = mem_resize(
	    stream->columns, (size_t)stream->count + 1, sizeof(struct vectors *));
	stream->columns[stream->count++] = vectors;
}

static bool
has_field(const struct reader *reader, const char *field)
{
	return values_find_embedding(reader, field, 0) >= 0 ||
	       values_find_embedding(reader, field, 1) >= 0;
}

static void
open_stream(struct embedding_stream *stream, const char *path,
    const struct embeddings_options *options, bool *there)
{
	struct reader *reader = stream->reader = stream_open(path);

	for (int i = 0; i < options->count; i++) {
		if (!options->relations && !has_field(reader, options->fields[i]))
			continue;
		there[i] = true;
		add_column(stream, open_column(reader, options->fields[i], options));
	}
	if (!stream->count) /* the only column; dies if there is none */
		add_column(
		    stream, open_column(reader,
				options->count ? options->fields[0] : NULL, options));
}

static int
stream_width(
    const struct embedding_stream *stream, const struct embeddings_options *options)
{
	int width = stream->columns[0]->width;

	for (int i = 1; options->relations && i < stream->count; i++)
		width += stream->columns[i]->width;
	return width;
}

/* Dies unless the columns of a stream have the widths and models of all streams so far: a stream without a model agrees with two
 * different ones. */
static void
check_stream(const struct embeddings *embeddings, const struct embedding_stream *stream)
{
	const struct embeddings_options *options = &embeddings->options;

	for (struct embedding_stream *other = embeddings->streams; other <= stream;
	     other++)
		for (int i = 0; i < stream->count; i++)
			vectors_agree(other->columns[options->relations ? i : 0],
			    stream->columns[i], options->any_model);
}

static char *
model_of(const struct embedding_stream *streams, int count)
{
	const char *model = "";

	for (int i = 0; i < count && !*model; i++)
		model = tree_string(stream_properties(streams[i].reader), "model", "");
	return mem_string(model);
}

/* The current stream reports progress. */
static void
watch(struct embeddings *embeddings)
{
	if (!embeddings->progress)
		return;
	progress_file(embeddings->progress);
	stream_watch(embeddings->streams[embeddings->at].reader, embeddings->progress);
}

static void
check_usage(const struct embeddings_options *options)
{
	if (options->relations && !options->count)
		die_usage(
		    "--relations needs --field, a relation's columns in their order");
	if (options->single && options->count > 1 && !options->relations)
		die_usage("one --field, or --relations: a row is one point");
	for (int i = 0; i < options->count; i++)
		for (int j = 0; j < i; j++)
			if (!strcmp(options->fields[i], options->fields[j]))
				die_usage(
				    "--field: '%s' comes twice", options->fields[i]);
}

struct embeddings *
embeddings_open(
    const char *const *paths, int count, const struct embeddings_options *options)
{
	struct embeddings *embeddings = mem_zero(1, sizeof *embeddings);
	bool *there = mem_zero((size_t)options->count + 1, sizeof *there);

	check_usage(options);
	embeddings->options = *options;
	embeddings->count = count;
	embeddings->streams = mem_zero((size_t)count, sizeof *embeddings->streams);
	for (int i = 0; i < count; i++) {
		open_stream(&embeddings->streams[i], paths[i], options, there);
		check_stream(embeddings, &embeddings->streams[i]);
	}
	for (int i = 0; i < options->count; i++)
		if (!there[i])
			die("%s: there is no column '%s.emb' of vectors%s", paths[0],
			    options->fields[i],
			    count > 1 ? ", nor in the other streams" : "");
	embeddings->width = stream_width(embeddings->streams, options);
	embeddings->model = model_of(embeddings->streams, count);
	if (!options->silent)
		embeddings->progress =
		    progress_files("rows", (char *const *)paths, count);
	watch(embeddings);
	free(there);
	return embeddings;
}

/* Reads the next record that has rows; false at the end of the last stream. */
static bool
next_record(struct embeddings *embeddings)
{
	while (embeddings->at < embeddings->count) {
		struct embedding_stream *stream = &embeddings->streams[embeddings->at];
		for (;;) {
			embeddings->rows += embeddings->record.rows;
			embeddings->record.rows = 0;
			if (!stream_next(stream->reader, &embeddings->record))
				break;
			if (embeddings->record.rows == 0)
				continue;
			for (int i = 0; i < stream->count; i++)
				vectors_load(stream->columns[i], &embeddings->record);
			return true;
		}
		if (++embeddings->at == embeddings->count)
			break;
		watch(embeddings);
		embeddings->rows = 0;
	}
	return false;
}

/* The concatenated columns of a record's rows. */
static const float *
relate(struct embeddings *embeddings, const struct embedding_stream *stream)
{
	struct floats *room = &embeddings->relations;
	size_t rows = (size_t)embeddings->record.rows, width = (size_t)embeddings->width;
	size_t place = 0;

	room->data =
	    mem_grow(room->data, &room->capacity, rows * width, sizeof *room->data);
	for (int i = 0; i < stream->count; i++) {
		size_t own = (size_t)stream->columns[i]->width;
		for (size_t row = 0; row < rows; row++)
			memcpy(room->data + row * width + place,
			    stream->columns[i]->raw + row * own,
			    own * sizeof *room->data);
		place += own;
	}
	return room->data;
}

const float *
embeddings_next(struct embeddings *embeddings, size_t *rows)
{
	for (;;) {
		if (embeddings->column == 0 && !next_record(embeddings))
			return NULL;
		const struct embedding_stream *stream =
		    &embeddings->streams[embeddings->at];
		*rows = (size_t)embeddings->record.rows;
		if (embeddings->options.relations)
			return relate(embeddings, stream);
		const struct vectors *vectors = stream->columns[embeddings->column];
		embeddings->column = (embeddings->column + 1) % stream->count;
		*rows = (size_t)vectors->count;
		if (*rows)
			return vectors->raw;
	}
}

static char *
text_of(const struct embeddings *embeddings, int column, size_t row)
{
	const struct reader *reader = embeddings->streams[embeddings->at].reader;
	char room[VALUES_ROOM];
	size_t length;

	values_single(reader, column, 0);
	const char *text = values_shown(stream_column(reader, column),
	    &embeddings->record.columns[column], (int64_t)row, room, &length);
	if (memchr(text, 0, length)) /* a string ends there, and two ids would be one */
		die("%s: column '%s': '%.100s' has a NUL in it; rename it",
		    stream_name(reader), stream_column(reader, column)->name, text);
	return mem_format("%.*s", (int)length, text);
}

char *
embeddings_id(struct embeddings *embeddings, size_t row)
{
	static const char *const names[] = { "_id", "id", NULL };
	int column = values_find(embeddings->streams[embeddings->at].reader, names);

	return column < 0
		   ? mem_format("%lld", (long long)embeddings->rows + (long long)row + 1)
		   : text_of(embeddings, column, row);
}

char *
embeddings_dataset(struct embeddings *embeddings, size_t row)
{
	static const char *const names[] = { "dataset", NULL };
	int column = values_find(embeddings->streams[embeddings->at].reader, names);

	return column < 0
		   ? mem_string(tree_string(embeddings->record.attributes, "dataset", ""))
		   : text_of(embeddings, column, row);
}

int
embeddings_width(const struct embeddings *embeddings)
{
	return embeddings->width;
}

const char *
embeddings_model(const struct embeddings *embeddings)
{
	return embeddings->model;
}

const char *
embeddings_kind(const struct embeddings *embeddings)
{
	return vectors_kind(embeddings->streams[0].columns[0]);
}

const char *
embeddings_gates(const struct embeddings *embeddings)
{
	const char *gates = NULL;

	for (int i = 0; i < embeddings->count && !gates; i++)
		gates = tree_string(
		    stream_properties(embeddings->streams[i].reader), "gates", NULL);
	return gates;
}

const char *
embeddings_name(const struct embeddings *embeddings)
{
	return stream_name(embeddings->streams[0].reader);
}

float *
embeddings_all(struct embeddings *embeddings, size_t *rows)
{
	size_t width = (size_t)embeddings->width, capacity = 0, count;
	float *all = NULL;
	const float *next;

	*rows = 0;
	while ((next = embeddings_next(embeddings, &count))) {
		all = mem_grow(all, &capacity, (*rows + count) * width, sizeof *all);
		memcpy(all + *rows * width, next, count * width * sizeof *all);
		*rows += count;
	}
	return all;
}

/* Relative to the squared mean: below the variance of one float32 that differs among very many vectors. */
static const double no_variance = 1e-24;

struct covariance *
embeddings_covariance(struct embeddings *embeddings, const char *what)
{
	const char *name = embeddings_name(embeddings);
	size_t width = (size_t)embeddings->width, rows;
	struct covariance *found = covariance_new(embeddings->width);
	double variance = 0, square = 0;
	const float *next;

	while ((next = embeddings_next(embeddings, &rows)))
		covariance_add(found, next, (int64_t)rows);
	covariance_finish(found);
	if (found->count < 2)
		die("%s: %lld vector%s; how vectors vary is known of two at least", name,
		    (long long)found->count, found->count == 1 ? "" : "s");
	for (size_t i = 0; i < width; i++) {
		variance += found->scatter[i * width + i] / (double)found->count;
		square += found->mean[i] * found->mean[i];
	}
	if (!(variance > no_variance * square))
		die("%s: its %lld vectors are all the same", name,
		    (long long)found->count);
	if (found->count <= embeddings->width)
		warn("%s: %lld vectors of %d values: %s", name, (long long)found->count,
		    embeddings->width, what);
	return found;
}

void
embeddings_close(struct embeddings *embeddings)
{
	progress_free(embeddings->progress);
	for (int i = 0; i < embeddings->count; i++) {
		struct embedding_stream *stream = &embeddings->streams[i];
		for (int j = 0; j < stream->count; j++)
			vectors_close(stream->columns[j]);
		free(stream->columns);
		stream_close(stream->reader);
	}
	free(embeddings->streams);
	free(embeddings->relations.data);
	free(embeddings->model);
	free(embeddings);
}
