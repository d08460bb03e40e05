#include "geometry/clusterings.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/progress.h"
#include "score/kmeans.h"
#include "score/labels.h"
#include "score/per_query.h"
#include "search/vectors.h"
#include "stream/values.h"

enum { LABELS_MOST = 4096, BATCH = 500 };

/* A column of the current stream. */
struct clustering_column {
	struct clustering *clustering;
	struct vectors *vectors; /* NULL: labels */
	int label;
};

struct clusterings_reader {
	const struct clusterings_options *options;
	struct reader *reader;
	struct clustering_column *columns;
	int count;
	bool first;
	int64_t rows;
	struct strings *ids;
	int64_t *id; /* [rows] of the first stream: numbers in ids; NULL: one stream */
	size_t id_capacity;
	const char *first_path;
};

static char *
name_of(const char *stream, const char *column, bool several_streams, bool several)
{
	if (several && several_streams)
		return mem_format("%s:%s", stream, column);
	return mem_string(several ? column : stream);
}

static void
open_columns(
    struct clusterings_reader *reading, struct clustering *list, bool several_streams)
{
	const struct clusterings_options *options = reading->options;
	struct reader *reader = reading->reader;

	for (int i = 0; i < reading->count; i++) {
		struct clustering_column *column = &reading->columns[i];
		const char *name = NULL;
		*column =
		    (struct clustering_column){ .clustering = &list[i], .label = -1 };
		if (i < options->label_count) {
			name = options->labels[i];
			column->label = stream_find(reader, name);
			if (column->label < 0)
				stream_lacks(reader, name);
			values_single(reader, column->label, 0);
			list[i].kinds = strings_new();
		} else {
			if (options->field_count)
				name = options->fields[i - options->label_count];
			column->vectors = vectors_open(reader, name, 0);
			list[i].width = column->vectors->width;
		}
		list[i].name = name_of(
		    stream_name(reader), name, several_streams, reading->count > 1);
	}
}

/* Stores the ids of the first stream; compares those of the others with them. */
static void
take_ids(struct clusterings_reader *reading, const struct record *record)
{
	char room[VALUES_ROOM];
	size_t length;

	for (int64_t row = 0; row < record->rows; row++) {
		int64_t at = reading->rows + row;
		const char *id =
		    per_query_id(reading->reader, record, row, at + 1, room, &length);
		if (reading->first) {
			reading->id = mem_grow(reading->id, &reading->id_capacity,
			    (size_t)at + 1, sizeof *reading->id);
			reading->id[at] = strings_add(reading->ids, id, length, NULL);
			continue;
		}
		if (strings_find(reading->ids, id, length) != reading->id[at])
			die("%s: row %lld is '%.*s', in %s it is '%s'; bring both into one order (mts rows --sort _id)",
			    stream_name(reading->reader), (long long)at + 1,
			    length < 100 ? (int)length : 100, id, reading->first_path,
			    strings_get(reading->ids, reading->id[at]));
	}
}

static void
take_vectors(struct clustering_column *column, const struct record *record, int64_t rows)
{
	struct clustering *to = column->clustering;
	size_t width = (size_t)to->width, more = (size_t)record->rows;

	vectors_load(column->vectors, record);
	to->x =
	    mem_grow(to->x, &to->capacity, ((size_t)rows + more) * width, sizeof *to->x);
	memcpy(to->x + (size_t)rows * width, column->vectors->raw,
	    more * width * sizeof *to->x);
}

/* The number of "true" or "false": here labels are read by people, and not as the 1 and 0 of a classifier. */
static int32_t
word_number(struct strings *kinds, const struct column *labels, const struct array *array,
    int64_t row)
{
	char room[VALUES_ROOM];
	size_t length;
	const char *word = values_shown(labels, array, row, room, &length);

	return (int32_t)strings_add(kinds, word, length, NULL);
}

static void
take_labels(struct clusterings_reader *reading, struct clustering_column *column,
    const struct record *record)
{
	struct clustering *to = column->clustering;
	struct reader *reader = reading->reader;
	const struct array *array = &record->columns[column->label];
	const struct column *labels = stream_column(reader, column->label);

	to->label = mem_grow(to->label, &to->capacity,
	    (size_t)(reading->rows + record->rows), sizeof *to->label);
	for (int64_t row = 0; row < record->rows; row++)
		to->label[reading->rows + row] =
		    !labels->text && labels->dtype == DTYPE_BOOL
			? word_number(to->kinds, labels, array, row)
			: labels_number(
			      to->kinds, reader, column->label, array, row, LABELS_MOST);
}

