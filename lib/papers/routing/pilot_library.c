#include "papers/routing/pilot_library.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/err.h"
#include "base/mem.h"
#include "papers/routing/gate_scores.h"
#include "search/similarity.h"
#include "search/vectors.h"
#include "stream/text_column.h"
#include "text/lines.h"

const char *const router_names[] = { "pilots", "dataset", "experts", "head", NULL };

bool
router_classifies(enum router router)
{
	return router == ROUTER_EXPERTS || router == ROUTER_HEAD;
}

struct pilot_library *
pilot_library_new(
    enum router router, int width, const struct tree *properties, const char *kind)
{
	struct pilot_library *library = mem_zero(1, sizeof *library);

	library->router = router;
	library->width = width;
	const char *model = tree_string(properties, "model", NULL);
	library->model = model ? mem_string(model) : NULL;
	library->kind = mem_string(kind);
	library->gates = strings_new();
	library->datasets = strings_new();
	return library;
}

void
pilot_library_add(struct pilot_library *library, const char *gate, const char *dataset,
    double size, double bias, const float *vector)
{
	size_t count = (size_t)library->count, width = (size_t)library->width;
	size_t bytes = width * sizeof *vector;

	library->pilots =
	    mem_grow(library->pilots, &library->room, count + 1, sizeof *library->pilots);
	library->vectors =
	    mem_grow(library->vectors, &library->vector_room, count + 1, bytes);
	library->pilots[count] =
	    (struct pilot){ (int)strings_add(library->gates, gate, strlen(gate), NULL),
		    (int)strings_add(library->datasets, dataset, strlen(dataset), NULL),
		    size, bias };
	memcpy(library->vectors + count * width, vector, bytes);
	library->count++;
}

void
pilot_library_free(struct pilot_library *library)
{
	strings_free(library->gates);
	strings_free(library->datasets);
	free(library->model);
	free(library->kind);
	free(library->pilots);
	free(library->vectors);
	free(library);
}

/* Writing. -------------------------------------------------------------------------- */

static struct writer *
open_writer(const struct pilot_library *library, const char *path, int level,
    uint64_t seed, const struct reader *from)
{
	struct writer *writer = stream_create(path, from);

	for (int i = 0; i < stream_columns(from); i++)
		stream_drop(writer, stream_column(from, i)->name);
	stream_level(writer, level);
	stream_seed(writer, seed);
	stream_property(writer, "batches", NULL);
	stream_property(writer, "router", router_names[library->router]);
	stream_property(writer, "emb",
	    strcmp(library->kind, "embeddings") != 0 ? library->kind : NULL);
	return writer;
}

static int
add_names(struct writer *writer, const char *name)
{
	return stream_add(
	    writer, &(struct column){
			.name = name, .dtype = DTYPE_U8, .text = true, .depth = 1 });
}

static void
add_name(struct text_column *texts, const struct strings *names, int number)
{
	text_column_add(texts, strings_get(names, number), strings_length(names, number));
}

/* Text columns first, then numbers, as in the header; one record. */
void
pilot_library_write(const struct pilot_library *library, const char *path, int level,
    uint64_t seed, const struct reader *from)
{
	struct writer *writer = open_writer(library, path, level, seed, from);
	int gate = add_names(writer, "gate"), dataset = add_names(writer, "dataset");
	struct text_column gates = { 0 }, datasets = { 0 };
	struct column number = { .name = "size", .dtype = DTYPE_F64 };
	int size = stream_add(writer, &number), bias = -1;
	double *sizes = mem_new((size_t)library->count, sizeof *sizes);
	double *biases = mem_new((size_t)library->count, sizeof *biases);

	number.name = "bias";
	if (router_classifies(library->router))
		bias = stream_add(writer, &number);
	int vector = stream_add(writer, &(struct column){ .name = "pilot.emb",
					    .dtype = DTYPE_F32,
					    .rank = 1,
					    .shape = { library->width } });
	text_column_clear(&gates);
	text_column_clear(&datasets);
	for (int64_t i = 0; i < library->count; i++) {
		add_name(&gates, library->gates, library->pilots[i].gate);
		add_name(&datasets, library->datasets, library->pilots[i].dataset);
		sizes[i] = library->pilots[i].size;
		biases[i] = library->pilots[i].bias;
	}
	struct record *record = stream_make(writer, NULL);
	record->rows = library->count;
	record->columns[gate] = text_column_array(&gates);
	record->columns[dataset] = text_column_array(&datasets);
	record->columns[size].data = sizes;
	if (bias >= 0)
		record->columns[bias].data = biases;
	record->columns[vector].data = library->vectors;
	stream_put(writer, record);
	stream_finish(writer);
	text_column_free(&gates);
	text_column_free(&datasets);
	free(sizes);
	free(biases);
}

/* Reading. -------------------------------------------------------------------------- */

/* The columns of a library's stream. */
struct library_columns {
	struct reader *reader;
	struct vectors *vectors;
	int gate, dataset, size, bias; /* bias -1: none */
};

static enum router
router_of(const struct reader *reader)
{
	const char *name = tree_string(stream_properties(reader), "router", "");

	for (int i = 0; router_names[i]; i++)
		if (strcmp(router_names[i], name) == 0)
			return (enum router)i;
	die("%s: is not a library of pilots; 'pilot-build fit' makes one",
	    stream_name(reader));
}

