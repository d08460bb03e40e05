#include "papers/routing/training_queries.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "search/vectors.h"
#include "stream/values.h"

static const char prefix[] = "score.";

struct query_stream {
	struct reader *reader;
	struct vectors *vectors;
	int *scores; /* [gates] columns */
	int dataset; /* column; -1: none */
	char *name;  /* of the file: the default data set */
};

void
training_queries_check_base(const struct reader *reader)
{
	const char *gates = tree_string(stream_properties(reader), "gates", NULL);

	if (gates)
		die("%s: its vectors went through the gates %s; queries are routed by those of the base model, encode without gates",
		    stream_name(reader), gates);
}

void
training_queries_check_kind(
    const struct vectors *vectors, const char *other, const char *kind)
{
	const char *own = vectors_kind(vectors);

	if (strcmp(own, kind) != 0)
		die("%s: its vectors are %s, those of %s are %s; encode both with the same --emit",
		    stream_name(vectors->reader), own, other, kind);
}

static const char *
gate_of(const struct reader *reader, int column)
{
	const char *name = stream_column(reader, column)->name;

	return strncmp(name, prefix, sizeof prefix - 1) == 0 && name[sizeof prefix - 1]
		   ? name + sizeof prefix - 1
		   : NULL;
}

/* Takes the gates and their order from the first stream. */
static void
name_gates(struct training_queries *queries)
{
	for (int i = 0; i < stream_columns(queries->first); i++) {
		const char *gate = gate_of(queries->first, i);
		if (gate)
			strings_add(queries->gates, gate, strlen(gate), NULL);
	}
	queries->gate_count = (int)strings_count(queries->gates);
	if (!queries->gate_count)
		die("%s: there is no column 'score.GATE'; 'pilot-route --oracle' appends one for each gate",
		    stream_name(queries->first));
}

static void
find_scores(struct query_stream *stream, const struct training_queries *queries)
{
	const struct reader *reader = stream->reader;
	int found = 0;

	stream->scores = mem_new((size_t)queries->gate_count, sizeof *stream->scores);
	for (int i = 0; i < stream_columns(reader); i++) {
		const char *gate = gate_of(reader, i);
		int64_t at = gate ? strings_find(queries->gates, gate, strlen(gate)) : -1;
		if (gate && at < 0)
			die("%s: it has scores of gate '%s', %s has none",
			    stream_name(reader), gate, stream_name(queries->first));
		if (!gate)
			continue;
		values_single(reader, i, 0);
		stream->scores[at] = i;
		found++;
	}
	if (found < queries->gate_count)
		die("%s: it has scores of %d gates, %s of %d", stream_name(reader), found,
		    stream_name(queries->first), queries->gate_count);
}

/* The file's bare name; "" for standard input. */
static char *
name_of(const char *path)
{
	size_t length;
	const char *name = file_bare_name(path, &length);

	return mem_format("%.*s", strcmp(path, "-") == 0 ? 0 : (int)length, name);
}

/* The number of a row's data set. */
static int32_t
dataset_of(struct training_queries *queries, const struct query_stream *stream,
    const struct record *record, int64_t row)
{
	char room[VALUES_ROOM];
	const char *name = tree_string(record->attributes, "dataset", stream->name);
	size_t length = strlen(name);

	if (stream->dataset >= 0)
		name = values_text(stream_column(stream->reader, stream->dataset),
		    &record->columns[stream->dataset], row, room, &length);
	return (int32_t)strings_add(queries->datasets, name, length, NULL);
}

static void
add_scores(struct training_queries *queries, const struct query_stream *stream,
    const struct record *record, int64_t row)
{
	double *to = queries->scores + queries->count * (int64_t)queries->gate_count;

	for (int i = 0; i < queries->gate_count; i++) {
		int column = stream->scores[i];
		to[i] =
		    values_number(stream->reader, column, &record->columns[column], row);
		if (!isfinite(to[i]))
			die("%s: record %lld: 'score.%s' of row %lld is not finite",
			    stream_name(stream->reader),
			    (long long)stream_records(stream->reader),
			    strings_get(queries->gates, i), (long long)row + 1);
	}
}

static void
add_record(struct training_queries *queries, const struct query_stream *stream,
    const struct record *record)
{
	size_t rows = mem_add((size_t)queries->count, (size_t)record->rows, "queries");
	size_t width = (size_t)queries->width;

	vectors_load(stream->vectors, record);
	queries->vectors = mem_grow(
	    queries->vectors, &queries->vector_room, rows, width * sizeof(float));
	queries->dataset =
	    mem_grow(queries->dataset, &queries->dataset_room, rows, sizeof(int32_t));
	queries->scores = mem_grow(queries->scores, &queries->score_room, rows,
	    (size_t)(queries->gate_count + 1) * sizeof(double));
	if (record->rows)
		memcpy(queries->vectors + (size_t)queries->count * width,
		    stream->vectors->raw, (size_t)record->rows * width * sizeof(float));
	for (int64_t row = 0; row < record->rows; row++) {
		queries->dataset[queries->count] =
		    dataset_of(queries, stream, record, row);
		add_scores(queries, stream, record, row);
		queries->count++;
	}
}

static void
read_stream(struct training_queries *queries, struct query_stream *stream)
{
	struct progress *progress = stream_progress(stream->reader);
	struct record record;

	stream->dataset = stream_find(stream->reader, "dataset");
	if (stream->dataset >= 0)
		values_single(stream->reader, stream->dataset, 0);
	while (stream_next(stream->reader, &record))
		add_record(queries, stream, &record);
	progress_free(progress);
}

struct training_queries *
training_queries_read(
    const char *const *paths, int count, const char *field, bool scored, bool any_model)
{
	struct training_queries *queries = mem_zero(1, sizeof *queries);
	struct query_stream *streams = mem_zero((size_t)count, sizeof *streams);

	queries->gates = strings_new();
	queries->datasets = strings_new();
	for (int i = 0; i < count; i++) {
		struct query_stream *stream = &streams[i];
		stream->reader = stream_open(paths[i]);
		stream->vectors = vectors_open(stream->reader, field, 0);
		stream->name = name_of(paths[i]);
		training_queries_check_base(stream->reader);
		/* with all: a stream without a model agrees with two different ones */
		for (int j = 0; j < i; j++)
			vectors_agree(streams[j].vectors, stream->vectors, any_model);
		if (i == 0) {
			queries->first = stream->reader;
			queries->width = stream->vectors->width;
			queries->kind = mem_string(vectors_kind(stream->vectors));
		}
		training_queries_check_kind(stream->vectors, paths[0], queries->kind);
		if (scored && i == 0)
			name_gates(queries);
		if (scored)
			find_scores(stream, queries);
		read_stream(queries, stream);
	}
	for (int i = 0; i < count; i++) {
		vectors_close(streams[i].vectors);
		free(streams[i].scores);
		free(streams[i].name);
		if (i > 0)
			stream_close(streams[i].reader);
	}
	free(streams);
	if (!queries->count)
		die("%s: there are no queries in it", stream_name(queries->first));
	return queries;
}

void
training_queries_free(struct training_queries *queries)
{
	stream_close(queries->first);
	free(queries->kind);
	strings_free(queries->gates);
	strings_free(queries->datasets);
	free(queries->vectors);
	free(queries->dataset);
	free(queries->scores);
	free(queries);
}