static void
read_stream(struct clusterings_reader *reading, int64_t wanted)
{
	struct reader *reader = reading->reader;
	struct progress *progress = stream_progress(reader);
	struct record record;

	while (stream_next(reader, &record)) {
		if (!reading->first && reading->rows + record.rows > wanted)
			die("%s: it has more rows than %s, %lld; compare the same texts",
			    stream_name(reader), reading->first_path, (long long)wanted);
		if (reading->ids)
			take_ids(reading, &record);
		for (int i = 0; i < reading->count; i++)
			if (reading->columns[i].vectors)
				take_vectors(
				    &reading->columns[i], &record, reading->rows);
			else
				take_labels(reading, &reading->columns[i], &record);
		if (reading->first && reading->options->look)
			reading->options->look(reading->options->with, reader, &record);
		reading->rows += record.rows;
	}
	progress_free(progress);
	if (reading->rows == 0)
		die("%s: there is no row in it", stream_name(reader));
	if (!reading->first && reading->rows < wanted)
		die("%s: it ends after %lld rows, %s goes on; compare the same texts",
		    stream_name(reader), (long long)reading->rows, reading->first_path);
}

static void
check(const struct clusterings_reader *reading)
{
	const struct clusterings_options *options = reading->options;
	const char *stream = stream_name(reading->reader);

	for (int i = 0; i < reading->count; i++) {
		const struct clustering *clustering = reading->columns[i].clustering;
		if (clustering->kinds && strings_count(clustering->kinds) == 1)
			die("%s: column '%s' is '%.100s' in all rows: one cluster, which tells nothing apart",
			    stream, options->labels[i],
			    strings_get(clustering->kinds, 0));
		if (!clustering->kinds && options->clusters > reading->rows)
			die("%s: -k %d: there are only %lld rows to make clusters of",
			    stream, options->clusters, (long long)reading->rows);
	}
}

struct clusterings *
clusterings_read(
    const char *const *paths, int count, const struct clusterings_options *options)
{
	struct clusterings *clusterings = mem_zero(1, sizeof *clusterings);
	struct clusterings_reader reading = { .options = options,
		.first_path = paths[0] };
	int named = options->label_count + options->field_count;

	reading.count = named ? named : 1;
	reading.columns = mem_new((size_t)reading.count, sizeof *reading.columns);
	reading.ids = count > 1 ? strings_new() : NULL;
	clusterings->count = count * reading.count;
	clusterings->list =
	    mem_zero((size_t)clusterings->count, sizeof *clusterings->list);
	for (int i = 0; i < count; i++) {
		reading.first = i == 0;
		reading.rows = 0;
		reading.reader = stream_open(paths[i]);
		open_columns(
		    &reading, clusterings->list + (int64_t)i * reading.count, count > 1);
		read_stream(&reading, clusterings->rows);
		check(&reading);
		clusterings->rows = reading.rows;
		for (int j = 0; j < reading.count; j++)
			if (reading.columns[j].vectors)
				vectors_close(reading.columns[j].vectors);
		stream_close(reading.reader);
	}
	if (reading.ids)
		strings_free(reading.ids);
	free(reading.id);
	free(reading.columns);
	return clusterings;
}

int32_t
clusterings_assign(const struct clusterings *clusterings, int number, int32_t clusters,
    uint32_t seed, int32_t *to)
{
	const struct clustering *clustering = &clusterings->list[number];
	int64_t rows = clusterings->rows;

	if (clustering->kinds) {
		memcpy(to, clustering->label, (size_t)rows * sizeof *to);
		return (int32_t)strings_count(clustering->kinds);
	}
	kmeans_fit(to, clustering->x, rows, clustering->width,
	    &(struct kmeans_options){ clusters, BATCH, seed, false });
	return clusters;
}

void
clusterings_free(struct clusterings *clusterings)
{
	for (int i = 0; i < clusterings->count; i++) {
		struct clustering *clustering = &clusterings->list[i];
		free(clustering->name);
		free(clustering->x);
		free(clustering->label);
		if (clustering->kinds)
			strings_free(clustering->kinds);
	}
	free(clusterings->list);
	free(clusterings);
}