static int
need_text(const struct reader *reader, const char *name)
{
	int column = stream_need(reader, name, DTYPE_U8, 1);

	values_single(reader, column, 0);
	return column;
}

/* The caller frees the text. */
static char *
text_of(const struct library_columns *columns, const struct record *record, int column,
    int64_t row)
{
	char room[VALUES_ROOM];
	size_t length;
	const char *text = values_text(stream_column(columns->reader, column),
	    &record->columns[column], row, room, &length);

	return mem_format("%.*s", (int)length, text);
}

static double
number_of(const struct library_columns *columns, const struct record *record, int column,
    int64_t row)
{
	double value =
	    values_number(columns->reader, column, &record->columns[column], row);

	if (!isfinite(value))
		die("%s: record %lld: the %s of row %lld is not finite",
		    stream_name(columns->reader),
		    (long long)stream_records(columns->reader),
		    stream_column(columns->reader, column)->name, (long long)row + 1);
	return value;
}

static void
add_row(struct pilot_library *library, const struct library_columns *columns,
    const struct record *record, int64_t row)
{
	char *gate = text_of(columns, record, columns->gate, row);
	char *dataset = text_of(columns, record, columns->dataset, row);
	int64_t before = strings_count(library->gates);

	if (!*gate)
		die("%s: record %lld: row %lld has no gate", stream_name(columns->reader),
		    (long long)stream_records(columns->reader), (long long)row + 1);
	double size = number_of(columns, record, columns->size, row);
	if (!(size > 0))
		die("%s: record %lld: the size of row %lld is %g; a pilot has queries",
		    stream_name(columns->reader),
		    (long long)stream_records(columns->reader), (long long)row + 1, size);
	pilot_library_add(library, gate, dataset, size,
	    columns->bias < 0 ? 0 : number_of(columns, record, columns->bias, row),
	    columns->vectors->raw + row * library->width);
	if (router_classifies(library->router) && strings_count(library->gates) == before)
		die("%s: the gate '%s' has two classifiers; fit those of all gates at once",
		    stream_name(columns->reader), gate);
	free(gate);
	free(dataset);
}

struct pilot_library *
pilot_library_read(const char *path)
{
	struct reader *reader = stream_open(path);
	enum router router = router_of(reader);
	struct library_columns columns = { .reader = reader,
		.vectors = vectors_open(reader, "pilot", 0),
		.gate = need_text(reader, "gate"),
		.dataset = need_text(reader, "dataset"),
		.size = stream_need(reader, "size", DTYPE_F64, 0),
		.bias = router_classifies(router)
			    ? stream_need(reader, "bias", DTYPE_F64, 0)
			    : -1 };
	struct pilot_library *library = pilot_library_new(router, columns.vectors->width,
	    stream_properties(reader), vectors_kind(columns.vectors));
	struct record record;

	values_single(reader, columns.size, 0);
	if (columns.bias >= 0)
		values_single(reader, columns.bias, 0);
	while (stream_next(reader, &record)) {
		vectors_load(columns.vectors, &record);
		for (int64_t row = 0; row < record.rows; row++)
			add_row(library, &columns, &record, row);
	}
	if (!library->count)
		die("%s: there are no pilots in it", stream_name(reader));
	vectors_close(columns.vectors);
	stream_close(reader);
	return library;
}

/* A table. -------------------------------------------------------------------------- */

/* The cosine of the nearest vector of another gate, `*nearest`; NaN if there is no other gate. */
static double
nearest_other(
    const struct pilot_library *library, const float *units, int64_t at, int *nearest)
{
	int gate = library->pilots[at].gate;
	double best = (double)NAN;

	for (int64_t i = 0; i < library->count; i++) {
		if (library->pilots[i].gate == gate)
			continue;
		double cosine = similarity_dot(units + at * library->width,
		    units + i * library->width, library->width);
		if (isnan(best) || cosine > best) {
			best = cosine;
			*nearest = library->pilots[i].gate;
		}
	}
	return best;
}

void
pilot_library_print(const struct pilot_library *library)
{
	static const char *const names[] = { "gate", "dataset", "nearest", "cosine",
		"size", "length", "bias", NULL };
	static const char *const formats[] = { "%.4f", "%.10g", "%.4f", "%.4f" };
	struct lines lines = { .out = stdout, .texts = 3 };
	bool classifies = router_classifies(library->router);
	size_t width = (size_t)library->width;
	float *units = mem_new((size_t)library->count, width * sizeof *units);

	for (int64_t i = 0; i < library->count; i++)
		similarity_unit(units + i * (int64_t)width,
		    library->vectors + i * (int64_t)width, library->width);
	const char *head[8] = { NULL };
	memcpy(head, names, (classifies ? 7 : 6) * sizeof *head);
	lines_head(&lines, head);
	for (int64_t i = 0; i < library->count; i++) {
		const struct pilot *pilot = &library->pilots[i];
		const float *vector = library->vectors + i * (int64_t)width;
		int nearest = -1;
		double cosine = nearest_other(library, units, i, &nearest);
		double square = similarity_dot(vector, vector, library->width);
		lines_put(&lines,
		    (const char *const[]){ strings_get(library->gates, pilot->gate),
			strings_get(library->datasets, pilot->dataset),
			nearest < 0 ? "" : strings_get(library->gates, nearest) },
		    (const double[]){ cosine, pilot->size, sqrt(square), pilot->bias },
		    formats, classifies ? 4 : 3);
	}
	free(units);
}
