#include "papers/routing/instances.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "search/vectors.h"
#include "stream/values.h"

static const char prefix[] = "score.";

/* A stream of them. */
struct source {
	struct reader *reader;
	struct vectors *vectors;
	int *scores; /* [gates]: columns */
	int dataset; /* column, or -1 */
	char *name;  /* of the file: the data set where nothing else says */
};

void
instances_check_base(const struct reader *reader)
{
	const char *gates = tree_string(stream_properties(reader), "gates", NULL);

	if (gates)
		die("%s: its vectors went through the gates %s; queries are routed by those of the base model, encode without gates",
		    stream_name(reader), gates);
}

void
instances_check_kind(const struct vectors *vectors, const char *other, const char *kind)
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

/* The first stream says which gates there are, and in which order. */
static void
name_gates(struct instances *instances)
{
	for (int i = 0; i < stream_columns(instances->first); i++) {
		const char *gate = gate_of(instances->first, i);
		if (gate)
			strings_add(instances->gates, gate, strlen(gate), NULL);
	}
	instances->gate_count = (int)strings_count(instances->gates);
	if (!instances->gate_count)
		die("%s: there is no column 'score.GATE'; 'pilot-route --oracle' appends one for each gate",
		    stream_name(instances->first));
}

static void
find_scores(struct source *source, const struct instances *instances)
{
	const struct reader *reader = source->reader;
	int found = 0;

	source->scores = mem_new((size_t)instances->gate_count, sizeof *source->scores);
	for (int i = 0; i < stream_columns(reader); i++) {
		const char *gate = gate_of(reader, i);
		int64_t at =
		    gate ? strings_find(instances->gates, gate, strlen(gate)) : -1;
		if (gate && at < 0)
			die("%s: it has scores of gate '%s', %s has none",
			    stream_name(reader), gate, stream_name(instances->first));
		if (!gate)
			continue;
		values_single(reader, i, 0);
		source->scores[at] = i;
		found++;
	}
	if (found < instances->gate_count)
		die("%s: it has scores of %d gates, %s of %d", stream_name(reader), found,
		    stream_name(instances->first), instances->gate_count);
}

/* "" of standard input. */
static char *
name_of(const char *path)
{
	size_t length;
	const char *name = file_bare_name(path, &length);

	return mem_format("%.*s", strcmp(path, "-") == 0 ? 0 : (int)length, name);
}

/* The number of a row's data set. */
static int32_t
dataset_of(struct instances *instances, const struct source *source,
    const struct record *record, int64_t row)
{
	char room[VALUES_ROOM];
	const char *name = tree_string(record->attributes, "dataset", source->name);
	size_t length = strlen(name);

	if (source->dataset >= 0)
		name = values_text(stream_column(source->reader, source->dataset),
		    &record->columns[source->dataset], row, room, &length);
	return (int32_t)strings_add(instances->datasets, name, length, NULL);
}

static void
add_scores(struct instances *instances, const struct source *source,
    const struct record *record, int64_t row)
{
	double *to =
	    instances->scores + instances->count * (int64_t)instances->gate_count;

	for (int i = 0; i < instances->gate_count; i++) {
		int column = source->scores[i];
		to[i] =
		    values_number(source->reader, column, &record->columns[column], row);
		if (!isfinite(to[i]))
			die("%s: record %lld: 'score.%s' of row %lld is not finite",
			    stream_name(source->reader),
			    (long long)stream_records(source->reader),
			    strings_get(instances->gates, i), (long long)row + 1);
	}
}

static void
add_record(
    struct instances *instances, const struct source *source, const struct record *record)
{
	size_t rows = mem_add((size_t)instances->count, (size_t)record->rows, "queries");
	size_t width = (size_t)instances->width;

	vectors_load(source->vectors, record);
	instances->vectors = mem_grow(
	    instances->vectors, &instances->vector_room, rows, width * sizeof(float));
	instances->dataset =
	    mem_grow(instances->dataset, &instances->dataset_room, rows, sizeof(int32_t));
	instances->scores = mem_grow(instances->scores, &instances->score_room, rows,
	    (size_t)(instances->gate_count + 1) * sizeof(double));
	if (record->rows)
		memcpy(instances->vectors + (size_t)instances->count * width,
		    source->vectors->raw, (size_t)record->rows * width * sizeof(float));
	for (int64_t row = 0; row < record->rows; row++) {
		instances->dataset[instances->count] =
		    dataset_of(instances, source, record, row);
		add_scores(instances, source, record, row);
		instances->count++;
	}
}

static void
read_source(struct instances *instances, struct source *source)
{
	struct progress *progress = stream_progress(source->reader);
	struct record record;

	source->dataset = stream_find(source->reader, "dataset");
	if (source->dataset >= 0)
		values_single(source->reader, source->dataset, 0);
	while (stream_next(source->reader, &record))
		add_record(instances, source, &record);
	progress_free(progress);
}

struct instances *
instances_read(
    const char *const *paths, int count, const char *field, bool scored, bool any_model)
{
	struct instances *instances = mem_zero(1, sizeof *instances);
	struct source *sources = mem_zero((size_t)count, sizeof *sources);

	instances->gates = strings_new();
	instances->datasets = strings_new();
	for (int i = 0; i < count; i++) {
		struct source *source = &sources[i];
		source->reader = stream_open(paths[i]);
		source->vectors = vectors_open(source->reader, field, 0);
		source->name = name_of(paths[i]);
		instances_check_base(source->reader);
		vectors_agree(sources[0].vectors, source->vectors, any_model);
		/* all, since one that names no model agrees with two that name different ones */
		for (int j = 1; !any_model && j < i; j++)
			vectors_agree_model(source->vectors,
			    vectors_model(sources[j].vectors),
			    stream_name(sources[j].reader));
		if (i == 0) {
			instances->first = source->reader;
			instances->width = source->vectors->width;
			instances->kind = mem_string(vectors_kind(source->vectors));
		}
		instances_check_kind(source->vectors, paths[0], instances->kind);
		if (scored && i == 0)
			name_gates(instances);
		if (scored)
			find_scores(source, instances);
		read_source(instances, source);
	}
	for (int i = 0; i < count; i++) {
		vectors_close(sources[i].vectors);
		free(sources[i].scores);
		free(sources[i].name);
		if (i > 0)
			stream_close(sources[i].reader);
	}
	free(sources);
	if (!instances->count)
		die("%s: there are no queries in it", stream_name(instances->first));
	return instances;
}

void
instances_free(struct instances *instances)
{
	stream_close(instances->first);
	free(instances->kind);
	strings_free(instances->gates);
	strings_free(instances->datasets);
	free(instances->vectors);
	free(instances->dataset);
	free(instances->scores);
	free(instances);
}
